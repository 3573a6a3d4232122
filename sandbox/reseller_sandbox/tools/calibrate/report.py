"""The report of a calibration as text, as JSON and as a profile. It contains no secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from reseller_sandbox.app_factory import contract
from reseller_sandbox.registry.assumptions import kinds, spelt
from reseller_sandbox.server.secrecy import MASK, Secrecy
from reseller_sandbox.tools.calibrate import Calibration, Determination, Deviation
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.likeness import ABSENT, Difference
from reseller_sandbox.values.text_checks import abridged, plural, printable, shortened
from reseller_sandbox.worlds.redact import masked

#: Maximum number of differences of an exchange, and of unexplained exchanges, in the report.
_MOST, _MOST_EXCHANGES = 8, 50

#: Headings of the requests that can determine an assumption.
_ALONE = "not determined; a request that would determine each"
_WITH_FIXTURE = "not determined; a request that would determine each, with a --fixture of the initial state"


def lines(calibration: Calibration, skipped: Sequence[tuple[str, str]], secrecy: Secrecy) -> Iterator[str]:
    """Yield the report as text."""
    determinations, deviations = calibration.determinations, calibration.deviations
    narrowed = [each for each in determinations.values() if each.is_narrowed]
    determined = [each for each in narrowed if each.value is not None]
    exchanges = plural(calibration.exchanges, "exchange")
    yield (
        f"{exchanges}: {len(determined)} of {len(kinds())} assumptions are determined, "
        f"{len(narrowed) - len(determined)} narrowed"
    )
    yield from _section("determined", (f"{each.name}={_values(each)}" for each in determined))
    yield from _section(
        "narrowed", (f"{each.name}: {_values(each)}" for each in narrowed if each.value is None)
    )
    settled = {each.name for each in narrowed}
    for heading, requests in _determining_requests().items():
        open_ = (f"{name}: {request}" for name, request in requests.items() if name not in settled)
        yield from _section(heading, open_)
    more = len(deviations) - _MOST_EXCHANGES
    listed = [line for deviation in deviations[:_MOST_EXCHANGES] for line in side_by_side(deviation, secrecy)]
    yield from _section("explained by no value", [*listed, *([f"and {more} more"] if more > 0 else ())])
    if calibration.given_up:
        places_given_up = named_places(calibration.given_up)
        yield f"\nnot searched, because there are too many states to try: {places_given_up}"
    if calibration.lost:
        place = printable(calibration.lost)
        yield f"\nfollowed from the fixture up to {place}, which the fixture does not explain"
    places: dict[str, list[str]] = {}
    for place, reason in skipped:
        places.setdefault(reason, []).append(place)
    yield from _section("skipped", (f"{named_places(where)}: {reason}" for reason, where in places.items()))


def _section(heading: str, entries: Iterable[str]) -> Iterator[str]:
    """Yield a heading and its indented entries. Without entries, yield nothing."""
    indented = [f"  {entry}" for entry in entries]
    if indented:
        yield f"\n{heading}:"
        yield from indented


def _determining_requests() -> dict[str, dict[str, str]]:
    """Return, by heading and assumption, the request that can determine the assumption.

    The requests are in the ``calibrate.yaml`` of each interface.
    """
    operations = {each.id: f"{each.method} {each.path}" for each in contract()}

    def described(requests: Mapping[str, str]) -> dict[str, str]:
        words = {name: request.partition(" ") for name, request in requests.items()}
        return {name: f"{operations[operation]}, {how}" for name, (operation, _, how) in words.items()}

    return {
        _ALONE: described(hints().alone),
        _WITH_FIXTURE: described(hints().with_fixture),
        "not recognisable from answers": dict(hints().unseen),
    }


def as_json(calibration: Calibration, skipped: Sequence[tuple[str, str]], secrecy: Secrecy) -> dict[str, Any]:
    """Return the report as JSON values."""
    requests = _determining_requests()
    would_determine = requests[_ALONE] | requests[_WITH_FIXTURE]
    return {
        "exchanges": calibration.exchanges,
        "assumptions": [
            {
                **{key: getattr(each, key) for key in ("name", "value", "left", "ruled_out")},
                "determined_by": each.by,
                "would_determine": None if each.is_narrowed else would_determine.get(each.name),
            }
            for each in calibration.determinations.values()
        ],
        "deviations": [
            {
                "place": deviation.exchange.place,
                "operation": deviation.operation,
                "differences": [
                    {
                        "where": each.where,
                        "service": shown(each, each.service, secrecy),
                        "sandbox": shown(each, each.sandbox, secrecy),
                    }
                    for each in deviation.differences
                ],
            }
            for deviation in calibration.deviations
        ],
        "left_aside": list(calibration.given_up),
        "followed_to": calibration.lost or None,
        "passed_over": [{"place": place, "reason": reason} for place, reason in skipped],
    }


def profile(calibration: Calibration, sources: int) -> str:
    """Return a profile of the determined values, for ``--profile``."""
    exchanges, transcripts = plural(calibration.exchanges, "exchange"), plural(sources, "transcript")
    head = f"# Assumptions of the service, determined or narrowed by {exchanges} in {transcripts}.\n"
    assume = {
        name: list(value) if isinstance(value, tuple) else value for name, value in calibration.assume.items()
    }
    return head + yaml.safe_dump({"assume": assume}, sort_keys=False, allow_unicode=True)


def shown(difference: Difference, value: object, secrecy: Secrecy) -> Any:
    """Return a value of an answer, with secrets masked. Return None if the answer does not have the value."""
    if value is ABSENT:
        return None
    if secrecy.is_secret(difference.where.rpartition(".")[2]):
        return MASK
    return masked(value, secrecy)


def in_words(difference: Difference, value: object, secrecy: Secrecy) -> str:
    """Return a value of an answer for a report, with secrets masked."""
    return "nothing" if value is ABSENT else printable(shortened(shown(difference, value, secrecy)))


def side_by_side(deviation: Deviation, secrecy: Secrecy) -> Iterator[str]:
    """Yield an unexplained exchange as text, with the values of the service and of the sandbox."""
    yield f"{printable(deviation.exchange.place)}: {deviation.operation}"
    for each in deviation.differences[:_MOST]:
        service, sandbox = (in_words(each, value, secrecy) for value in (each.service, each.sandbox))
        yield f"  {printable(each.where)}: the service {service}, the sandbox {sandbox}"
    if len(deviation.differences) > _MOST:
        yield f"  and {len(deviation.differences) - _MOST} more"


def _values(determination: Determination) -> str:
    left = " or ".join(map(spelt, determination.left)) or "some other value"
    ruled_out = f", not {', '.join(map(spelt, determination.ruled_out))}" if determination.ruled_out else ""
    return f"{left}{ruled_out}  ({named_places(determination.by)})"


def named_places(places: Sequence[str]) -> str:
    """Return the first place, and the number of further places, as in ``a.har: entry 3 and 2 more``."""
    return abridged([*map(printable, places)], 1)
