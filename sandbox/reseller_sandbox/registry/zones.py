"""Zones: the zone of a domain, its rules, and its prices.

``special`` holds the prices of a premium domain, as ``premium_prices`` returns them. For an ordinary domain,
it is None.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Premium, Promotion, Zone
from reseller_sandbox.registry.state import State
from reseller_sandbox.values import names
from reseller_sandbox.values.money import NOTHING


def parse_name(text: str) -> str:
    """Return the domain name ``text`` in canonical form, or refuse with ``invalid_name``."""
    try:
        return names.normalise(text)
    except names.BadName as problem:
        raise Refused(refusals.INVALID_NAME, name=_short(text), problem=str(problem)) from None


def zone_of(state: State, name: str) -> Zone:
    """Return the zone of the domain ``name``, or refuse.


    Refuse with ``zone_not_supported`` if no zone holds the name, and with ``invalid_name`` if the zone's
    rules forbid it.
    """
    zone = next(filter(None, map(state.zones.get, names.suffixes(name))), None)
    if zone is None:
        raise Refused(refusals.ZONE_NOT_SUPPORTED, name=names.to_unicode(name))
    label = label_of(name, zone)
    if "." in label:
        raise _ruled_out(name, zone, "the name has more than one label before {zone}")
    if label.startswith("xn--") and not zone.idn:
        raise _ruled_out(name, zone, "{zone} does not accept internationalised names")
    return zone


def _ruled_out(name: str, zone: Zone, problem: str) -> Refused:
    message = problem.format(zone=names.to_unicode(zone.name))
    return Refused(refusals.INVALID_NAME, name=names.to_unicode(name), problem=message)


def require_in_service(zone: Zone) -> None:
    """Refuse with ``zone_out_of_service`` while the zone is out of service."""
    if not zone.in_service:
        raise Refused(refusals.ZONE_OUT_OF_SERVICE, zone=names.to_unicode(zone.name))


def require_period(name: str, years: int, least: int, most: int, reason: str = "") -> None:
    """Refuse a number of ``years`` below ``least`` or above ``most``.

    The refusals are ``period_too_short`` and ``period_too_long``. ``reason`` explains the limit ``most``.
    """
    facts = {"years": years, "name": names.to_unicode(name)}
    if years < least:
        raise Refused(refusals.PERIOD_TOO_SHORT, **facts, limit=least)
    if years > most:
        raise Refused(refusals.PERIOD_TOO_LONG, **facts, limit=most, reason=reason)


def offers_privacy(zone: Zone, assumed: Assumptions) -> bool:
    """Whether the zone offers whois protection, which means that the zone has a price for it.

    Without a price, refuse with ``privacy_not_offered`` if the assumption ``v3.privacy.not_offered`` is
    ``refused``.
    """
    if zone.prices.privacy is not None:
        return True
    if assumed.privacy_not_offered == "refused":
        raise Refused(refusals.PRIVACY_NOT_OFFERED, zone=names.to_unicode(zone.name))
    return False


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"


def premium_prices(zone: Zone, name: str) -> Premium | None:
    """Return the premium prices of ``name`` in ``zone``, or None for an ordinary name."""
    return zone.premium.get(label_of(name, zone)) if zone.premium else None


def registration_price(zone: Zone, special: Premium | None, years: int, now: datetime) -> Decimal:
    """Return the price of registering a domain for ``years`` at ``now``.

    Promotions do not apply to premium domains.
    """
    if special is not None:
        return special.registration * years
    return _yearly(zone.prices.registration, zone.registration_promotion, now) * years


def renewal_price(zone: Zone, special: Premium | None, years: int, now: datetime) -> Decimal:
    """Return the price of renewing a domain for ``years`` at ``now``."""
    if special is not None:
        return special.renewal * years
    return _yearly(zone.prices.renewal, zone.renewal_promotion, now) * years


def privacy_price(zone: Zone, years: int, assumed: Assumptions, *, wanted: bool) -> Decimal:
    """Return the price of whois protection for ``years``.

    Return 0 if the protection is not ``wanted``, or if the zone has no price for it.
    """
    if not wanted or not zone.prices.privacy:
        return NOTHING
    return zone.prices.privacy * (years if assumed.privacy_term == "per_year" else 1)


def transfer_price(zone: Zone, special: Premium | None, years: int) -> Decimal:
    """Return the price of a transfer that adds ``years``."""
    return (special.transfer if special is not None else zone.prices.transfer) * years


def restore_price(zone: Zone, special: Premium | None, years: int) -> Decimal:
    """Return the price of a restore that also renews the domain for ``years``.

    For ordinary domains, the zone's restore price includes these years. A premium domain pays its own renewal
    price in addition.
    """
    return zone.prices.restore + (special.renewal * years if special is not None else NOTHING)


def _yearly(regular: Decimal, promotion: Promotion | None, now: datetime) -> Decimal:
    return promotion.price if promotion is not None and now < promotion.until else regular


def label_of(name: str, zone: Zone) -> str:
    """Return the part of ``name`` before its zone: ``www.a`` for ``www.a.com`` in ``com``."""
    return name[: -len(zone.name) - 1]
