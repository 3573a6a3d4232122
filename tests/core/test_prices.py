"""Prices: per zone, per premium name, per year, and for as long as a promotion lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from reseller_sandbox.core import prices
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Premium, Prices, Promotion, Zone

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ZONE = Zone(
    name="com",
    prices=Prices(
        registration=Decimal(10),
        renewal=Decimal(12),
        transfer=Decimal(9),
        restore=Decimal(80),
        privacy=Decimal(3),
    ),
    registration_promotion=Promotion(price=Decimal(4), until=NOON),
    renewal_promotion=Promotion(price=Decimal(5), until=NOON),
    premium=tuple(
        (label, Premium(registration=Decimal(500), renewal=Decimal(300), transfer=Decimal(200)))
        for label in ("copper", "gold", "silver")
    ),
)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("label", ["copper", "gold", "silver"])
def test_a_premium_name_has_prices_of_its_own_for_each_year(label: str) -> None:
    """No promotion lowers them, and a restore costs the zone's price and its renewal on top."""
    special = prices.premium(ZONE, f"{label}.{ZONE.name}")
    assert special is not None
    for years in (1, 3):
        for now in (NOON - SECOND, NOON):
            assert prices.registration(ZONE, special, years, now) == 500 * years
            assert prices.renewal(ZONE, special, years, now) == 300 * years
        assert prices.transfer(ZONE, special, years) == 200 * years
        assert prices.restore(ZONE, special, years) == 80 + 300 * years


@pytest.mark.parametrize("label", ["", "a", "coppe", "copperx", "golf", "tin", "zinc"])
def test_an_ordinary_name_has_the_prices_of_its_zone(label: str) -> None:
    """Wherever among the premium names it would stand. A restore costs the same for any number of years."""
    special = prices.premium(ZONE, f"{label}.{ZONE.name}")
    assert special is None
    for years in (1, 3):
        assert prices.registration(ZONE, special, years, NOON) == 10 * years
        assert prices.renewal(ZONE, special, years, NOON) == 12 * years
        assert prices.transfer(ZONE, special, years) == 9 * years
        assert prices.restore(ZONE, special, years) == 80


def test_a_promotion_ends_at_its_instant() -> None:
    """The last second before it is cheap, for every year that is bought then."""
    assert prices.registration(ZONE, None, 2, NOON - SECOND) == 8
    assert prices.registration(ZONE, None, 2, NOON) == 20
    assert prices.renewal(ZONE, None, 2, NOON - SECOND) == 10
    assert prices.renewal(ZONE, None, 2, NOON) == 24


@pytest.mark.parametrize(("value", "price"), [("per_year", 9), ("once", 3)])
def test_whois_protection_is_charged_where_it_is_wanted(value: str, price: int) -> None:
    """For each year, or once, as the assumptions have it."""
    assumed = Assumptions().with_values({"v3.privacy.charged": value})
    assert prices.protection(ZONE, 3, assumed, wanted=True) == price
    assert prices.protection(ZONE, 3, assumed, wanted=False) == 0


@pytest.mark.parametrize("name", ["shop.com", "a.b.com", "com.com"])
def test_a_label_is_what_stands_before_the_zone(name: str) -> None:
    """With all its dots."""
    assert f"{prices.label_of(name, ZONE)}.com" == name
