"""Rules are changed, paused and given again without losing their counts."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox

BALANCE = "/v3/balance"
FAULTS = "/_sandbox/faults"


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def statuses(client: Any, count: int) -> list[int]:
    return [client.get(BALANCE).status_code for _ in range(count)]


def test_a_changed_rule_keeps_its_place_and_its_counts(sandbox: Sandbox, client: Any) -> None:
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
    assert (rule["matched"], rule["struck"]) == (3, 1)
    assert statuses(client, 3) == [502, 501, 501], "the fourth match, and then it is spent"
    assert [rule.name for rule in sandbox.faults.list()] == ["first", "second"]
    changed = sandbox.faults.change("first", {"when": {"times": None}, "match": {"method": "POST"}})
    assert (changed.when, changed.match) == ({"phase": "before", "every": 2}, {"method": "POST"})


def test_another_kind_has_its_own_parameters_and_keeps_the_counts(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("error", name="f", status=500)
    statuses(client, 2)
    changed = sandbox.faults.change("f", {"kind": "latency", "seconds": 0})
    assert (changed.kind, changed.struck) == ("latency", 2)
    assert "status" not in changed


def test_a_paused_rule_does_not_apply_and_keeps_its_counts(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("error", name="f", status=500, when={"times": 3})
    assert statuses(client, 2) == [500, 500]
    assert client.patch(f"{FAULTS}/f", json={"changes": {"paused": True}}).json["paused"] is True
    assert statuses(client, 2) == [200, 200]
    assert sandbox.faults.get("f").matched == 2
    assert sandbox.faults.resume("f").paused is False
    assert statuses(client, 2) == [500, 200]
    sandbox.faults.replace([{"kind": "close", "paused": True}])
    assert statuses(client, 1) == [200]
    assert sandbox.faults.pause("close").paused is True
    assert all(rule.paused for rule in sandbox.faults.preset("flaky", paused=True).rules)


def test_a_bad_change_changes_nothing(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("error", name="f", status=500)
    before = sandbox.faults.list()
    for changes in (
        {"status": 99},
        {"when": {"nth": 0}},
        {"name": "other"},
        {"kind": "none"},
        {"colour": "red"},
    ):
        assert client.patch(f"{FAULTS}/f", json={"changes": changes}).status_code == 400
        with pytest.raises(Refused, match="invalid_parameter"):
            sandbox.faults.change("f", changes)
    assert sandbox.faults.list() == before
    assert client.patch(f"{FAULTS}/gone", json={"changes": {}}).json["error"] == "unknown_fault"


def test_listed_rules_can_be_given_again_with_their_counts(sandbox: Sandbox, client: Any) -> None:
    rules = [
        {"kind": "error", "status": 500, "when": {"times": 2}, "name": "twice"},
        {"kind": "reset", "paused": True, "match": {"headers": {"X-A": "b*", "X-C": None}}},
        {
            "kind": "rate_limit",
            "limit": 9,
            "match": {"query": {"page": "?"}, "body": {"a[*].b": {"c": "d*"}}},
        },
        {"kind": "bandwidth", "rate": 1000, "match": {"outcome": ["ok", "4xx"], "carried_out": True}},
        {
            "kind": "error",
            "error": "name_taken",
            "headers": {"X-Y": "z"},
            "when": {"nth": [1], "from": "P1D"},
        },
    ]
    assert client.put(FAULTS, json={"faults": rules}).status_code == 200
    statuses(client, 1)
    listed = client.get(FAULTS).json["faults"]
    assert [rule["matched"] for rule in listed] == [1, 0, 0, 0, 0]
    answer = client.put(FAULTS, json={"faults": listed})
    assert answer.json["faults"] == listed == client.get(FAULTS).json["faults"]
    assert statuses(client, 2) == [500, 200]
    again = sandbox.fork()
    again.load(sandbox.export())
    assert again.faults.list() == sandbox.faults.list()


def test_from_and_until_take_a_length_of_time(sandbox: Sandbox, client: Any) -> None:
    """Added to the world's time, in Python and over HTTP."""
    given = {"from": "P1D", "until": "36h"}
    for place in (
        lambda: sandbox.faults.add("error", name="f", status=500, when=given),
        lambda: client.post(FAULTS, json={"kind": "error", "name": "f", "status": 500, "when": given}),
    ):
        sandbox.reset()
        place()
        assert statuses(client, 1) == [200]
        sandbox.clock.advance("P1D")
        assert statuses(client, 1) == [500]
        sandbox.clock.advance("12h")
        assert statuses(client, 1) == [200]
        assert sandbox.faults.get("f").when["from"].endswith("T12:00:00Z")


def test_every_get_of_control_refuses_unknown_query_elements(sandbox: Sandbox, client: Any) -> None:
    paths = client.get("/_sandbox/openapi/control.json").json["paths"]
    targets = [path for path, row in paths.items() if "get" in row]
    assert len(targets) > 10
    for path in targets:
        answer = client.get(path.replace("{document}", "v3"), query_string={"colour": "red"})
        if answer.status_code != 404:
            assert (answer.status_code, answer.json["error"]) == (400, "invalid_parameter"), path
            assert "colour" in answer.json["message"], path
