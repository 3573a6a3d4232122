"""Presets of faults: each has the effect of its name, and each of its parts can be changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.faults.conftest import balance, charges, register

BALANCE = "/v3/balance"


def create(sandbox: Sandbox, name: str) -> Any:
    return sandbox.client().post("/v3/domains/createDomain", json=register(name))


def test_the_preset_lost_responses_carries_out_changes_but_sends_no_response(sandbox: Sandbox) -> None:
    sandbox.faults.preset("lost-responses", when={"times": 1})
    assert sandbox.client().get(BALANCE).status_code == 200
    assert create(sandbox, "active.com").json["error"] == "name_taken"
    with pytest.raises(ConnectionResetError):
        create(sandbox, "new.com")
    assert balance(sandbox) == "9990.00"
    assert create(sandbox, "new.com").json["error"] == "name_taken"
    assert charges(sandbox, "new.com") == [("r3", "-10.00")]
    lost = sandbox.journal.get("r3")
    assert (lost.fault, lost.answer.lost, lost.status) == ("lost-responses", True, 200)
    assert lost.answer.body["totalPaid"] == "10.00"


def test_the_preset_flaky_fails_about_one_request_in_five(sandbox: Sandbox) -> None:
    placed = sandbox.faults.preset("flaky", name="bad", when={"times": 200}, retry_after=9)
    assert [rule.name for rule in placed.rules if "retry_after" in rule] == ["bad.error", "bad.unavailable"]
    client = sandbox.client()
    seen: Counter[str] = Counter()
    for _ in range(200):
        try:
            answer = client.get(BALANCE)
        except ConnectionResetError:
            seen["bad.reset"] += 1
        else:
            seen.update(answer.headers.get("X-Sandbox-Fault", "good").split(", "))
    assert 120 < seen["good"] < 190
    for rule in placed.rules:
        assert seen[rule.name] == rule.applied > 2
        assert rule.when["times"] == 200
