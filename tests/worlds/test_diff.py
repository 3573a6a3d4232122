"""The difference between two points: which records changed, and how."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.worlds.control import Control, register, renew


def _changes(difference: dict[str, Any], table: str) -> dict[Any, Any]:
    return {
        one["key"]: (one["change"], one["fields"]) for one in difference["changes"] if one["table"] == table
    }


def test_a_request_and_its_difference_say_the_same(steer: Control, main: Api) -> None:
    """Between before and after a request lies what the journal says it changed."""
    renew(main, "active.com", 2)
    [entry] = steer.get("journal")["requests"]
    difference = steer.get("history/diff", **{"from": "before:r1", "to": "after:r1"})

    def key(one: dict[str, Any]) -> tuple[str, str]:
        return one["table"], str(one["key"])

    assert sorted(difference["changes"], key=key) == sorted(entry["changes"], key=key)
    [(change, fields)] = [one for one in _changes(difference, "orders").values() if "expires" in one[1]]
    assert change == "changed"
    assert fields["expires"] == {"before": "2026-11-21T12:00:00Z", "after": "2028-11-21T12:00:00Z"}
    assert _changes(difference, "accounts")[1001][1] == {
        "balance": {"before": "10000.00", "after": "9970.00"}
    }


def test_from_another_world(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """As it is now, in either direction; one that is not there is named."""
    steer.post("worlds/fork", {"name": "beside"})
    register(main, "one.com")
    for points in ({"from": "world:beside", "to": "now"}, {"from": "now", "to": "world:beside"}):
        difference = steer.get("history/diff", **points)
        [(change, fields)] = _changes(difference, "orders").values()
        assert (change, "one.com") in (
            ("created", fields["name"]["after"]),
            ("deleted", fields["name"]["before"]),
        )
        assert difference["from"]["point"] == points["from"]
    status, error, _ = steer.refused("GET", "history/diff?from=world:nowhere")
    assert (status, error) == (404, "unknown_world")


def test_between_any_two_points(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """From the start to now, to a snapshot, to a branch; the other way round it is turned round."""
    register(main, "one.com")
    steer.post("snapshots", {"name": "one"})
    register(main, "two.com")
    branch = steer.post("history/rewind", {"request": "r2"})["branch"]["name"]

    def names(earlier: str, later: str) -> list[tuple[str, str]]:
        orders = _changes(steer.get("history/diff", **{"from": earlier, "to": later}), "orders").values()
        return [(kind, one["name"]["before"] or one["name"]["after"]) for kind, one in orders]

    assert names("start", "snapshot:one") == [("created", "one.com")]
    assert names("snapshot:one", "now") == []
    assert names("now", f"branch:{branch}") == [("created", "two.com")]
    assert names(f"branch:{branch}", "now") == [("deleted", "two.com")]
    assert names("start", f"branch:{branch}") == [("created", "one.com"), ("created", "two.com")]
    assert [one.key for one in sandbox.diff("start", "now").changes if one.table == "orders"]


def test_time_and_assumptions_differ_as_settings(sandbox: Sandbox, steer: Control) -> None:
    """What is no record is listed beside the records."""
    sandbox.clock.advance("2d")
    sandbox.world.assume(sandbox.world.assumptions.with_values({"v3.ids": "integer"}))
    found = steer.get("history/diff")
    assert found["settings"] == [
        {"name": "clock.now", "before": "2026-03-01T12:00:00Z", "after": "2026-03-03T12:00:00Z"},
        {"name": "assume.v3.ids", "before": "string", "after": "integer"},
    ]
    assert (found["from"]["point"], found["to"]["point"]) == ("start", "now")


def test_fault_rules_differ_as_settings(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """Those that were added, taken away or have counted on, and their order."""
    sandbox.faults.replace([{"name": "a", "kind": "latency", "seconds": 0}, {"name": "b", "kind": "reset"}])
    steer.post("snapshots", {"name": "armed"})
    sandbox.faults.remove("b")
    main.get("/v3/balance")
    sandbox.faults.add(name="c", kind="close")
    found = {one["name"]: one for one in steer.get("history/diff", **{"from": "snapshot:armed"})["settings"]}
    assert found.keys() == {"faults.a", "faults.b", "faults.c"}
    assert (found["faults.a"]["before"].get("matched"), found["faults.a"]["after"]["matched"]) == (None, 1)
    assert (found["faults.b"]["before"]["kind"], found["faults.b"]["after"]) == ("reset", None)
    assert (found["faults.c"]["before"], found["faults.c"]["after"]["kind"]) == (None, "close")
    steer.post("snapshots", {"name": "later"})
    sandbox.faults.replace([])
    assert {one["after"] for one in steer.get("history/diff", **{"from": "snapshot:later"})["settings"]} == {
        None
    }


def test_secrets_are_masked_but_that_they_changed_is_seen(steer: Control, main: Api) -> None:
    """A new authorization code shows as a change of a value that nobody reads."""
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "open-sesame"})
    [(_, fields)] = _changes(steer.get("history/diff"), "orders").values()
    assert fields == {"auth_code": {"before": "***", "after": "***"}}


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("from=never", "unknown_point"),
        ("from=before:", "unknown_point"),
        ("to=after:r1", "unknown_request"),
        ("to=snapshot:x", "unknown_snapshot"),
        ("to=branch:b7", "unknown_branch"),
        ("since=start", "invalid_parameter"),
    ],
)
def test_a_point_that_is_none(steer: Control, query: str, error: str) -> None:
    """Each mistake is told as what it is."""
    assert steer.refused("GET", f"history/diff?{query}")[1] == error


def test_the_document_names_what_the_server_takes() -> None:
    """What a point is asked for by is documented under the name that is sent."""
    content = document("control").content
    told = {one["name"] for one in content["paths"]["/_sandbox/history/diff"]["get"]["parameters"]}
    assert {"from", "to"} <= told
    assert not told & {"earlier", "later"}
