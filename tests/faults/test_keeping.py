"""Rules are changed, paused and given again without losing what they have counted."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from tests.faults.conftest import Dialler

BALANCE = "/v3/balance"
FAULTS = "/_sandbox/faults"


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def statuses(client: Any, count: int) -> list[int]:
    return [client.get(BALANCE).status_code for _ in range(count)]


def test_a_rule_is_changed_and_goes_on_counting(sandbox: Sandbox, client: Any) -> None:
    """Each part by itself; it keeps its place, and the others theirs."""
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


def test_another_kind_comes_with_parameters_of_its_own(sandbox: Sandbox, client: Any) -> None:
    """Those of the kind before are gone; the counts are not."""
    sandbox.faults.add("error", name="f", status=500)
    statuses(client, 2)
    changed = sandbox.faults.change("f", {"kind": "latency", "seconds": 0})
    assert (changed.kind, changed.struck) == ("latency", 2)
    assert "status" not in changed


def test_a_paused_rule_strikes_nothing_and_keeps_its_count(sandbox: Sandbox, client: Any) -> None:
    """Until it is let go on; it can begin paused, too."""
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


@pytest.mark.parametrize(
    "changes", [{"status": 99}, {"when": {"nth": 0}}, {"name": "other"}, {"kind": "none"}, {"colour": "red"}]
)
def test_a_bad_change_changes_nothing(sandbox: Sandbox, client: Any, changes: dict[str, Any]) -> None:
    """Every mistake is told, in Python as over HTTP."""
    sandbox.faults.add("error", name="f", status=500)
    before = sandbox.faults.list()
    assert client.patch(f"{FAULTS}/f", json={"changes": changes}).status_code == 400
    with pytest.raises(Refused, match="invalid_parameter"):
        sandbox.faults.change("f", changes)
    assert sandbox.faults.list() == before
    assert client.patch(f"{FAULTS}/gone", json={"changes": {}}).json["error"] == "unknown_fault"


def test_what_is_answered_can_be_given_again(sandbox: Sandbox, client: Any) -> None:
    """Whole, with counts, pauses and all: the world strikes on as if nothing had been."""
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


@pytest.mark.parametrize(
    ("when", "spent_after"), [({"nth": 2}, 2), ({"nth": [3, 1]}, 3), ({"times": 2}, 2), ({"every": 2}, None)]
)
def test_a_rule_that_will_not_strike_again_is_spent(
    sandbox: Sandbox, client: Any, when: dict[str, Any], spent_after: int | None
) -> None:
    """Whatever it is that leaves it nothing to strike."""
    sandbox.faults.add("error", name="f", status=500, when=when)
    for number in range(1, 5):
        statuses(client, 1)
        spent = spent_after is not None and number >= spent_after
        assert sandbox.faults.get("f").spent is spent
    if spent_after is not None:
        assert statuses(client, 3) == [200, 200, 200]


def test_from_and_until_take_a_length_of_time(sandbox: Sandbox, client: Any) -> None:
    """Ahead of the world's clock, as ``at`` of a plan does, through either door."""
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


def test_creating_answers_201(dial: Dialler) -> None:
    """A fault, a snapshot and a world alike."""
    for path, body in (
        ("faults", {"kind": "close", "paused": True}),
        ("snapshots", {"name": "s"}),
        ("worlds/fork", {}),
    ):
        assert dial.post(f"/_sandbox/{path}", body).status == 201


def test_every_get_of_control_knows_its_query(sandbox: Sandbox, client: Any) -> None:
    """An element that it does not know is refused by name, so that none is ignored."""
    paths = client.get("/_sandbox/openapi/control.json").json["paths"]
    asked = [path for path, row in paths.items() if "get" in row]
    assert len(asked) > 10
    for path in asked:
        answer = client.get(path.replace("{document}", "v3"), query_string={"colour": "red"})
        if answer.status_code != 404:
            assert (answer.status_code, answer.json["error"]) == (400, "invalid_parameter"), path
            assert "colour" in answer.json["message"], path
