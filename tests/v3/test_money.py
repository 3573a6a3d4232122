"""Money: the price shown is the price charged, and each charge is a ledger entry with its cause."""

from __future__ import annotations

from decimal import Decimal

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import balance

D = "/v3/domains"


def create(api: Api, name: str = "new.com", years: int = 1, cost: object = None, **domain: object) -> Answer:
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


def test_an_automatic_renewal_costs_the_price_of_that_moment(sandbox: Sandbox, api: Api) -> None:
    api.post(f"{D}/enableAutorenew/second.com")
    sandbox.outside.set_prices("com", renewal=15)
    fired = [
        event for event in sandbox.clock.set("2026-08-13T12:00:00Z").fired if event.subject == "second.com"
    ]
    assert [(event.event, event.charged) for event in fired] == [("automatic renewal", 15)]
    [entry] = sandbox.ledger.find(domain="second.com").entries
    assert (entry.amount, entry.years, entry.request) == (-15, 1, None)
    assert entry.cause == f"event:order:{sandbox.names['second.com'].order}"


def test_an_agreed_price_counts_by_its_amount_in_any_spelling(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.set_premium("rare.com", registration=500, renewal=300, transfer=200)
    for wrong in ("500.001", 499.99, "500.000001", 5, 10**12, "9" * 60):
        assert create(api, "rare.com", 1, wrong).error == "price_mismatch", wrong
    for number, cost in enumerate([500, 500.0, "500", "500.00", "5e2", "500.000000"]):
        name = f"rare{number}.com"
        sandbox.outside.set_premium(name, registration=500, renewal=300, transfer=200)
        paid = create(api, name, 1, cost, privacyEnabled=True).json["totalPaid"]
        assert paid == "503.00", "the agreed price leaves privacy out"


def test_a_new_registrant_costs_the_price_of_the_zone_once(sandbox: Sandbox, api: Api) -> None:
    target = f"{D}/setContacts/held.com.ua"
    assert api.post(target, {"contacts": {"tech-contact": person("Tom")}}).status == 200
    assert balance(sandbox) == 10_000
    answer = api.post(target, {"contacts": {"reg-contact": person("Ann")}})
    [entry] = sandbox.ledger.find(request=answer.headers["x-sandbox-request"]).entries
    assert (entry.amount, entry.purpose, entry.years) == (Decimal("-2.50"), "owner_change", None)
    for again, country in ((target, "UA"), (target, "ua"), (f"{D}/setContacts/active.com", "UA")):
        registrant = {"reg-contact": person("Ann", country=country)}
        assert api.post(again, {"contacts": registrant}).status == 200
        assert balance(sandbox) == Decimal("9997.50"), (again, country)


def test_fractions_of_a_cent_are_shown_and_charged_in_full(sandbox: Sandbox, api: Api) -> None:
    sandbox.outside.set_prices("com", registration="1.2345", renewal="0.005", privacy=0)
    made = create(api, years=3, privacyEnabled=True).json
    assert (made["totalPaid"], made["domain"]["renewalCost"]) == ("3.7035", "0.005000")
    assert api.get("/v3/balance").json[0]["balance"] == "9996.2965"
