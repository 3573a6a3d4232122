"""The zones of a fixture."""

from __future__ import annotations

from typing import Any

from sandbox.core import names
from sandbox.core.model import Promotion, Zone
from sandbox.seeds.problems import shown
from sandbox.seeds.site import Site

_PROBE = "x."


def build(site: Site) -> None:
    """Put the zones into the state."""
    given = site.section("zones")
    for text in site.written("zones"):
        name = _name(site, text)
        if text not in given:
            site.unsound_zones.add(name or "")
        elif name is not None:
            site.put([_zone(site, text, name, given[text])])


def _name(site: Site, text: str) -> str | None:
    """A zone's name in the registry's spelling: unlike other names it may be a single label."""
    try:
        name = names.normalise(_PROBE + text).removeprefix(_PROBE)
    except names.BadName as reason:
        site.report(("zones", text), f"{shown(text)} is not a zone: {reason}", key=True)
        return None
    if name in site.state.zones or name in site.unsound_zones:
        site.report(("zones", text), f"the zone {shown(text)} is there already", key=True)
    return name


def _zone(site: Site, text: str, name: str, given: dict[str, Any]) -> Zone:
    for event in ("registration_promotion", "renewal_promotion"):
        if event in given:
            offer = given[event]
            given = {
                **given,
                event: Promotion(price=offer["price"], until=site.date(offer["until"], site.now)),
            }
    for field in ("types", "reserved"):
        if field in given:
            given = {**given, field: tuple(dict.fromkeys(given[field]))}
    if "reserved" in given:
        given = {**given, "reserved": tuple(sorted(given["reserved"]))}
    if "premium" in given:
        given = {**given, "premium": tuple(sorted(given["premium"].items()))}
    zone = Zone(name=name, **given)
    if zone.min_years > zone.max_years:
        field = "min_years" if "min_years" in given else "max_years"
        terms = f"min_years is {zone.min_years} and max_years is {zone.max_years}"
        site.report(("zones", text, field), f"{terms}: no period would do")
    return zone
