"""Orders that were placed again blindly, and premium names whose price was never sent."""

from __future__ import annotations

import pytest

from tests.clients import Api

DOMAINS = "/v3/domains"
NEW = {"domain": {"domainName": "new.com"}}
THEIRS = {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}


def order(api: Api, operation: str, body: object) -> str:
    """Send an order; the request's id."""
    return api.post(f"{DOMAINS}/{operation}", body).headers["x-sandbox-request"]


@pytest.mark.parametrize(
    ("rule", "operation", "body", "name", "cost"),
    [
        ("registration_repeated", "createDomain", NEW, "new.com", "10.00"),
        ("transfer_repeated", "requestTransfer", THEIRS, "theirs.com", "9.00"),
    ],
)
class TestAnOrderWhoseAnswerWasLost:
    """The order took effect, and the client does not know."""

    def test_and_that_was_placed_again(self, wire: Api, advice, lose, rule, operation, body, name, cost):
        """The money was taken for a name that the client takes for refused."""
        first = order(wire, operation, body)
        again = [order(wire, operation, body) for _ in range(2)]
        lose(first)
        (found,) = advice()
        assert found["rule"] == rule
        assert (found["domains"], found["amount"]) == ([name], cost)
        assert found["entries"] == [first, *again]
        assert first in found["summary"]

    def test_and_was_looked_for_first(self, wire: Api, advice, lose, rule, operation, body, name, cost):
        """Whoever reads the name before the repetition knows what has become of it."""
        first = order(wire, operation, body)
        wire.get(f"{DOMAINS}/getDomain/{name}")
        order(wire, operation, body)
        lose(first)
        assert advice() == []

    def test_but_was_not(self, wire: Api, advice, rule, operation, body, name, cost):
        """With the answer there, the repetition is a mistake that costs nothing."""
        order(wire, operation, body)
        order(wire, operation, body)
        assert advice() == []

    def test_and_another_account_that_wants_the_name(
        self, wire: Api, other_wire: Api, advice, lose, rule, operation, body, name, cost
    ):
        """Its refusal has nothing to do with the lost answer."""
        first = order(wire, operation, body)
        order(other_wire, operation, body)
        lose(first)
        assert advice() == []


def test_a_premium_name_ordered_again_and_again_without_its_price(wire: Api, advice):
    """Nothing was ever ordered."""
    gold = {"domain": {"domainName": "silver.com"}, "authCode": "let-me-in"}
    entries = [order(wire, "requestTransfer", gold) for _ in range(2)]
    (found,) = advice()
    assert (found["rule"], found["amount"], found["entries"]) == ("premium_without_price", None, entries)
    assert "30.00" in found["summary"]


def test_a_premium_name_that_got_its_price_in_the_end(wire: Api, advice):
    """Neither is a price forgotten once, nor one that was sent at last, worth a word."""
    renewal = {"domain": {"domainName": "gold.com"}}
    assert wire.post(f"{DOMAINS}/renewDomain", renewal).error == "premium_cost_required"
    assert advice() == []
    assert wire.post(f"{DOMAINS}/renewDomain", renewal).error == "premium_cost_required"
    assert wire.post(f"{DOMAINS}/renewDomain", {**renewal, "purchaseCost": "300.00"}).status == 200
    assert advice() == []
