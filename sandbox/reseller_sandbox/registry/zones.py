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
from reseller_sandbox.registry.model import Order, Premium, Promotion, Zone
from reseller_sandbox.registry.state import State
from reseller_sandbox.values import names
from reseller_sandbox.values.money import NOTHING
from reseller_sandbox.values.scripts import are_mixed, letters_by_script
from reseller_sandbox.values.text_checks import cut


def parse_name(text: str) -> str:
    """Return the domain name ``text`` in canonical form, or refuse with ``invalid_name``."""
    try:
        return names.normalise(text)
    except names.BadName as problem:
        raise Refused(refusals.INVALID_NAME, name=cut(text, 80), problem=str(problem)) from None


def zone_of(state: State, name: str) -> Zone:
    """Return the zone of the domain ``name``, or refuse.

    Refuse with ``zone_not_supported`` if no zone holds the name, and with ``invalid_name`` if the zone's
    rules forbid it.
    """
    zone = next(filter(None, map(state.zones.get, names.suffixes(name))), None)
    if zone is None:
        zone_name = names.shown(name.partition(".")[2])
        raise Refused(refusals.ZONE_NOT_SUPPORTED, name=names.shown(name), zone=zone_name)
    label = label_of(name, zone)
    if "." in label:
        raise _deeper(state, name, zone)
    if label.startswith("xn--") and not zone.idn:
        raise _ruled_out(name, zone, "{} does not accept internationalised names")
    if zone.scripts or (zone.mixed_scripts == "refused" and label.startswith("xn--")):
        _require_scripts(name, zone, names.to_unicode(label))
    return zone


def _deeper(state: State, name: str, zone: Zone) -> Refused:
    """Return the refusal of a name with several labels before its zone.

    If the service offers other zones below ``zone`` (com.ua below ua), the name is in a zone that the service
    does not offer (lviv.ua), unless it lies below a registered name.
    """
    parent = name.partition(".")[2]
    offered = any(names.below(other, zone.name) for other in state.zones)
    registered = any(suffix in state.holding_order for suffix in names.suffixes(name))
    if offered and not registered:
        return Refused(refusals.ZONE_NOT_SUPPORTED, name=names.shown(name), zone=names.shown(parent))
    return _ruled_out(name, zone, "the name has more than one label before {}")


def _require_scripts(name: str, zone: Zone, label: str) -> None:
    """Refuse a label with a letter of a script that the zone does not accept, or with mixed scripts."""
    letters = letters_by_script(label)
    for script, letter in letters.items():
        if zone.scripts and script not in zone.scripts:
            accepted = " and ".join(map(str.capitalize, zone.scripts))
            raise _ruled_out(name, zone, f"{_described(letter, script)}, but {{}} accepts only {accepted}")
    if zone.mixed_scripts == "refused" and are_mixed(letters):
        mixed = " and ".join(_described(letter, script) for script, letter in letters.items())
        raise _ruled_out(name, zone, f"{mixed}, but {{}} accepts only one script in a name")


def _described(letter: str, script: str) -> str:
    return f"the letter {letter!r} (U+{ord(letter):04X}) is {script.capitalize()}"


def _ruled_out(name: str, zone: Zone, problem: str) -> Refused:
    problem = names.shown(zone.name, pattern=problem)
    return Refused(refusals.INVALID_NAME, name=names.shown(name), problem=problem)


def require_in_service(zone: Zone) -> None:
    """Refuse with ``zone_out_of_service`` while the zone is out of service."""
    if not zone.in_service:
        raise Refused(refusals.ZONE_OUT_OF_SERVICE, zone=names.shown(zone.name))


def require_period(name: str, years: int, least: int, most: int, reason: str = "") -> None:
    """Refuse a number of ``years`` below ``least`` or above ``most``.

    The refusals are ``period_too_short`` and ``period_too_long``. ``reason`` explains the limit ``most``.
    """
    if least <= years <= most:
        return
    facts = {"years": years, "name": names.shown(name)}
    if years < least:
        raise Refused(refusals.PERIOD_TOO_SHORT, **facts, limit=least)
    raise Refused(refusals.PERIOD_TOO_LONG, **facts, limit=most, reason=reason)


def offers_privacy(zone: Zone, assumed: Assumptions) -> bool:
    """Whether the zone offers whois protection, which means that the zone has a price for it.

    Without a price, refuse with ``privacy_not_offered`` if the assumption ``v3.privacy.not_offered`` is
    ``refused``.
    """
    if zone.prices.privacy is not None:
        return True
    if assumed.privacy_not_offered == "refused":
        raise Refused(refusals.PRIVACY_NOT_OFFERED, zone=names.shown(zone.name))
    return False


def premium_prices(zone: Zone, name: str) -> Premium | None:
    """Return the premium prices of ``name`` in ``zone``, or None for an ordinary name."""
    return zone.premium.get(label_of(name, zone)) if zone.premium else None


def registration_price(zone: Zone, special: Premium | None, years: int, now: datetime) -> Decimal:
    """Return the price of registering a domain for ``years`` at ``now``.

    Promotions do not apply to premium domains. The zone's ``later_years`` decides the price of the years
    after the first.
    """
    if special is not None:
        yearly = special.registration
    else:
        yearly = _yearly(zone.prices.registration, zone.registration_promotion, now)
    if zone.prices.later_years == "renewal" and years > 1:
        return yearly + renewal_price(zone, special, years - 1, now)
    return yearly * years


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
    """Return the price of a transfer for ``years``. A transfer that adds no year costs the price once."""
    price = special.transfer if special is not None else zone.prices.transfer
    return price * (added_years(zone, years) or 1)


def added_years(zone: Zone, years: int) -> int:
    """Return the years that a transfer for ``years`` pays for, which is 0 if it leaves the term unchanged."""
    return 0 if zone.transfer_term == "unchanged" else years


def restore_price(zone: Zone, special: Premium | None, years: int) -> Decimal:
    """Return the price of a restore that also renews the domain for ``years``.

    For ordinary domains, the zone's restore price includes these years. A premium domain pays its own renewal
    price in addition.
    """
    return zone.prices.restore + (special.renewal * years if special is not None else NOTHING)


def _yearly(regular: Decimal, promotion: Promotion | None, now: datetime) -> Decimal:
    return promotion.price if promotion is not None and now < promotion.until else regular


#: The particulars of an order: rules of its zone that ordinary names do not have.
PARTICULARS = ("premium", "later_years", "shortest_term", "transfer_term", "registrant_change_lock")


def particulars(zone: Zone, before: Order | None, order: Order) -> tuple[str, ...]:
    """Return the particulars that mattered to a change of ``order`` in ``zone``, as in ``PARTICULARS``."""
    matters = (
        premium_prices(zone, order.name) is not None,
        zone.prices.later_years == "renewal" and order.years > 1,
        max(zone.min_years, zone.min_renewal_years, zone.min_transfer_years) > 1,
        zone.transfer_term != "extends",
        before is not None and before.registrant_changed != order.registrant_changed,
    )
    return tuple(name for name, applies in zip(PARTICULARS, matters, strict=True) if applies)


def label_of(name: str, zone: Zone) -> str:
    """Return the part of ``name`` before its zone: ``www.a`` for ``www.a.com`` in ``com``."""
    return name[: -len(zone.name) - 1]
