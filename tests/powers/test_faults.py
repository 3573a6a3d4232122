"""The faults of a world: over HTTP, in Python, and as a client in this process meets them."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox, connect
from tests.registry import Make

FAULTS = "/_sandbox/faults"
BALANCE = "/v3/balance"
CREATE, NEW = "/v3/domains/createDomain", {"domain": {"domainName": "new.com"}}


def test_each_call_answers_with_its_rules(make: Make, subtests: pytest.Subtests) -> None:
    """A refused call leaves the rules as they were. A null counts as no value."""
    client = make(max_faults=2).client()
    later = {"kind": "reset", "when": {"nth": 9}}
    null = {"kind": "hang", "name": None, "preset": None, "match": {"domain": None}, "when": None}
    for method, path, body, status, result in (
        ("GET", "", None, 200, []),
        ("POST", "", later, 201, ["reset"]),
        ("POST", "", {**later, "name": "shut"}, 201, ["shut"]),
        ("POST", "", later, 429, "too_many_faults"),
        ("PUT", "", {"faults": [later] * 3}, 429, "too_many_faults"),
        ("PUT", "", {"faults": [later, {"kind": "hang", "when": {"chance": 2}}]}, 400, "invalid_parameter"),
        ("POST", "", {"name": "shut", "kind": "close"}, 409, "fault_exists"),
        ("DELETE", "/gone", None, 404, "unknown_fault"),
        ("GET", "", None, 200, ["reset", "shut"]),
        ("DELETE", "/reset", None, 200, ["shut"]),
        ("PUT", "", {"faults": [null, {"preset": "outage"}]}, 200, ["hang", "outage"]),
        ("DELETE", "", None, 200, []),
        ("POST", "", null, 201, ["hang"]),
    ):
        with subtests.test(f"{method} {path} {body}"):
            answer = client.open(FAULTS + path, method=method, json=body)
            rules = answer.json.get("faults", ())
            assert answer.status_code == status
            assert (answer.json.get("error") or [rule["name"] for rule in rules]) == result
    for preset in client.get(f"{FAULTS}/presets").json["presets"]:
        placed = make().client().put(FAULTS, json={"faults": preset["rules"]}).json["faults"]
        assert [rule["kind"] for rule in placed] == [rule["kind"] for rule in preset["rules"]]


def test_the_context_manager_counts_and_removes_only_its_rules(served: Sandbox, url: str) -> None:
    for sandbox in (served, connect(url)):
        with sandbox.faults.add("error", status=599, match={"operation": "v3.*"}) as fault:
            assert served.client().get(BALANCE).status_code == 599
            assert (fault.matched, fault.struck) == (1, 1)
            assert sandbox.faults[fault.names[0]].struck == 1
            sandbox.faults.add(kind="error", status=501, name="other")
        with sandbox.faults.preset("maintenance", name="closed"):
            sandbox.faults.remove("closed")
        assert [rule.name for rule in sandbox.faults.list()] == ["other"]
        sandbox.faults.clear()
