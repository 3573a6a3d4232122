"""Requests that take effect twice, answers from the past, and limits."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.faults.conftest import balance, charges, create, register
from tests.registry import Make
from tests.waiting import wait_until

BALANCE = "/v3/balance"


def test_a_duplicate_fault_renews_and_charges_twice(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("duplicate", match={"operation": "v3.renewDomain"})
    answer = client.post("/v3/domains/renewDomain", json=register("second.com"))
    assert answer.json["domain"]["expireDate"] == "2027-08-13T12:00:00Z", "the answer to the first"
    assert charges(sandbox, "second.com") == [("r1", "-12.00"), ("r1:duplicate", "-12.00")]
    assert sandbox.names["second.com"].expires.year == 2028
    assert [entry.request for entry in sandbox.ledger.list(request="r1").entries] == ["r1", "r1"]
    assert str(sandbox.journal.get("r1").charged) == "24.00"
    sandbox.faults.replace([{"kind": "duplicate", "answer": "second"}])
    refused = create(client, "new.com")
    assert (refused.status_code, refused.json["error"]) == (409, "name_taken")
    assert charges(sandbox, "new.com") == [("r2", "-10.00")]
    assert sandbox.journal.get("r2").changes, "the first registration took effect"


def test_a_duplicated_request_with_an_expiry_date_or_a_refusal_takes_effect_at_most_once(
    sandbox: Sandbox, client: Any
) -> None:
    sandbox.faults.add("duplicate")
    body = {"current_expiry_date": "2026-08-13", "period": 1, "domain": "second.com"}
    assert client.put("/V2.0/domain/second.com/renew", json=body).status_code == 200
    assert charges(sandbox, "second.com") == [("r1", "-12.00")]
    assert create(client, "active.com").json["error"] == "name_taken"
    assert sandbox.journal.get("r2").refused is not None
    assert balance(sandbox) == "9988.00"


def test_a_stale_fault_answers_from_the_state_before_the_last_commits(sandbox: Sandbox, client: Any) -> None:
    """Reads and refused requests are no commits. Before any commit there is the beginning."""
    with sandbox.faults.add("stale"):
        assert client.get(BALANCE).status_code == 200
    for name in ("one.com", "two.com"):
        assert create(client, name).status_code == 200
        client.get(BALANCE)
    assert create(client, "active.com").status_code == 409
    for rule, seen in (({}, "9990.00"), ({"commits": 2}, "10000.00"), ({"commits": 99}, "10000.00")):
        with sandbox.faults.add("stale", **rule):
            assert client.get(BALANCE).json[0]["balance"] == seen
    assert client.get(BALANCE).json[0]["balance"] == "9980.00"
    placed = sandbox.faults.add("stale")
    assert client.get("/v3/domains/getDomain/two.com").json["error"] == "domain_not_found"
    answer = client.post("/v3/domains/checkAvailability", json={"domainNames": ["two.com"]})
    assert answer.json["results"][0]["status"] == "available"
    assert create(client, "two.com").json["error"] == "name_taken"
    assert (placed.matched, placed.applied) == (2, 2)


def test_a_rate_limit_uses_the_clock_of_the_world_by_default(sandbox: Sandbox, client: Any) -> None:
    for target in (BALANCE, "/V2.0/domain/active.com"):
        sandbox.reset()
        placed = sandbox.faults.add("rate_limit", limit=2, window="60s")
        assert [client.get(target).status_code for _ in range(3)] == [200, 200, 429]
        sandbox.clock.advance(20)
        answer = client.get(target)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "40")
        if target == BALANCE:
            assert answer.json["error"] == "rate_limited"
            assert answer.json["message"] == "More than 2 requests in 60 seconds; try again in 40 seconds."
        else:
            assert answer.json["code"] == 429
        sandbox.clock.advance(40)
        assert [client.get(target).status_code for _ in range(3)] == [200, 200, 429]
        assert (placed.matched, placed.applied) == (7, 3)


def test_a_rate_limit_can_use_the_clock_of_the_machine(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("rate_limit", limit=1, window=3, time="real")
    assert client.get(BALANCE).status_code == 200
    sandbox.clock.advance("P1D")
    refused = client.get(BALANCE)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 3
    wait_until(lambda: client.get(BALANCE).status_code == 200)


def test_a_rate_limit_is_per_account_or_per_rule(sandbox: Sandbox, client: Any) -> None:
    other = sandbox.client("other")
    with sandbox.faults.add("rate_limit", limit=1):
        assert [one.get(BALANCE).status_code for one in (client, other, client)] == [200, 200, 429]
    with sandbox.faults.add("rate_limit", limit=1, per="rule"):
        assert [one.get(BALANCE).status_code for one in (client, other)] == [200, 429]


def test_a_rate_limit_answers_429_even_if_other_errors_have_status_200(make: Make) -> None:
    sandbox = make(assume={"v3.errors.http_status": "always_200", "v2.http_status": "always_200"})
    sandbox.faults.add("rate_limit", limit=0)
    for target in (BALANCE, "/V2.0/domain/active.com"):
        assert sandbox.client().get(target).status_code == 429
