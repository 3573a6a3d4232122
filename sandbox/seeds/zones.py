"""The zones of a fixture."""

from __future__ import annotations

from typing import Any

from sandbox.core import names
from sandbox.core.model import Promotion, Zone
from sandbox.seeds.problems import shown
from sandbox.seeds.site import Site

#: Put before a zone's name, which may be a single label, to make a name of it.
_PROBE = "x."


def build(site: Site) -> None:
    """Put the zones into the state."""
    given = site.section("zones")
    for text in site.written("zones"):
        try:
            name = names.normalise(_PROBE + text).removeprefix(_PROBE)
        except names.BadName as reason:
            if text in given:
                site.report(("zones", text), f"{shown(text)} is not a zone: {reason}", key=True)
            continue
        if name in site.state.zones or name in site.unsound_zones:
            site.report(("zones", text), f"the zone {shown(text)} is there already", key=True)
        if text in given:
            site.put([_zone(site, text, name, given[text])])
        else:
            site.unsound_zones.add(name)


def _zone(site: Site, text: str, name: str, given: dict[str, Any]) -> Zone:
    offers: dict[str, Any] = {
        event: Promotion(price=given[event]["price"], until=site.date(given[event]["until"], site.now))
        for event in ("registration_promotion", "renewal_promotion")
        if event in given
    }
    listed: dict[str, Any] = {
        "types": tuple(dict.fromkeys(given.get("types", ()))),
        "premium": tuple(sorted(given.get("premium", {}).items())),
        "reserved": tuple(sorted(set(given.get("reserved", ())))),
    }
    zone = Zone(name=name, **{**given, **offers, **listed})
    if zone.min_years > zone.max_years:
        field = "min_years" if "min_years" in given else "max_years"
        terms = f"min_years is {zone.min_years} and max_years is {zone.max_years}"
        site.report(("zones", text, field), f"{terms}: no period would do")
    return zone
