"""What was measured when the goals were set: before the work on speed, and on another machine.

That machine was quicker, as the rate of its bare route tells, so times and rates do not compare as they
stand. Ratios do: they were made within one run, then as now.
"""

from __future__ import annotations

#: Requests a second, at one connection and at 64.
_RATES = {
    "bare Flask route": (7300, 9000),
    "v3 getDomain": (1950, 2250),
    "v3 balance": (2470, 2400),
    "v2.0 domain info": (2700, 2500),
    "v3 list of 40 names": (950, 1090),
    "moto, a zone": (565, 570),
    "localstripe, a customer": (3450, 4200),
    "pytest-httpserver, a stub": (4450, 4400),
    "mountebank, a stub": (5840, 7900),
    "WireMock, a stub": (9400, 21000),
}

#: What else was measured, in the unit of its figure.
_OTHERS = {
    "serve, to the first line": "350",
    "serve, memory then": "52",
    "the pytest plugin, unused": "0.46",
    "ours in process, httpx": "7 – 13",
    "respx, httpx": "10",
    "pytest-httpserver, httpx": "27",
    "moto, boto3": "48",
    "WireMock, httpx": "64",
    "fork, 1,000 names": "110 – 180",
    "fork, 1,000,000 names": "110 – 180",
    "reset, 1,000 names": "3",
    "memory, 1,000,000 names": "1,075",
    "load, names": "175 – 218",
    "export": "88",
    "advance by a year": "70 – 86",
}


def measured() -> dict[tuple[str, str], str]:
    """Return what was measured of each figure that there was, by what it is and its unit."""
    found = {}
    for place, at in enumerate(("at 1 connection", "at 64 connections")):
        rates = {what: both[place] for what, both in _RATES.items()}
        for what, rate in rates.items():
            found[f"{what} {at}", "requests/s"] = f"{rate:,}"
            if what.startswith("v"):
                found[f"{what} {at}", "× bare"] = f"{rates['bare Flask route'] / rate:.3g}"
            elif "," in what:
                unit = f"× {what.partition(',')[0]}'s rate"
                found[f"v3 getDomain {at}", unit] = f"{rates['v3 getDomain'] / rate:.3g}"
    return found


def before(what: str, unit: str) -> str:
    """Return what a figure was when its goal was set, or nothing where it was not measured."""
    return _OTHERS.get(what) or measured().get((what, unit), "")
