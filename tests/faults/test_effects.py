"""Requests that take effect twice, answers from the past, and limits."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.faults.conftest import Dialler, Register, balance, charges
from tests.registry import Make

CREATE = "/v3/domains/createDomain"
RENEW = "/v3/domains/renewDomain"
BALANCE = "/v3/balance"


def test_a_duplicate_renews_and_charges_twice(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="duplicate", match={"operation": "v3.renewDomain"})
    answer = dial.post(RENEW, {"domain": {"domainName": "second.com"}})
    assert answer.status == 200
    assert answer.json["domain"]["expireDate"] == "2027-08-13T12:00:00Z", "the first time's answer"
    cause = answer.headers["x-sandbox-request"]
    assert charges(served, "second.com") == [(cause, "-12.00"), (f"{cause}:duplicate", "-12.00")]
    entry = served.world.journal.get(cause)
    changed = {change.table: (change.before, change.after) for change in entry.changes}
    assert changed["orders"][1].expires.year - changed["orders"][0].expires.year == 2
    assert len(entry.charges) == 2
    both = dial.control("GET", f"/ledger?request={cause}")["entries"]
    assert [one["request"] for one in both] == [cause, cause], "both are the request's"


def test_the_second_answer_to_a_duplicate(dial: Dialler, served: Sandbox, register: Register) -> None:
    served.faults.add(kind="duplicate", answer="second", match={"operation": "v3.createDomain"})
    answer = dial.post(CREATE, register("new.com"))
    assert (answer.status, answer.error) == (409, "name_taken")
    assert charges(served, "new.com") == [("r1", "-10.00")]
    entry = served.world.journal.get("r1")
    assert entry.changes, "the first time did take effect"


def test_what_guards_against_repetition_guards_against_a_duplicate(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="duplicate")
    body = {"current_expiry_date": "2026-08-13", "period": 1, "domain": "second.com"}
    assert dial.send("PUT", "/V2.0/domain/second.com/renew", body).answer().status == 200
    assert charges(served, "second.com") == [("r1", "-12.00")]


def test_a_duplicate_of_what_is_refused_is_refused(
    dial: Dialler, served: Sandbox, register: Register
) -> None:
    served.faults.add(kind="duplicate")
    assert dial.post(CREATE, register("active.com")).error == "name_taken"
    assert served.world.journal.get("r1").refused is not None
    assert balance(served) == "10000.00"


def test_stale_answers_are_from_before_the_last_commits(
    dial: Dialler, served: Sandbox, register: Register
) -> None:
    for name in ("one.com", "two.com"):
        assert dial.post(CREATE, register(name)).status == 200
        dial.get(BALANCE)  # which is no commit
    assert dial.post(CREATE, register("active.com")).status == 409  # nor is that
    seen = []
    rules: list[Any] = [{}, {"commits": 1}, {"commits": 2}, {"commits": 99}]
    for rule in rules:
        with served.faults.add(kind="stale", **rule):
            seen.append(dial.get(BALANCE).json[0]["balance"])
    assert seen == ["9990.00", "9990.00", "10000.00", "10000.00"]
    assert dial.get(BALANCE).json[0]["balance"] == "9980.00"


def test_stale_answers_change_nothing_and_strike_only_what_reads(
    dial: Dialler, served: Sandbox, register: Register
) -> None:
    dial.post(CREATE, register("new.com"))
    placed = served.faults.add(kind="stale")
    assert dial.get("/v3/domains/getDomain/new.com").error == "domain_not_found"
    asked = {"domainNames": ["new.com"]}
    assert dial.post("/v3/domains/checkAvailability", asked).json["results"][0]["status"] == "available"
    assert dial.post(CREATE, register("new.com")).error == "name_taken"
    assert (placed.matched, placed.struck) == (2, 2)
    assert charges(served, "new.com") == [("r1", "-10.00")]


def test_stale_before_anything_was_committed(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="stale")
    assert dial.get(BALANCE).status == 200


@pytest.mark.parametrize("version", ["v3", "v2"])
def test_rate_limit_in_the_time_of_the_world(dial: Dialler, served: Sandbox, version: str) -> None:
    target = BALANCE if version == "v3" else "/V2.0/domain/active.com"
    placed = served.faults.add(kind="rate_limit", limit=2, window="60s")
    assert [dial.get(target).status for _ in range(3)] == [200, 200, 429]
    served.clock.advance(20)
    answer = dial.get(target)
    assert (answer.status, answer.headers["retry-after"]) == (429, "40")
    if version == "v3":
        assert answer.error == "rate_limited"
        assert answer.message == "More than 2 requests in 60 seconds; come back in 40 seconds."
    else:
        assert answer.json["code"] == 429
    served.clock.advance(40)
    assert [dial.get(target).status for _ in range(3)] == [200, 200, 429]
    assert (placed.matched, placed.struck) == (7, 3)


def test_rate_limit_in_real_time(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="rate_limit", limit=1, window=0.2, time="real")
    assert dial.get(BALANCE).status == 200
    refused = dial.get(BALANCE)
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    served.clock.advance("P1D")
    assert served.clock.frozen
    while dial.get(BALANCE).status == 429:
        pass


def test_a_limit_is_each_accounts_own_unless_it_is_the_rules(served: Sandbox, url: str) -> None:
    main, other = Dialler(served, url), Dialler(served, url, "other")
    with served.faults.add(kind="rate_limit", limit=1):
        assert [main.get(BALANCE).status, other.get(BALANCE).status, main.get(BALANCE).status] == [
            200,
            200,
            429,
        ]
    with served.faults.add(kind="rate_limit", limit=1, per="rule"):
        assert [main.get(BALANCE).status, other.get(BALANCE).status] == [200, 429]
    main.close()
    other.close()


def test_429_stays_429_where_errors_are_answered_200(make: Make) -> None:
    sandbox = make(assume={"v3.errors.http_status": "always_200", "v2.http_status": "always_200"})
    sandbox.faults.add(kind="rate_limit", limit=0)
    assert sandbox.client().get(BALANCE).status_code == 429
    assert sandbox.client().get("/V2.0/domain/active.com").status_code == 429
