"""Presets of faults: each has the effect of its name, and each of its parts can be changed."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import Any

import pytest
import requests
from urllib3 import Retry

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import SandboxAdapter
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


def test_a_client_that_obeys_retry_after_gets_through_each_preset_in_little_time(sandbox: Sandbox) -> None:
    token = {"X-Auth-Token": sandbox.accounts.list().accounts[0].token}
    session, retry = (
        requests.Session(),
        Retry(3, status_forcelist=[429, 503], respect_retry_after_header=True),
    )
    session.mount("https://", SandboxAdapter(sandbox, max_retries=retry))
    sandbox.faults.preset("rate-limited", time="real")
    began = monotonic()
    for _ in range(6):
        assert session.get("https://api.example.test/V2.0/domain/zones", headers=token).status_code == 200
    sandbox.faults.clear()
    sandbox.faults.preset("maintenance", when={"times": 1})
    assert session.get("https://api.example.test/V2.0/domain/zones", headers=token).status_code == 200
    assert 2 <= monotonic() - began < 20
    assert Counter(entry.status for entry in sandbox.journal.list().requests) == {200: 7, 429: 1, 503: 1}
