"""Verification: how often and in which order requests came, and which requests nearly match."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.worlds.control import Control, control, inside, money_of, register, renew

CREATE = {"operation": "v3.createDomain"}


@pytest.fixture
def lived(sandbox: Sandbox) -> Control:
    """A world in which main has registered two names and renewed the second."""
    main = inside(sandbox)
    register(main, "one.com")
    register(main, "two.com", 3)
    renew(main, "two.com")
    money_of(inside(sandbox, "other"))
    return control(sandbox)


def test_counts_and_orders_are_verified(lived: Control) -> None:
    """The message of a wrong count has the expected and the actual count."""
    lock = {"operation": "v3.lock"}
    three, first = {**CREATE, "body": {"years": 3}}, {**CREATE, "body": {"domain": {"domainName": "one.com"}}}
    cases: list[tuple[dict[str, Any], bool | str]] = [
        ({"match": CREATE}, True),
        ({"match": {}}, True),
        ({"match": CREATE, "times": 2}, True),
        ({"match": CREATE, "times": 1}, "exactly 1 expected, 2 came"),
        ({"match": CREATE, "at_least": 3}, "at least 3 expected, 2 came"),
        ({"match": CREATE, "at_least": 3, "at_most": 5}, "between 3 and 5 expected, 2 came"),
        ({"match": CREATE, "at_most": 3}, True),
        ({"match": CREATE, "at_most": 1}, "at most 1 expected, 2 came"),
        ({"match": lock, "times": 0}, True),
        ({"match": lock}, "at least 1 expected, 0 came"),
        ({"match": three, "times": 1}, True),
        ({"match": first, "times": 1}, True),
        ({"match": {"account": "other", "outcome": "ok", "since": "r3"}, "times": 1}, True),
        ({"in_order": [CREATE, {"operation": "v3.renew*"}, {"account": "other"}]}, True),
        ({"in_order": [CREATE, CREATE]}, True),
        ({"in_order": [CREATE, CREATE, CREATE]}, "the expected request number 3 did not come after r2"),
        ({"in_order": [{"account": "other"}, CREATE]}, "the expected request number 2 did not come after r4"),
        ({"in_order": []}, True),
    ]
    verdicts = [lived.post("journal/verify", wanted) for wanted, _ in cases]
    for (wanted, expected), verdict in zip(cases, verdicts, strict=True):
        assert (verdict["verified"] or verdict["message"]) == expected, wanted


def test_near_misses_show_the_parts_that_differ(lived: Control) -> None:
    """The requests of the operation that differ least come first."""
    match = {**CREATE, "account": "main", "body": {"years": 3, "domain": {"domainName": "one.com"}}}
    verdict = lived.post("journal/verify", {"match": match})
    assert (verdict["verified"], verdict["count"]) == (False, 0)
    assert [(one["request"]["id"], one["misses"]) for one in verdict["near_misses"][:2]] == [
        ("r2", [{"what": "body.domain.domainName", "expected": "one.com", "actual": "two.com"}]),
        ("r1", [{"what": "body.years", "expected": 3, "actual": 1}]),
    ]
    for domain, near in (("tow.com", "r2"), ("onne.com", "r1")):
        verdict = lived.post("journal/verify", {"match": {**CREATE, "domain": domain, "method": "POST"}})
        assert verdict["near_misses"][0]["request"]["id"] == near


def test_a_broken_order_shows_the_first_request_that_is_missing(lived: Control) -> None:
    wanted = [{"operation": "v3.renew*"}, {**CREATE, "domain": "one.com"}]
    verdict = lived.post("journal/verify", {"in_order": wanted})
    assert [one["id"] for one in verdict["requests"]] == ["r3"]
    assert [one["request"]["id"] for one in verdict["near_misses"]] == ["r4"]


def test_a_secret_can_be_expected_and_is_not_shown(steer: Control, main: Api) -> None:
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "sesame"})
    right, wrong = ({"match": {"body": {"authCode": code}}} for code in ("sesame", "mustard"))
    assert steer.post("journal/verify", right)["verified"]
    verdict = steer.post("journal/verify", wrong)
    misses = [miss for near in verdict["near_misses"] for miss in near["misses"]]
    assert misses == [{"what": "body.authCode", "expected": "***", "actual": "***"}]


def test_an_expectation_in_python_raises_an_error_that_shows_near_misses(sandbox: Sandbox, main: Api) -> None:
    register(main, "one.com")
    renew(main, "one.com")
    journal = sandbox.journal
    assert [entry.id for entry in journal.expect(operation="v3.createDomain", times=1)] == ["r1"]
    journal.expect_in_order({"operation": "v3.create*"}, {"operation": "v3.renew*"})
    near = r"at least 1 expected, 0 came[^$]*r1 v3.createDomain one.com by main: ok: body.years is 1, not 2"
    with pytest.raises(AssertionError, match=near):
        journal.expect(operation="v3.createDomain", body={"years": 2})
    with pytest.raises(Refused, match="operatoin"):
        journal.expect(**{"operatoin": "v3.createDomain"})
    sandbox.faults.add("reset", name="lost", when={"phase": "after"})
    with pytest.raises(ConnectionResetError):
        sandbox.client().get("/v3/balance")
    with pytest.raises(AssertionError, match=r"r3 .*: fault, though carried out \(fault lost\)"):
        journal.expect(operation="v3.balance", outcome="ok")
