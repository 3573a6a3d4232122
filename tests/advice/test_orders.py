"""Orders that were placed again blindly, and premium names whose price was never sent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.advice.conftest import Advice, Lose
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

    def test_and_that_was_placed_again(
        self,
        wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """The money was taken for a name that the client takes for refused."""
        lose(f"v3.{operation}")
        entries = [order(wire, operation, body) for _ in range(3)]
        (found,) = advice()
        assert (found["rule"], found["severity"]) == (rule, "money")
        assert (found["domains"], found["amount"]) == ([name], cost)
        assert found["entries"] == entries
        assert entries[0] in found["summary"]

    def test_by_a_library_that_repeats_by_itself(
        self,
        wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """The connection was reset; so it opened another and sent the same again."""
        lose(f"v3.{operation}", kind="reset")
        assert wire.post(f"{DOMAINS}/{operation}", body).status >= 400
        assert [one["rule"] for one in advice()] == [rule]

    @pytest.mark.parametrize(
        "late",
        [
            {"kind": "latency", "seconds": 0.01},
            {"kind": "drip", "size": 500, "pause": 0.01},
            {"kind": "bandwidth", "rate": 100_000},
        ],
        ids=lambda late: late["kind"],
    )
    def test_because_it_came_late(
        self,
        wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
        late: dict[str, Any],
    ) -> None:
        """Whoever waited less long than it took has lost it, by whichever kind that slows an answer."""
        lose(f"v3.{operation}", **late)
        entries = [order(wire, operation, body) for _ in range(2)]
        assert [(one["rule"], one["entries"]) for one in advice()] == [(rule, entries)]

    def test_and_was_looked_for_first(
        self,
        wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """Whoever reads the name before the repetition knows what has become of it."""
        lose(f"v3.{operation}")
        order(wire, operation, body)
        wire.get(f"{DOMAINS}/getDomain/{name}")
        order(wire, operation, body)
        assert advice() == []

    def test_but_was_not(
        self,
        wire: Api,
        advice: Advice,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """With the answer there, the repetition is a mistake that costs nothing."""
        order(wire, operation, body)
        order(wire, operation, body)
        assert advice() == []

    def test_before_it_took_effect(
        self,
        wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """Then it is right to place it again."""
        lose(f"v3.{operation}", kind="error", error="internal_error", when={"phase": "before", "times": 1})
        order(wire, operation, body)
        order(wire, operation, body)
        assert advice() == []

    def test_and_another_account_that_wants_the_name(
        self,
        wire: Api,
        other_wire: Api,
        advice: Advice,
        lose: Lose,
        rule: str,
        operation: str,
        body: dict[str, Any] | None,
        name: str,
        cost: str,
    ) -> None:
        """Its refusal has nothing to do with the lost answer."""
        lose(f"v3.{operation}")
        order(wire, operation, body)
        order(other_wire, operation, body)
        assert [one["rule"] for one in advice()] == ["lost_answer_ignored"]


def test_a_premium_name_ordered_again_and_again_without_its_price(wire: Api, advice: Advice) -> None:
    """Nothing was ever ordered."""
    copper = {"domain": {"domainName": "copper.com"}}
    entries = [order(wire, "createDomain", copper) for _ in range(2)]
    (found,) = advice()
    assert (found["rule"], found["amount"], found["entries"]) == ("premium_without_price", None, entries)
    assert "20.00" in found["summary"]


def test_a_premium_name_that_got_its_price_in_the_end(wire: Api, advice: Advice) -> None:
    """Neither is a price forgotten once, nor one that was sent at last, worth a word."""
    tin = {"domain": {"domainName": "tin.com"}}
    assert wire.post(f"{DOMAINS}/createDomain", tin).error == "premium_cost_required"
    assert advice() == []
    assert wire.post(f"{DOMAINS}/createDomain", tin).error == "premium_cost_required"
    assert wire.post(f"{DOMAINS}/createDomain", {**tin, "purchaseCost": "15.00"}).status == 200
    assert advice() == []
