"""What things cost: per zone, per premium name, per year, and for as long as a promotion lasts.

``special`` are the prices of a premium name, as ``premium`` finds them, or None for an ordinary name.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime
from decimal import Decimal

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Premium, Promotion, Zone
from reseller_sandbox.core.money import NOTHING

FREE = NOTHING


def premium(zone: Zone, name: str) -> Premium | None:
    """Return the premium prices of ``name`` in ``zone``, or None for an ordinary name."""
    if not zone.premium:
        return None
    label = label_of(name, zone)
    at = bisect_left(zone.premium, (label,))
    if at == len(zone.premium):
        return None
    found, special = zone.premium[at]
    return special if found == label else None


def registration(zone: Zone, special: Premium | None, years: int, now: datetime) -> Decimal:
    """Return the price of registering a name for ``years`` at ``now``; premium names have no promotions."""
    if special is not None:
        return special.registration * years
    return _yearly(zone.prices.registration, zone.registration_promotion, now) * years


def renewal(zone: Zone, special: Premium | None, years: int, now: datetime) -> Decimal:
    """Return the price of renewing a name for ``years`` at ``now``."""
    if special is not None:
        return special.renewal * years
    return _yearly(zone.prices.renewal, zone.renewal_promotion, now) * years


def protection(zone: Zone, years: int, assumed: Assumptions, *, wanted: bool) -> Decimal:
    """Return the price of whois protection over ``years``; 0 where it is not wanted or the zone has none."""
    if not wanted or not zone.prices.privacy:
        return FREE
    return zone.prices.privacy * (years if assumed.privacy_term == "per_year" else 1)


def transfer(zone: Zone, special: Premium | None, years: int) -> Decimal:
    """Return the price of a transfer in that adds ``years``."""
    return (special.transfer if special is not None else zone.prices.transfer) * years


def restore(zone: Zone, special: Premium | None, years: int) -> Decimal:
    """Return the price of a restore, with the ``years`` of renewal that it includes.

    The zone's restore price covers them for ordinary names; a premium name pays its own renewal on top.
    """
    return zone.prices.restore + (special.renewal * years if special is not None else FREE)


def _yearly(regular: Decimal, promotion: Promotion | None, now: datetime) -> Decimal:
    return promotion.price if promotion is not None and now < promotion.until else regular


def label_of(name: str, zone: Zone) -> str:
    """Return the part of ``name`` before its zone."""
    return name[: -len(zone.name) - 1]
