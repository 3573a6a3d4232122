"""Rules are changed, paused, exported and restored without losing their counts."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox

BALANCE = "/v3/balance"
FAULTS = "/_sandbox/faults"


def statuses(client: Any, count: int) -> list[int]:
    return [client.get(BALANCE).status_code for _ in range(count)]


def assert_export_keeps_rules(sandbox: Sandbox) -> None:
    text = sandbox.export()
    with sandbox.fork() as again:
        again.load(text)
        assert again.faults.list() == sandbox.faults.list()


def test_a_changed_fault_rule_keeps_its_position_and_its_counts(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.replace(
        [
            {"name": "first", "kind": "error", "status": 500, "when": {"every": 2}},
            {"name": "second", "kind": "error", "status": 501},
        ]
    )
    assert statuses(client, 3) == [501, 500, 501]
    answer = client.patch(f"{FAULTS}/first", json={"changes": {"status": 502, "when": {"times": 2}}})
    rule = answer.json
    assert (rule["status"], rule["when"]) == (502, {"phase": "before", "every": 2, "times": 2})
    assert (rule["matched"], rule["applied"]) == (3, 1)
    assert statuses(client, 3) == [502, 501, 501], "the fourth match, and then it is spent"
    assert [rule.name for rule in sandbox.faults.list()] == ["first", "second"]
    changed = sandbox.faults.change("first", {"when": {"times": None}, "match": {"method": "POST"}})
    assert (changed.when, changed.match) == ({"phase": "before", "every": 2}, {"method": "POST"})


def test_a_rule_that_gets_another_kind_keeps_its_counts_but_loses_its_rate_limit_window(
    sandbox: Sandbox, client: Any
) -> None:
    sandbox.faults.add("rate_limit", name="f", limit=1)
    assert statuses(client, 2) == [200, 429]
    sandbox.faults.change("f", {"limit": 2})
    assert statuses(client, 2) == [200, 429], "the requests before the change are in the window"
    sandbox.faults.change("f", {"limit": 1})
    assert statuses(client, 1) == [429], "more requests than the limit are in the window"
    changed = sandbox.faults.change("f", {"kind": "latency", "seconds": 0})
    assert (changed.kind, changed.matched, changed.applied) == ("latency", 5, 3)
    assert "limit" not in changed
    sandbox.faults.change("f", {"kind": "rate_limit", "limit": 1})
    assert statuses(client, 2) == [200, 429]
    assert sandbox.faults.get("f").matched == 7


def test_fault_rules_without_a_name_are_named_and_numbered_by_their_kind(sandbox: Sandbox) -> None:
    names = [sandbox.faults.add("latency", seconds=1).names[0] for _ in range(3)]
    assert names == ["latency", "latency-2", "latency-3"]


def test_a_fault_rule_without_a_phase_has_the_default_phase_of_its_kind(sandbox: Sandbox) -> None:
    sandbox.faults.add("latency", seconds=1, name="f")
    assert "phase" not in sandbox.export()
    assert sandbox.faults.get("f").when == {"phase": "before"}
    assert sandbox.faults.change("f", {"kind": "truncate"}).when == {"phase": "after"}
    sandbox.faults.change("f", {"kind": "reset", "when": {"phase": "after"}})
    assert_export_keeps_rules(sandbox)


def test_a_paused_fault_rule_does_not_apply_and_keeps_its_counts(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("error", name="f", status=500, when={"times": 3})
    assert statuses(client, 2) == [500, 500]
    assert client.patch(f"{FAULTS}/f", json={"changes": {"paused": True}}).json["paused"] is True
    assert statuses(client, 2) == [200, 200]
    assert sandbox.faults.get("f").matched == 2
    assert sandbox.faults.resume("f").paused is False
    assert statuses(client, 2) == [500, 200]
    assert sandbox.faults.pause("f").paused is True
    assert all(rule.paused for rule in sandbox.faults.preset("flaky", paused=True).rules)


def test_listed_fault_rules_can_be_sent_back_and_then_have_counts_of_zero(
    sandbox: Sandbox, client: Any
) -> None:
    body = {"no": "İ: {'\"-#\x00\u2028", "many": [True, None, 10**30, 0.000000125]}
    rules = [
        {"kind": "error", "status": 500, "when": {"times": 2, "chance": 1, "until": "2040-01-01"}},
        {"kind": "reset", "paused": True, "match": {"headers": {"X-A": "b*", "X-C": None}}},
        {"kind": "rate_limit", "limit": 9, "match": {"query": {"page": "?"}, "body": {"a[*].b": body}}},
        {"kind": "bandwidth", "rate": 1000, "match": {"outcome": ["ok", "4xx"], "carried_out": True}},
        {"kind": "error", "error": "name_taken", "headers": {"X-Y": "z"}, "when": {"from": "P1D"}},
        {"kind": "error", "name": "raw", "status": 500, "body": body, "match": {"path": "/ßŉ: #"}},
        {"kind": "latency", "median": 0.00001, "sigma": 0.3},
        {"kind": "mutate", "path": "domains[0]", "value": body, "match": {"changed": True, "fault": "error"}},
    ]
    placed = client.put(FAULTS, json={"faults": rules})
    assert placed.status_code == 200, placed.json
    statuses(client, 1)
    listed = client.get(FAULTS).json["faults"]
    assert [rule["matched"] for rule in listed] == [1] + [0] * 7
    answer = client.put(FAULTS, json={"faults": listed})
    fresh = [{**rule, "matched": 0, "applied": 0} for rule in listed]
    assert answer.json["faults"] == fresh == client.get(FAULTS).json["faults"]
    assert statuses(client, 3) == [500, 500, 200]
    assert sandbox.faults["error"].exhausted
    assert_export_keeps_rules(sandbox)


def test_a_fault_rule_with_the_name_kinds_or_the_name_presets_is_refused(sandbox: Sandbox) -> None:
    """Such a rule could not be read over HTTP."""
    for name in ("kinds", "presets"):
        for make in (
            lambda: sandbox.faults.add("reset", name=name),
            lambda: sandbox.faults.replace([{"kind": "reset", "name": name}]),
            lambda: sandbox.faults.preset("outage", name=name),
            lambda: sandbox.fork().load(f"faults: {{{name}: {{kind: reset}}}}"),
        ):
            with pytest.raises(Refused, match=f"name must not be kinds or presets, not {name!r}"):
                make()
