"""Money is as fine at every door as it is kept: what is shown is accepted back, finer is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core import money
from reseller_sandbox.core.model import Premium, Prices
from reseller_sandbox.core.outside import ACTIONS, parameters
from reseller_sandbox.core.signatures import kind_of
from reseller_sandbox.core.values import Amount, Change
from reseller_sandbox.fixture import FixtureError, dumps, loads
from reseller_sandbox.fixture.schema import json_schema
from tests.clients import Api
from tests.registry import arrange_zone, balance
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
FINER = "1.1234567"
AMOUNTS = st.decimals(0, money.MOST - 1, allow_nan=False, allow_infinity=False, places=money.FINEST)

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


@given(amount=AMOUNTS)
def test_an_amount_written_is_read_as_the_same(amount: Decimal) -> None:
    """In both spellings, and as a JSON number of v2.0's, which is a float for most clients."""
    assert money.read(money.write(amount)) == amount
    assert money.read(money.write_in_full(amount)) == amount
    assert money.read(float(amount)) == amount


@pytest.mark.parametrize("given", ["", "x", "1_0", "١", "NaN", "inf", "1e200", None, True, [], 10**9, "1e9"])
def test_what_is_no_amount_is_refused_in_words(given: object) -> None:
    """Nothing that merely resembles a decimal number, and nothing too large to be shown exactly."""
    with pytest.raises(ValueError, match="must be"):
        money.read(given)


@pytest.mark.parametrize(("most", "more"), [("7".zfill(100), "7".zfill(101)), ("1e100", "1e101")])
def test_the_longest_amount_has_a_hundred_digits(most: str, more: str) -> None:
    """As it is written, and as it would be written out."""
    assert money.read_price(most, most=None) == Decimal(most)
    with pytest.raises(ValueError, match="must be a decimal number"):
        money.read_price(more, most=None)


@pytest.mark.parametrize("given", [FINER, Decimal(FINER), 1.1234567, "1e-7", "1e-101", f"1.{'0' * 60}1"])
def test_what_is_finer_is_refused_in_words(given: object) -> None:
    """As a text, a number or a float."""
    with pytest.raises(ValueError, match="must have at most 6 fraction digits"):
        money.read(given)


def _amounts(shape: Mapping[str, Any]) -> int:
    """How many keys within ``shape`` hold an amount."""
    if shape.get("oneOf") == [{"type": "number"}, {"type": "string"}]:
        return 1
    inner = [
        *shape.get("properties", {}).values(),
        shape.get("additionalProperties"),
        *shape.get("oneOf", ()),
    ]
    return sum(_amounts(one) for one in inner if isinstance(one, Mapping))


def test_a_fixture_takes_amounts_as_fine_as_they_are_kept() -> None:
    """Each key that holds an amount: finer is refused where it stands, the rest comes back as it was."""
    seed = loads(WORLD.format("1.123456"))
    assert loads(dumps(seed.state, seed.now)).state == seed.state
    with pytest.raises(FixtureError) as refused:
        loads(WORLD.format(FINER))
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == WORLD.count("{0}") == 13
    assert all("must have at most 6 fraction digits, not 1.1234567" in one for one in told)


@pytest.mark.parametrize(
    ("action", "told"),
    [
        *(
            ("set_prices", {"zone": "com", name: FINER})
            for name in ("registration", "renewal", "transfer", "restore", "privacy", "owner_change")
        ),
        ("set_promotion", {"zone": "com", "of": "renewal", "price": FINER, "until": "P1D"}),
        *(
            ("set_premium", {"domain": "a.com", name: FINER})
            for name in ("registration", "renewal", "transfer")
        ),
        ("adjust_balance", {"account": "main", "by": FINER}),
        ("adjust_balance", {"account": "main", "to": FINER}),
    ],
)
def test_the_other_side_is_as_fine(sandbox: Sandbox, action: str, told: dict[str, Any]) -> None:
    """Each action that is told an amount, and the same action as a plan of a fixture."""
    answer = sandbox.client().post(f"/_sandbox/outside/{action}", json=told)
    assert answer.status_code == 400
    [name] = [name for name, value in told.items() if value == FINER]
    assert f"{name} must have at most 6 fraction digits" in answer.get_json()["message"]
    plan = f"plans: {{1: {{action: {action}, at: +1d, given: {told}}}}}"
    with pytest.raises(FixtureError, match="must have at most 6 fraction digits"):
        loads(WORLD.format("1.00") + plan)


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


def _premium(sandbox: Sandbox, price: str) -> None:
    own = Premium(registration=Decimal(price), renewal=Decimal(price), transfer=Decimal(price))
    arrange_zone(sandbox, "com", premium=(("gold", own), ("rare", own), ("silver", own)))


@pytest.mark.parametrize("pay", COSTS)
def test_a_request_is_as_fine(sandbox: Sandbox, api: Api, pay: Callable[[Api, object], Any]) -> None:
    """Each way to send a purchaseCost: the shown price is accepted to its last digit, a finer one not."""
    _premium(sandbox, "1.123456")
    shown = api.post(f"{D}/checkAvailability", {"domainNames": ["rare.com"]}).json["results"][0]
    assert shown["purchaseCost"] == shown["renewalCost"] == "1.123456"
    refused = pay(api, FINER)
    assert refused.error == "invalid_parameter"
    assert "purchaseCost must have at most 6 fraction digits" in refused.message
    assert pay(api, "1.123457").error == "price_mismatch"
    assert balance(sandbox) == 10_000
    assert pay(api, shown["purchaseCost"]).json["totalPaid"] == "1.123456"


@pytest.mark.parametrize("pay", COSTS)
def test_no_price_is_too_large_to_be_sent(
    sandbox: Sandbox, api: Api, pay: Callable[[Api, object], Any]
) -> None:
    """It is compared with the right one, as any other."""
    _premium(sandbox, "999999999.999999")
    for cost in ("1000000000", "9" * 99):
        refused = pay(api, cost)
        assert refused.error == "price_mismatch"
        assert cost in refused.message


def test_v2_shows_every_digit(sandbox: Sandbox) -> None:
    """The prices of the zones are numbers, and exact ones."""
    dear = Decimal("999999999.123456")
    prices = Prices(registration=dear, renewal=dear, transfer=dear, restore=dear)
    arrange_zone(sandbox, "com", prices=prices)
    shown = connect_v2(sandbox).get("/domain/zones").json["data"]
    [com] = [one for one in shown if one["zone"] == "com"]
    assert [com[f"price_{word}"] for word in ("reg", "renew", "transfer", "restore")] == [float(dear)] * 4
    assert Decimal(str(float(dear))) == dear


def test_every_amount_of_an_action_is_tried() -> None:
    """The list above has each parameter of every action that is an amount."""
    amounts = {kind_of(Amount), kind_of(Change)}
    found = {(action, one.name) for action in ACTIONS for one in parameters(action) if one.kind in amounts}
    tried = test_the_other_side_is_as_fine.pytestmark[0].args[1]
    assert found == {(action, name) for action, told in tried for name in told if told[name] == FINER}


def test_every_amount_of_a_fixture_is_tried() -> None:
    """The world above has each key that is an amount."""
    assert _amounts(json_schema()) == 13


@pytest.mark.parametrize("sign", [1, -1])
def test_a_balance_stays_below_what_json_holds(sign: int) -> None:
    """Fifteen digits before the point; a cent below that is kept, and that itself is refused."""
    most = money.MOST_KEPT
    assert most == 10**15
    assert money.read(sign * (most - Decimal("0.01")), most) == sign * (most - Decimal("0.01"))
    with pytest.raises(ValueError, match="must be less than"):
        money.read(sign * most, most)
