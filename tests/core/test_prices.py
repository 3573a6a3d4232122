"""Prices: per zone, per premium name, per year, and until the end of a promotion."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import edit_name, edit_zone
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
PROMOTIONS = {
    "registration_promotion": {"price": "4.00", "until": "2026-03-02T12:00:00Z"},
    "renewal_promotion": {"price": "5.00", "until": "2026-03-02T12:00:00Z"},
}


def paid(answer: Any) -> Decimal:
    """Return the amount that a v3 response says was paid."""
    assert answer.status == 200, answer.raw
    return Decimal(answer.json["totalPaid"])


@pytest.mark.parametrize("years", [1, 3])
def test_a_premium_name_has_its_own_price_for_each_year(sandbox: Sandbox, api: Api, years: int) -> None:
    edit_zone(
        sandbox, "com", **PROMOTIONS, premium={"rare": {"registration": 500, "renewal": 300, "transfer": 200}}
    )
    sandbox.names.add("rare.com", account="other", created="-100d", auth_code="let-me-in")
    wish = {"domain": {"domainName": "rare.com"}, "years": 1, "authCode": "let-me-in", "purchaseCost": 200}
    assert paid(api.post(f"{D}/requestTransfer", wish)) == 200
    sandbox.reset()
    bought = {"domain": {"domainName": "rare.com"}, "years": years, "purchaseCost": 500 * years}
    assert paid(api.post(f"{D}/createDomain", bought)) == 500 * years
    renewal = {"domain": {"domainName": "rare.com"}, "years": years, "purchaseCost": 300 * years}
    assert paid(api.post(f"{D}/renewDomain", renewal)) == 300 * years


def test_a_restore_costs_the_zone_price_and_a_renewal_of_a_premium_name(sandbox: Sandbox) -> None:
    edit_name(sandbox, "gold.com", stage="redemption")
    client = connect_v2(sandbox)
    for name, price in (("gold.com", 80 + 300), ("redemption.com", 80)):
        before = sandbox.accounts["main"].balance
        assert client.put(f"/domain/{name}/restore").status == 200
        assert before - sandbox.accounts["main"].balance == price, name


def test_an_ordinary_name_has_the_prices_of_its_zone(sandbox: Sandbox, api: Api) -> None:
    for label in ("a", "coppe", "copperx", "golf", "zinc"):
        answer = api.post(f"{D}/checkAvailability", {"domainNames": [f"{label}.com"]}).json["results"][0]
        assert (answer["purchaseCost"], answer["renewalCost"], answer["premium"]) == ("10.00", "12.00", False)
    assert paid(api.post(f"{D}/createDomain", {"domain": {"domainName": "golf.com"}, "years": 3})) == 30
    assert paid(api.post(f"{D}/renewDomain", {"domain": {"domainName": "golf.com"}, "years": 3})) == 36


def test_a_promotion_ends_at_its_instant(sandbox: Sandbox, api: Api) -> None:
    edit_zone(sandbox, "com", **PROMOTIONS)
    for number, (now, registration, renewal) in enumerate(
        [("2026-03-02T11:59:59Z", 8, 10), ("2026-03-02T12:00:00Z", 20, 24)]
    ):
        sandbox.clock.set(now)
        domain = {"domain": {"domainName": f"n{number}.com"}, "years": 2}
        assert paid(api.post(f"{D}/createDomain", domain)) == registration
        assert paid(api.post(f"{D}/renewDomain", domain)) == renewal


def test_privacy_is_charged_per_year_or_once(sandbox: Sandbox, api: Api) -> None:
    for number, (charged, price) in enumerate([("per_year", 9), ("once", 3)]):
        sandbox.assumptions.set({"v3.privacy.charged": charged})
        domain = {"domainName": f"n{number}.com", "privacyEnabled": True}
        assert paid(api.post(f"{D}/createDomain", {"domain": domain, "years": 3})) == 30 + price
