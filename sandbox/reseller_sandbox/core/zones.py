"""Which zone a name belongs to, and whether the zone could take it."""

from __future__ import annotations

from reseller_sandbox.core import names, refusals
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Zone
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.state import State


def parse_name(text: str) -> str:
    """Return ``text`` as the registry keeps names; refuse with ``invalid_name``."""
    try:
        return names.normalise(text)
    except names.BadName as problem:
        raise Refused(refusals.INVALID_NAME, name=_short(text), problem=str(problem)) from None


def zone_of(state: State, name: str) -> Zone:
    """Return the zone that ``name`` would be registered in.

    Refuse with ``zone_not_supported`` when no zone holds it, and with ``invalid_name``
    when the zone's rules rule the name out.
    """
    zone, end = None, name
    while zone is None and end:
        end = end.partition(".")[2]
        zone = state.zones.get(end)
    if zone is None:
        raise Refused(refusals.ZONE_NOT_SUPPORTED, name=names.to_unicode(name))
    label = name[: -len(zone.name) - 1]
    if "." in label:
        raise _ruled_out(name, zone, "it lies more than one label below {zone}")
    if label.startswith("xn--") and not zone.idn:
        raise _ruled_out(name, zone, "{zone} takes no internationalised names")
    return zone


def _ruled_out(name: str, zone: Zone, problem: str) -> Refused:
    told = problem.format(zone=names.to_unicode(zone.name))
    return Refused(refusals.INVALID_NAME, name=names.to_unicode(name), problem=told)


def require_in_service(zone: Zone) -> None:
    """Refuse with ``zone_out_of_service`` while the zone's registry is out of reach."""
    if not zone.in_service:
        raise Refused(refusals.ZONE_OUT_OF_SERVICE, zone=names.to_unicode(zone.name))


def offers_privacy(zone: Zone, assumed: Assumptions) -> bool:
    """Whether the zone has a price for whois protection.

    Refuse with ``privacy_not_offered`` where it has none and the assumptions do not ignore that.
    """
    if zone.prices.privacy is not None:
        return True
    if assumed.privacy_not_offered == "refused":
        raise Refused(refusals.PRIVACY_NOT_OFFERED, zone=names.to_unicode(zone.name))
    return False


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
