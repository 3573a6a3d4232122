"""Verification: how often, in which order, and what came near of what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from tests.clients import Api
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, inside, money_of, register, renew


@pytest.fixture
def lived(sandbox: Sandbox) -> Control:
    """A world in which main has registered two names and renewed the second."""
    main = inside(sandbox)
    register(main, "one.com")
    register(main, "two.com", 3)
    renew(main, "two.com")
    money_of(inside(sandbox, "other"))
    return control(sandbox)


CREATE = {"operation": "v3.createDomain"}


@pytest.mark.parametrize(
    ("wanted", "verified"),
    [
        ({"match": CREATE}, True),
        ({"match": {}}, True),
        ({"match": CREATE, "times": 2}, True),
        ({"match": CREATE, "times": 1}, False),
        ({"match": CREATE, "at_least": 2, "at_most": 2}, True),
        ({"match": CREATE, "at_least": 3}, False),
        ({"match": CREATE, "at_most": 1}, False),
        ({"match": {"operation": "v3.lock"}, "times": 0}, True),
        ({"match": {"operation": "v3.lock"}, "at_most": 3}, True),
        ({"match": {"operation": "v3.lock"}}, False),
        ({"match": {**CREATE, "body": {"years": 3}}, "times": 1}, True),
        ({"match": {**CREATE, "body": {"domain": {"domainName": "one.com"}}}, "times": 1}, True),
        ({"match": {"account": "other", "outcome": "ok", "since": "r3"}, "times": 1}, True),
        ({"in_order": [CREATE, {"operation": "v3.renew*"}, {"account": "other"}]}, True),
        ({"in_order": [CREATE, CREATE]}, True),
        ({"in_order": [CREATE, CREATE, CREATE]}, False),
        ({"in_order": [{"account": "other"}, CREATE]}, False),
        ({"in_order": []}, True),
    ],
)
def test_counts_and_orders(lived: Control, wanted: dict[str, Any], verified: bool) -> None:
    """Each expectation is met or not, and the answer is a success either way."""
    assert lived.post("journal/verify", wanted)["verified"] is verified


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({}, "at least 1"),
        ({"times": 4}, "exactly 4"),
        ({"at_least": 4}, "at least 4"),
        ({"at_most": 1}, "at most 1"),
        ({"at_least": 0, "at_most": 1}, "at most 1"),
        ({"at_least": 3, "at_most": 5}, "between 3 and 5"),
        ({"at_least": 4, "at_most": 4}, "exactly 4"),
    ],
)
def test_how_many_were_expected_is_told(lived: Control, bounds: dict[str, int], told: str) -> None:
    """Beside how many came."""
    verdict = lived.post("journal/verify", {"match": CREATE, **bounds})
    assert verdict["message"] == f"{told} expected, 2 came"


def test_near_misses_say_in_what_they_missed(lived: Control) -> None:
    """The requests of the same operation that missed least come first, each with what was other."""
    match = {**CREATE, "account": "main", "body": {"years": 3, "domain": {"domainName": "one.com"}}}
    verdict = lived.post("journal/verify", {"match": match})
    assert (verdict["verified"], verdict["count"]) == (False, 0)
    assert verdict["message"] == "at least 1 expected, 0 came"
    first, second = verdict["near_misses"][:2]
    assert first["request"]["id"] == "r2"
    assert first["misses"] == [{"what": "body.domain.domainName", "expected": "one.com", "actual": "two.com"}]
    assert second["request"]["id"] == "r1"
    assert second["misses"] == [{"what": "body.years", "expected": 3, "actual": 1}]


def test_what_is_most_like_it_comes_near(lived: Control) -> None:
    """Of requests that miss as much, the one whose own is the most like what was expected."""
    for domain, near in (("tow.com", "r2"), ("onne.com", "r1")):
        verdict = lived.post("journal/verify", {"match": {**CREATE, "domain": domain, "method": "POST"}})
        assert verdict["near_misses"][0]["request"]["id"] == near


def test_where_an_order_broke(lived: Control) -> None:
    """The answer names the first that did not come, after which, and what came there instead."""
    verdict = lived.post(
        "journal/verify", {"in_order": [{"operation": "v3.renew*"}, {**CREATE, "domain": "one.com"}]}
    )
    assert verdict["message"] == "the expected request number 2 did not come after r3"
    assert [one["id"] for one in verdict["requests"]] == ["r3"]
    assert [one["request"]["id"] for one in verdict["near_misses"]] == ["r4"]


def test_a_secret_may_be_expected_but_is_not_shown(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """A code can be verified; a near miss says only that it was another."""
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "sesame"})
    right, wrong = ({"match": {"body": {"authCode": code}}} for code in ("sesame", "mustard"))
    assert steer.post("journal/verify", right)["verified"]
    verdict = steer.post("journal/verify", wrong)
    misses = [miss for near in verdict["near_misses"] for miss in near["misses"]]
    assert misses == [{"what": "body.authCode", "expected": "***", "actual": "***"}]


def test_what_was_dropped_is_said() -> None:
    """Where the journal has forgotten requests, a verdict that fails says so."""
    sandbox = Sandbox(REGISTRY, journal=1)
    api = inside(sandbox)
    register(api, "one.com")
    money_of(api)
    verdict = control(sandbox).post("journal/verify", {"match": CREATE})
    assert "dropped 1 older" in verdict["message"]


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"match": {}, "in_order": []},
        {"in_order": [], "times": 1},
        {"match": {"operatoin": "x"}},
        {"match": {"operation": "v3.creatDomain"}, "times": 0},
        {"match": {"outcome": "fine"}},
        {"match": {}, "times": 1, "at_least": 1},
        {"match": {}, "at_least": 3, "at_most": 2},
        {"match": {}, "times": -1},
        {"match": {}, "times": "one"},
        {"match": []},
        {"in_order": 7},
        {"in_order": [{"operatoin": "x"}]},
    ],
)
def test_an_expectation_that_makes_no_sense(lived: Control, wanted: dict[str, Any]) -> None:
    """It is refused, so that a misspelt one does not pass for a good one."""
    assert lived.refused("POST", "journal/verify", wanted)[:2] == (400, "invalid_parameter")


def test_in_python_it_asserts(sandbox: Sandbox, main: Api) -> None:
    """A test asserts with one call; when it fails the message shows what came near."""
    register(main, "one.com")
    renew(main, "one.com")
    assert [entry.id for entry in sandbox.journal.expect(operation="v3.createDomain", times=1)] == ["r1"]
    sandbox.journal.expect_in_order({"operation": "v3.create*"}, {"operation": "v3.renew*"})
    with pytest.raises(AssertionError) as failed:
        sandbox.journal.expect(operation="v3.createDomain", body={"years": 2})
    assert "at least 1 expected, 0 came" in str(failed.value)
    assert "near: r1 v3.createDomain one.com by main: ok: body.years is 1, not 2" in str(failed.value)
    with pytest.raises(AssertionError, match="exactly 3 expected, 1 came"):
        sandbox.journal.expect(operation="v3.createDomain", times=3)
    with pytest.raises(Refused, match="operatoin"):
        sandbox.journal.expect(**{"operatoin": "v3.createDomain"})
