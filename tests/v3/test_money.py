"""Money: what is shown is what is charged, each charge is an entry, and the entries make the balance."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core import money, orders
from reseller_sandbox.core.ledger import adjust
from reseller_sandbox.core.model import LedgerEntry, Order, Purpose
from reseller_sandbox.core.state import Draft
from tests.clients import Answer, Api, person
from tests.registry import account_of, arrange_balance, arrange_zone, balance, order_of
from tests.soundness import assert_sound

D = "/v3/domains"


def create(api: Api, name: str = "new.com", years: int = 1, cost: object = None, **domain: object) -> Answer:
    """A registration."""
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post(f"{D}/createDomain", body)


def entries(sandbox: Sandbox, count: int) -> list[LedgerEntry]:
    """The latest entries of the ledger, the newest last."""
    ledger = sandbox.world.state.ledger
    return [ledger[number] for number in sorted(ledger)][-count:]


def test_a_registration_is_two_entries(sandbox: Sandbox, api: Api) -> None:
    """The name and its protection, each saying for what, by which request, at what time."""
    answer = create(api, years=3, privacyEnabled=True)
    assert answer.json["totalPaid"] == "39.00"
    name, protection = entries(sandbox, 2)
    request = answer.headers["x-sandbox-request"]
    order = order_of(sandbox, "new.com")
    assert (name.amount, name.purpose, name.years) == (-30, Purpose.REGISTRATION, 3)
    assert (protection.amount, protection.purpose) == (-9, Purpose.PRIVACY)
    for entry in (name, protection):
        assert (entry.cause, entry.order, entry.name, entry.at) == (
            request,
            order.id,
            "new.com",
            sandbox.clock.now,
        )
    assert api.get("/v3/balance").json[0]["balance"] == "9961.00"


@pytest.mark.parametrize("years", range(1, 11))
def test_years_are_multiplied(api: Api, years: int) -> None:
    """From one to ten."""
    assert create(api, years=years).json["totalPaid"] == f"{years * 10}.00"


def test_a_premium_name_has_its_own_prices(sandbox: Sandbox, api: Api) -> None:
    """The price of all the years has to be sent; protection is added to it but not part of it."""
    arrange_zone(sandbox, "com", premium=(("rare", dict(sandbox.world.state.zones["com"].premium)["gold"]),))
    shown = api.post(f"{D}/checkAvailability", {"domainNames": ["rare.com"]}).json["results"][0]
    assert (shown["premium"], shown["purchaseCost"], shown["renewalCost"]) == (True, "500.00", "300.00")
    assert create(api, "rare.com", 2).error == "premium_cost_required"
    assert "1000.00" in create(api, "rare.com", 2, 500).message
    made = create(api, "rare.com", 2, 1000, privacyEnabled=True).json
    assert (made["totalPaid"], made["domain"]["renewalCost"]) == ("1006.00", "300.000000")
    assert api.post(f"{D}/renewDomain/rare.com", {"purchaseCost": "300"}).json["totalPaid"] == "303.00"


@pytest.mark.parametrize("cost", [500, 500.0, "500", "500.00", "5e2", "500.000000"])
def test_a_price_in_any_spelling(sandbox: Sandbox, api: Api, cost: object) -> None:
    """A number or a string; what counts is the amount."""
    arrange_zone(sandbox, "com", premium=(("rare", dict(sandbox.world.state.zones["com"].premium)["gold"]),))
    assert create(api, "rare.com", 1, cost).json["totalPaid"] == "500.00"


@pytest.mark.parametrize("cost", ["500.001", 499.99, "500.000001", 5, 10**12, "9" * 60])
def test_a_price_that_is_not_the_one(sandbox: Sandbox, api: Api, cost: object) -> None:
    """Not by a fraction."""
    arrange_zone(sandbox, "com", premium=(("rare", dict(sandbox.world.state.zones["com"].premium)["gold"]),))
    assert create(api, "rare.com", 1, cost).error == "price_mismatch"


def test_the_last_cent_can_be_spent(sandbox: Sandbox, api: Api) -> None:
    """And not one more; protection counts too."""
    arrange_balance(sandbox, "22.99")
    refused = create(api, "one.com", 2, privacyEnabled=True)
    assert refused.error == "insufficient_funds"
    assert "26.00 USD are needed and the balance is 22.99 USD" in refused.message
    assert create(api, "one.com", 1, privacyEnabled=True).json["totalPaid"] == "13.00"
    assert create(api, "two.com").error == "insufficient_funds"
    arrange_balance(sandbox, "10.00")
    assert create(api, "two.com").status == 200
    assert api.get("/v3/balance").json[0]["balance"] == "0.00"


def test_another_owner_costs_what_the_zone_asks(sandbox: Sandbox, api: Api) -> None:
    """Once for each new registrant; other roles and the same registrant again cost nothing."""
    target = f"{D}/setContacts/held.com.ua"
    ann = {"reg-contact": person("Ann")}
    assert api.post(target, {"contacts": {"tech-contact": person("Tom")}}).status == 200
    assert balance(sandbox) == 10_000
    assert api.post(target, {"contacts": ann}).status == 200
    assert balance(sandbox) == Decimal("9997.50")
    [entry] = entries(sandbox, 1)
    assert (entry.purpose, entry.years) == (Purpose.OWNER_CHANGE, 0)
    for country in ("UA", "ua"):
        same = {"reg-contact": person("Ann", country=country)}
        assert api.post(target, {"contacts": same}).status == 200
        assert balance(sandbox) == Decimal("9997.50"), country
    assert api.post(f"{D}/setContacts/active.com", {"contacts": ann}).status == 200
    assert balance(sandbox) == Decimal("9997.50"), "free where the zone asks for nothing"


def test_fractions_of_a_cent_are_kept(sandbox: Sandbox, api: Api) -> None:
    """A price of more than two digits is shown and charged in full."""
    prices = replace(
        sandbox.world.state.zones["com"].prices, registration=Decimal("1.2345"), renewal=Decimal("0.005")
    )
    arrange_zone(sandbox, "com", prices=prices)
    made = create(api, years=3).json
    assert (made["totalPaid"], made["domain"]["renewalCost"]) == ("3.7035", "0.005000")
    assert api.get("/v3/balance").json[0]["balance"] == "9996.2965"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0.00"),
        ("5", "5.00"),
        ("5.1", "5.10"),
        ("5.10", "5.10"),
        ("5.1230", "5.123"),
        ("1E+3", "1000.00"),
    ],
)
def test_amounts_in_words(amount: str, text: str) -> None:
    """Two fraction digits, or as many more as count."""
    assert money.write(Decimal(amount)) == text


def _draft(sandbox: Sandbox) -> Draft:
    return Draft(sandbox.world.state, sandbox.clock.now, sandbox.world.assumptions, "a test")


def _delete(sandbox: Sandbox, order: Order) -> tuple[Decimal, Draft]:
    draft = _draft(sandbox)
    return orders.delete(draft, order), draft


def test_an_early_delete_is_refunded(sandbox: Sandbox, api: Api) -> None:
    """Within the five days of the add grace: all of it, protection too, and the name is free at once."""
    create(api, years=2, privacyEnabled=True)
    sandbox.clock.set("2026-03-06T11:59:59Z")
    back, draft = _delete(sandbox, order_of(sandbox, "new.com"))
    assert back == 26
    assert draft.state.accounts[order_of(sandbox, "new.com").account].balance == 10_000
    assert "new.com" not in draft.state.holding_order
    assert_sound(draft.state)


def test_a_later_delete_is_not(sandbox: Sandbox, api: Api) -> None:
    """From the fifth day on it goes into redemption, and the money stays spent."""
    create(api)
    sandbox.clock.set("2026-03-06T12:00:00Z")
    back, draft = _delete(sandbox, order_of(sandbox, "new.com"))
    assert back == 0
    assert draft.state.orders[order_of(sandbox, "new.com").id].stage == "redemption"
    assert draft.state.accounts[order_of(sandbox, "new.com").account].balance == 9990


def test_an_early_delete_of_what_cost_nothing_frees_the_name_too(sandbox: Sandbox, api: Api) -> None:
    """The grace is a matter of days, not of money."""
    zone = sandbox.world.state.zones["com"]
    arrange_zone(sandbox, "com", prices=replace(zone.prices, registration=Decimal(0)))
    assert create(api).json["totalPaid"] == "0.00"
    back, draft = _delete(sandbox, order_of(sandbox, "new.com"))
    assert back == 0
    assert "new.com" not in draft.state.holding_order


def test_an_adjustment_is_an_entry_too(sandbox: Sandbox) -> None:
    """So that a top-up does not break the books."""
    draft = _draft(sandbox)
    adjust(draft, account_of(sandbox), Decimal("12.34"))
    assert draft.state.accounts[sandbox.account().client_id].balance == Decimal("10012.34")
    assert_sound(draft.state)


def test_the_books_balance_after_a_busy_year(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Opening balance plus entries, for every account, over registrations, renewals, refunds and time."""
    for number in range(5):
        create(api, f"name{number}.com", privacyEnabled=True, autorenewEnabled=number % 2 == 0)
    api.post(f"{D}/requestTransfer", {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"})
    other.post(f"{D}/rejectTransfer/theirs.com")
    sandbox.clock.set(datetime(2028, 1, 1, tzinfo=UTC))
    api.post(f"{D}/renewDomain/name0.com", {"years": 2})
    assert_sound(sandbox.world.state)
    assert balance(sandbox) < 9950
