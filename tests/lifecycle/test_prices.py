"""Prices, amounts of six fraction digits, limits of orders, and auth codes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Answer, Api
from tests.registry import balance, edit, edit_name, edit_zone
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
FINER = "1.1234567"
TOO_FINE = "must have at most 6 fraction digits"

WORLD = """
zones:
  com:
    prices: {{registration: {0}, renewal: {0}, transfer: {0}, restore: {0}, privacy: {0}, owner_change: {0}}}
    registration_promotion: {{price: {0}, until: +10d}}
    renewal_promotion: {{price: {0}, until: +10d}}
    premium: {{gold: {{registration: {0}, renewal: {0}, transfer: {0}}}}}
accounts: {{main: {{balance: {0}, contact: {{}}}}}}
ledger: {{1: {{at: -1d, amount: {0}, purpose: adjustment}}}}
"""


def test_amounts_in_a_fixture_have_at_most_six_fraction_digits(sandbox: Sandbox) -> None:
    sandbox.load(WORLD.format("1.123456"))
    assert sandbox.export().count("1.123456") == WORLD.count("{0}") == 13
    sandbox.load(WORLD.format(FINER))  # a number counts as the nearest amount
    assert sandbox.export().count("1.123457") == 13
    with pytest.raises(Refused) as refused:
        sandbox.load(WORLD.format(f"'{FINER}'"))
    assert refused.value.message.count(TOO_FINE) == 13


def test_amounts_of_third_party_actions_have_at_most_six_fraction_digits(subtests, sandbox: Sandbox) -> None:
    prices = ("registration", "renewal", "transfer", "restore", "privacy", "owner_change")
    cases: list[tuple[str, dict[str, Any]]] = [
        *(("set_prices", {"zone": "com", name: FINER}) for name in prices),
        ("set_promotion", {"zone": "com", "of": "renewal", "price": FINER, "until": "P1D"}),
        *(("set_premium", {"domain": "a.com", name: FINER}) for name in prices[:3]),
        ("credit", {"account": "main", "amount": FINER}),
        ("set_balance", {"account": "main", "amount": FINER}),
    ]
    for action, arguments in cases:
        with subtests.test(action=action, arguments=arguments):
            is_account = "account" in arguments
            path = f"accounts/main/{action}" if is_account else f"simulate/{action}"
            body = {name: value for name, value in arguments.items() if name != "account"}
            answer = sandbox.client().post(f"/_sandbox/{path}", json=body)
            assert answer.status_code == 400
            [name] = [name for name, value in arguments.items() if value == FINER]
            assert f"{name} {TOO_FINE}" in answer.get_json()["message"]
            scheduled = f"scheduled: {{1: {{action: {action}, at: +1d, parameters: {arguments}}}}}"
            with pytest.raises(Refused, match=TOO_FINE):
                sandbox.load(WORLD.format("1.00") + scheduled)


def transfer(api: Api, cost: object) -> Answer:
    domain = {"domainName": "silver.com"}
    return api.post(f"{D}/requestTransfer", {"domain": domain, "authCode": "let-me-in", "purchaseCost": cost})


COSTS: list[Callable[[Api, object], Answer]] = [
    lambda api, cost: api.post(
        f"{D}/createDomain", {"domain": {"domainName": "rare.com"}, "purchaseCost": cost}
    ),
    lambda api, cost: api.post(f"{D}/renewDomain/gold.com", {"purchaseCost": cost}),
    lambda api, cost: api.post(f"{D}/renewDomain/gold.com?purchaseCost={cost}"),
    transfer,
]


def set_premium_price(sandbox: Sandbox, price: str) -> None:
    prices = dict.fromkeys(("registration", "renewal", "transfer"), price)
    edit_zone(sandbox, "com", premium={"gold": prices, "rare": prices, "silver": prices})


def test_purchase_cost_must_equal_the_shown_price_to_the_last_digit(sandbox: Sandbox, api: Api) -> None:
    for pay in COSTS:
        sandbox.reset(original=True)
        set_premium_price(sandbox, "1.123456")
        shown = api.post(f"{D}/checkAvailability", {"domainNames": ["rare.com"]}).json["results"][0]
        assert shown["purchaseCost"] == shown["renewalCost"] == "1.123456"
        refused = pay(api, FINER)
        assert refused.error == "invalid_parameter"
        assert f"purchaseCost {TOO_FINE}" in refused.message
        assert pay(api, "1.123457").error == "price_mismatch"
        assert balance(sandbox) == 10_000
        assert pay(api, shown["purchaseCost"]).json["totalPaid"] == "1.123456"
    set_premium_price(sandbox, "999999999.999999")
    for pay in COSTS[:3]:
        for cost in ("1000000000", "9" * 99):
            refused = pay(api, cost)
            assert refused.error == "price_mismatch"
            assert cost in refused.message


def test_list_of_zones_in_v2_shows_prices_with_all_digits(sandbox: Sandbox) -> None:
    price = "999999999.123456"
    edit_zone(sandbox, "com", prices=dict.fromkeys(("registration", "renewal", "transfer", "restore"), price))
    zones = connect_v2(sandbox).get("/domain/zones").json["data"]
    [com] = [zone for zone in zones if zone["zone"] == "com"]
    for word in ("reg", "renew", "transfer", "restore"):
        assert Decimal(str(com[f"price_{word}"])) == Decimal(price), word


# Prices

PROMOTIONS = {
    "registration_promotion": {"price": "4.00", "until": "2026-03-02T12:00:00Z"},
    "renewal_promotion": {"price": "5.00", "until": "2026-03-02T12:00:00Z"},
}
RARE = {"rare": {"registration": 500, "renewal": 300, "transfer": 200}}


def paid(answer: Answer) -> Decimal:
    """Return the amount that a v3 response says was paid."""
    assert answer.status == 200, answer.raw
    return Decimal(answer.json["totalPaid"])


def test_promotions_do_not_apply_to_premium_names(sandbox: Sandbox, api: Api) -> None:
    edit_zone(sandbox, "com", **PROMOTIONS, premium=RARE)
    domain = {"domain": {"domainName": "rare.com"}}
    for years in (1, 3):
        sandbox.reset()
        bought = api.post(f"{D}/createDomain", {**domain, "years": years, "purchaseCost": 500 * years})
        assert paid(bought) == 500 * years
        renewed = api.post(f"{D}/renewDomain", {**domain, "years": years, "purchaseCost": 300 * years})
        assert paid(renewed) == 300 * years
    sandbox.reset()
    sandbox.names.add("rare.com", account="other", created="-100d", auth_code="let-me-in")
    body = {**domain, "years": 1, "authCode": "let-me-in", "purchaseCost": 200}
    assert paid(api.post(f"{D}/requestTransfer", body)) == 200
    for label in ("rar", "rarex"):
        answer = api.post(f"{D}/checkAvailability", {"domainNames": [f"{label}.com"]}).json["results"][0]
        assert (answer["purchaseCost"], answer["renewalCost"], answer["premium"]) == ("4.00", "5.00", False)


def test_restore_of_a_premium_name_also_costs_its_renewal_price(sandbox: Sandbox) -> None:
    edit_name(sandbox, "gold.com", stage="redemption")
    for name, price in (("gold.com", 80 + 300), ("redemption.com", 80)):
        before = balance(sandbox)
        assert connect_v2(sandbox).put(f"/domain/{name}/restore").status == 200
        assert before - balance(sandbox) == price, name


def test_name_with_the_longest_term_can_be_transferred_for_one_year(sandbox: Sandbox, api: Api) -> None:
    body = {"domain": {"domainName": "far.com"}, "authCode": "let-me-in"}
    assert api.post("/v3/domains/requestTransfer", {**body, "years": 2}).error == "period_too_long"
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["limit"] == 1
    assert api.post("/v3/domains/requestTransfer", {**body, "years": 1}).json["status"] == "pending"


def test_a_third_party_action_can_be_scheduled_for_now_but_not_for_the_past(sandbox: Sandbox) -> None:
    now = sandbox.clock.now
    with pytest.raises(Refused, match="already"):
        sandbox.simulate.when(at=now - timedelta(seconds=1)).register("planned.com")
    assert sandbox.simulate.when(at=now).register("planned.com").scheduled is not None
    first = sandbox.clock.advance(until="next").events[0]
    assert (first.at, first.event) == (now, "register")


def generated_codes(sandbox: Sandbox, seed: str) -> list[str]:
    """Register ten names in a world with ``seed``. Return their auth codes."""
    sandbox.reset(original=True)
    edit(sandbox, {"seed": seed})
    for number in range(10):
        body = {"domain": {"domainName": f"n{number}.com"}}
        sandbox.client().post("/v3/domains/createDomain", json=body)
    return [sandbox.names[f"n{number}.com"].auth_code for number in range(10)]


def test_auth_codes_are_equal_for_equal_seeds_and_differ_otherwise(sandbox: Sandbox) -> None:
    codes = generated_codes(sandbox, "one")
    assert codes == generated_codes(sandbox, "one")
    assert not set(codes) & set(generated_codes(sandbox, "two"))
    assert len(set(codes)) == 10


def test_refusal_uses_the_words_of_the_interface(sandbox: Sandbox, api: Api) -> None:
    edit_name(sandbox, "active.com", stage="redemption")
    answer = api.post("/v3/domains/lockUpdate/active.com")
    assert answer.error == "wrong_state"
    assert "where lockUpdate is not possible. Possible actions: " in answer.message
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["action"] == "lockUpdate"
    sandbox.faults.add("error", error="price_mismatch")
    answer = api.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    assert answer.message == "purchaseCost is …, but the price of new.com is …."
