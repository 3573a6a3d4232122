"""Money: the price shown is the price charged, and each charge is a ledger entry with its cause."""

from __future__ import annotations

from decimal import Decimal

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.soundness import assert_books_balance
from tests.v2.client import connect as connect_v2

D = "/v3/domains"


def create(api: Api, name: str = "new.com", years: int = 1, cost: object = None, **domain: object) -> Answer:
    """Register a name."""
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post(f"{D}/createDomain", body)


def test_a_registration_and_its_privacy_are_entries_with_their_cause(sandbox: Sandbox, api: Api) -> None:
    answer = create(api, years=3, privacyEnabled=True)
    assert answer.json["totalPaid"] == "39.00"
    name, privacy = sandbox.ledger.find(request=answer.headers["x-sandbox-request"]).entries
    assert (name.amount, name.purpose, name.years) == (-30, "registration", 3)
    assert (privacy.amount, privacy.purpose) == (-9, "privacy")
    for entry in (name, privacy):
        assert (entry.order, entry.domain) == (sandbox.names["new.com"].order, "new.com")
        assert (entry.at, entry.operation) == (sandbox.clock.now, "v3.createDomain")
    assert api.get("/v3/balance").json[0]["balance"] == "9961.00"


def test_a_price_counts_for_each_year(sandbox: Sandbox, api: Api) -> None:
    for years in range(1, 11):
        assert create(api, f"new{years}.com", years).json["totalPaid"] == f"{years * 10}.00"
    sandbox.outside.set_prices("com", privacy=0)
    assert create(api, "free.com", privacyEnabled=True).json["totalPaid"] == "10.00"


def test_a_premium_name_has_its_own_prices_which_exclude_privacy(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.set_premium("rare.com", registration=500, renewal=300, transfer=200)
    shown = api.post(f"{D}/checkAvailability", {"domainNames": ["rare.com"]}).json["results"][0]
    assert (shown["premium"], shown["purchaseCost"], shown["renewalCost"]) == (True, "500.00", "300.00")
    assert create(api, "rare.com", 2).error == "premium_cost_required"
    assert "1000.00" in create(api, "rare.com", 2, 500).message
    made = create(api, "rare.com", 2, 1000, privacyEnabled=True).json
    assert (made["totalPaid"], made["domain"]["renewalCost"]) == ("1006.00", "300.000000")
    assert api.post(f"{D}/renewDomain/rare.com", {"purchaseCost": "300"}).json["totalPaid"] == "303.00"


def test_an_agreed_price_counts_by_its_amount_in_any_spelling(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.set_premium("rare.com", registration=500, renewal=300, transfer=200)
    cost: object
    for cost in ("500.001", 499.99, "500.000001", 5, 10**12, "9" * 60):
        assert create(api, "rare.com", 1, cost).error == "price_mismatch", cost
    for number, cost in enumerate([500, 500.0, "500", "500.00", "5e2", "500.000000"]):
        name = f"rare{number}.com"
        sandbox.outside.set_premium(name, registration=500, renewal=300, transfer=200)
        assert create(api, name, 1, cost).json["totalPaid"] == "500.00"


def test_the_last_cent_can_be_spent_and_not_more(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.adjust_balance("main", to="22.99")
    refused = create(api, "one.com", 2, privacyEnabled=True)
    assert refused.error == "insufficient_funds"
    assert "26.00 USD are needed and the balance is 22.99 USD" in refused.message
    assert create(api, "one.com", 1, privacyEnabled=True).json["totalPaid"] == "13.00"
    assert create(api, "two.com").error == "insufficient_funds"
    sandbox.outside.adjust_balance("main", to="10.00")
    assert create(api, "two.com").status == 200
    assert api.get("/v3/balance").json[0]["balance"] == "0.00"
    assert_books_balance(sandbox)


def test_a_new_registrant_costs_the_price_of_the_zone_once(sandbox: Sandbox, api: Api) -> None:
    target = f"{D}/setContacts/held.com.ua"
    ann = {"reg-contact": person("Ann")}
    assert api.post(target, {"contacts": {"tech-contact": person("Tom")}}).status == 200
    assert sandbox.accounts["main"].balance == 10_000
    answer = api.post(target, {"contacts": ann})
    [entry] = sandbox.ledger.find(request=answer.headers["x-sandbox-request"]).entries
    assert (entry.amount, entry.purpose, entry.years) == (Decimal("-2.50"), "owner_change", None)
    for country in ("UA", "ua"):
        same = {"reg-contact": person("Ann", country=country)}
        assert api.post(target, {"contacts": same}).status == 200
        assert sandbox.accounts["main"].balance == Decimal("9997.50"), country
    assert api.post(f"{D}/setContacts/active.com", {"contacts": ann}).status == 200
    assert sandbox.accounts["main"].balance == Decimal("9997.50"), "free if the zone has no price"


def test_fractions_of_a_cent_are_shown_and_charged_in_full(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.set_prices("com", registration="1.2345", renewal="0.005")
    made = create(api, years=3).json
    assert (made["totalPaid"], made["domain"]["renewalCost"]) == ("3.7035", "0.005000")
    assert api.get("/v3/balance").json[0]["balance"] == "9996.2965"


def test_a_delete_within_five_days_refunds_all_and_frees_the_name(sandbox: Sandbox, api: Api) -> None:
    create(api, years=2, privacyEnabled=True)
    create(api, "late.com")
    sandbox.outside.set_prices("com", registration=0)
    assert create(api, "gratis.com").json["totalPaid"] == "0.00"
    v2 = connect_v2(sandbox)
    sandbox.clock.set("2026-03-06T11:59:59Z")
    for name in ("new.com", "gratis.com"):
        assert v2.delete(f"/domain/{name}").status == 200
        assert api.get(f"{D}/getDomain/{name}").error == "domain_not_found"
    assert sandbox.accounts["main"].balance == 9990
    sandbox.clock.advance(1)
    assert v2.delete("/domain/late.com").status == 200
    assert sandbox.names["late.com"].stage == "redemption"
    assert sandbox.accounts["main"].balance == 9990
    assert_books_balance(sandbox)


def test_the_books_balance_after_a_busy_year(sandbox: Sandbox, api: Api, other: Api) -> None:
    for number in range(5):
        create(api, f"name{number}.com", privacyEnabled=True, autorenewEnabled=number % 2 == 0)
    api.post(f"{D}/requestTransfer", {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"})
    other.post(f"{D}/rejectTransfer/theirs.com")
    sandbox.outside.adjust_balance("main", by="12.34")
    sandbox.clock.set("2028-01-01")
    api.post(f"{D}/renewDomain/name0.com", {"years": 2})
    assert_books_balance(sandbox)
    assert sandbox.accounts["main"].balance < 9963
