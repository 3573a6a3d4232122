"""Presets of faults: each brings about what its name says, and any part of it can be told otherwise."""

from __future__ import annotations

from collections import Counter

import pytest

from reseller_sandbox import Sandbox
from tests.faults.conftest import Dialler, Register, balance, charges

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"


def test_lost_responses(dial: Dialler, served: Sandbox, register: Register) -> None:
    served.faults.preset("lost-responses", when={"times": 1})
    assert dial.get(BALANCE).status == 200, "what changes nothing gets its answer"
    assert dial.post(CREATE, register("active.com")).error == "name_taken", "and so does what is refused"
    with pytest.raises(ConnectionResetError):
        dial.send("POST", CREATE, register("new.com")).rest()
    assert balance(served) == "9990.00"
    assert "new.com" in served.world.state.holding_order
    assert dial.post(CREATE, register("new.com")).error == "name_taken"
    assert charges(served, "new.com") == [("r3", "-10.00")]
    lost = served.world.journal.get("r3")
    assert (lost.fault, lost.lost, lost.status) == ("lost-responses", True, 200)
    assert b'"totalPaid":"10.00"' in lost.answer


def test_outage(dial: Dialler, served: Sandbox, register: Register) -> None:
    with served.faults.preset("outage"):
        assert dial.send("GET", BALANCE).rest() == b""
        assert dial.send("POST", CREATE, register("new.com")).rest() == b""
    assert dial.get(BALANCE).json[0]["balance"] == "10000.00"


def test_maintenance(dial: Dialler, served: Sandbox) -> None:
    dial.control(
        "POST", "/faults", {"preset": "maintenance", "match": {"operation": "v2.*"}, "retry_after": 60}
    )
    assert dial.get(BALANCE).status == 200
    answer = dial.get("/V2.0/domain/active.com")
    assert (answer.status, answer.headers["retry-after"]) == (503, "60")
    assert answer.json == {"code": 503, "msg": answer.json["msg"], "status": False}


def test_rate_limited(dial: Dialler, served: Sandbox) -> None:
    served.faults.preset("rate-limited", limit=3)
    answers = [dial.get(BALANCE) for _ in range(5)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["retry-after"] == "60"


def test_slow(sandbox: Sandbox) -> None:
    sandbox.faults.preset("slow", median=1, name="sluggish")
    client = sandbox.client()
    for _ in range(50):
        assert client.get(BALANCE).headers["X-Sandbox-Fault"] == "sluggish"
    assert 0.5 < sorted(entry.held_up for entry in sandbox.world.journal)[25] < 2


def test_flaky(sandbox: Sandbox) -> None:
    sandbox.faults.preset("flaky")
    client = sandbox.client()
    seen: Counter[str] = Counter()
    for _ in range(400):
        try:
            answer = client.get(BALANCE)
        except ConnectionResetError:
            seen["reset"] += 1
        else:
            seen[answer.headers.get("X-Sandbox-Fault", "good")] += 1
    assert 280 < seen["good"] + seen["flaky.latency"] < 370
    assert min(seen[name] for name in ("reset", "flaky.error", "flaky.unavailable", "flaky.truncate")) > 5
    assert {rule.name: rule.struck for rule in sandbox.faults.list()}["flaky.reset"] == seen["reset"]


def test_changes_to_a_preset_go_where_they_belong(sandbox: Sandbox) -> None:
    placed = sandbox.faults.preset("flaky", name="bad", when={"chance": 0.5, "times": 2}, retry_after=9)
    rules = {rule.name: rule for rule in placed.rules}
    assert list(rules) == ["bad.error", "bad.unavailable", "bad.reset", "bad.truncate", "bad.latency"]
    assert all(rule["when"]["chance"] == 0.5 and rule["when"]["times"] == 2 for rule in rules.values())
    assert [name for name, rule in rules.items() if "retry_after" in rule] == ["bad.error", "bad.unavailable"]
