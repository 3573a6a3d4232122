"""Amounts have six fraction digits in fixtures, requests and control calls; finer amounts are refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.registry import balance, edit_zone
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


def test_each_amount_of_a_fixture_has_six_fraction_digits(sandbox: Sandbox) -> None:
    sandbox.load(WORLD.format("1.123456"))
    assert sandbox.export().count("1.123456") == WORLD.count("{0}") == 13
    with pytest.raises(Refused) as refused:
        sandbox.load(WORLD.format(FINER))
    assert refused.value.message.count(TOO_FINE) == 13


def test_each_amount_of_a_third_party_action_has_six_fraction_digits(
    subtests: pytest.Subtests, sandbox: Sandbox
) -> None:
    prices = ("registration", "renewal", "transfer", "restore", "privacy", "owner_change")
    premium = prices[:3]
    cases: list[tuple[str, dict[str, Any]]] = [
        *(("set_prices", {"zone": "com", name: FINER}) for name in prices),
        ("set_promotion", {"zone": "com", "of": "renewal", "price": FINER, "until": "P1D"}),
        *(("set_premium", {"domain": "a.com", name: FINER}) for name in premium),
        ("adjust_balance", {"account": "main", "by": FINER}),
        ("adjust_balance", {"account": "main", "to": FINER}),
    ]
    for action, arguments in cases:
        with subtests.test(action=action, arguments=arguments):
            answer = sandbox.client().post(f"/_sandbox/outside/{action}", json=arguments)
            assert answer.status_code == 400
            [name] = [name for name, value in arguments.items() if value == FINER]
            assert f"{name} {TOO_FINE}" in answer.get_json()["message"]
            scheduled = f"plans: {{1: {{action: {action}, at: +1d, given: {arguments}}}}}"
            with pytest.raises(Refused, match=TOO_FINE):
                sandbox.load(WORLD.format("1.00") + scheduled)


COSTS: list[Callable[[Api, object], Any]] = [
    lambda api, cost: api.post(
        f"{D}/createDomain", {"domain": {"domainName": "rare.com"}, "purchaseCost": cost}
    ),
    lambda api, cost: api.post(f"{D}/renewDomain/gold.com", {"purchaseCost": cost}),
    lambda api, cost: api.post(
        f"{D}/renewDomain", {"domain": {"domainName": "gold.com", "purchaseCost": cost}}
    ),
    lambda api, cost: api.post(f"{D}/renewDomain/gold.com?purchaseCost={cost}"),
    lambda api, cost: api.post(
        f"{D}/requestTransfer",
        {"domain": {"domainName": "silver.com"}, "authCode": "let-me-in", "purchaseCost": cost},
    ),
]


def _set_premium_price(sandbox: Sandbox, price: str) -> None:
    prices = dict.fromkeys(("registration", "renewal", "transfer"), price)
    edit_zone(sandbox, "com", premium={"gold": prices, "rare": prices, "silver": prices})


def test_a_shown_price_is_accepted_to_its_last_digit(sandbox: Sandbox, api: Api) -> None:
    for pay in COSTS:
        sandbox.reset(original=True)
        _set_premium_price(sandbox, "1.123456")
        shown = api.post(f"{D}/checkAvailability", {"domainNames": ["rare.com"]}).json["results"][0]
        assert shown["purchaseCost"] == shown["renewalCost"] == "1.123456"
        refused = pay(api, FINER)
        assert refused.error == "invalid_parameter"
        assert f"purchaseCost {TOO_FINE}" in refused.message
        assert pay(api, "1.123457").error == "price_mismatch"
        assert balance(sandbox) == 10_000
        assert pay(api, shown["purchaseCost"]).json["totalPaid"] == "1.123456"


def test_a_cost_of_99_digits_is_compared_with_the_price(sandbox: Sandbox, api: Api) -> None:
    _set_premium_price(sandbox, "999999999.999999")
    for pay in COSTS:
        for cost in ("1000000000", "9" * 99):
            refused = pay(api, cost)
            assert refused.error == "price_mismatch"
            assert cost in refused.message


def test_v2_zone_prices_show_every_digit(sandbox: Sandbox) -> None:
    price = "999999999.123456"
    edit_zone(sandbox, "com", prices=dict.fromkeys(("registration", "renewal", "transfer", "restore"), price))
    zones = connect_v2(sandbox).get("/domain/zones").json["data"]
    [com] = [zone for zone in zones if zone["zone"] == "com"]
    for word in ("reg", "renew", "transfer", "restore"):
        assert Decimal(str(com[f"price_{word}"])) == Decimal(price), word
