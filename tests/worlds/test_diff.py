"""The difference between two points: which records and settings changed, and how."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.worlds.control import Control, register, renew


def changes(difference: dict[str, Any], table: str) -> dict[Any, Any]:
    """Return kind and fields of the changes in a table, by key."""
    rows = [row for row in difference["changes"] if row["table"] == table]
    return {row["key"]: (row["change"], row["fields"]) for row in rows}


def test_a_request_and_its_difference_are_equal(steer: Control, main: Api) -> None:
    renew(main, "active.com", 2)
    [entry] = steer.get("journal")["requests"]
    difference = steer.get("history/diff", **{"from": "before:r1", "to": "after:r1"})

    def key(row: dict[str, Any]) -> tuple[str, str]:
        return row["table"], str(row["key"])

    assert sorted(difference["changes"], key=key) == sorted(entry["changes"], key=key)
    [(change, fields)] = [row for row in changes(difference, "orders").values() if "expires" in row[1]]
    assert change == "changed"
    assert fields["expires"] == {"before": "2026-11-21T12:00:00Z", "after": "2028-11-21T12:00:00Z"}
    assert changes(difference, "accounts")[1001][1] == {"balance": {"before": "10000.00", "after": "9970.00"}}


def test_any_two_points_have_a_difference(sandbox: Sandbox, steer: Control, main: Api) -> None:
    steer.post("worlds/fork", {"name": "beside"})
    register(main, "one.com")
    steer.post("snapshots", {"name": "one"})
    register(main, "two.com")
    branch = "branch:" + steer.post("history/rewind", {"request": "r2"})["branch"]["name"]

    def names(earlier: str, later: str) -> list[tuple[str, str]]:
        difference = steer.get("history/diff", **{"from": earlier, "to": later})
        assert (difference["from"]["point"], difference["to"]["point"]) == (earlier, later)
        rows = changes(difference, "orders").values()
        return [(kind, fields["name"]["before"] or fields["name"]["after"]) for kind, fields in rows]

    assert names("start", "snapshot:one") == [("created", "one.com")]
    assert names("snapshot:one", "now") == []
    assert names("now", branch) == [("created", "two.com")]
    assert names(branch, "now") == [("deleted", "two.com")]
    assert names("start", branch) == [("created", "one.com"), ("created", "two.com")]
    assert names("world:beside", "now") == [("created", "one.com")]
    assert names("now", "world:beside") == [("deleted", "one.com")]
    assert [row.change for row in sandbox.diff("start", "now").changes if row.table == "orders"] == [
        "created"
    ]


def test_time_and_assumptions_differ_as_settings(sandbox: Sandbox, steer: Control) -> None:
    sandbox.clock.advance("2d")
    sandbox.assumptions.set({"v3.ids": "integer"})
    found = steer.get("history/diff")
    assert found["settings"] == [
        {"name": "clock.now", "before": "2026-03-01T12:00:00Z", "after": "2026-03-03T12:00:00Z"},
        {"name": "assume.v3.ids", "before": "string", "after": "integer"},
    ]
    assert (found["from"]["point"], found["to"]["point"]) == ("start", "now")


def test_fault_rules_differ_as_settings(sandbox: Sandbox, steer: Control, main: Api) -> None:
    sandbox.faults.replace([{"name": "a", "kind": "latency", "seconds": 0}, {"name": "b", "kind": "reset"}])
    steer.post("snapshots", {"name": "armed"})
    sandbox.faults.remove("b")
    main.get("/v3/balance")
    sandbox.faults.add(name="c", kind="close")
    found = {row["name"]: row for row in steer.get("history/diff", **{"from": "snapshot:armed"})["settings"]}
    assert found.keys() == {"faults.a", "faults.b", "faults.c"}
    assert (found["faults.a"]["before"].get("matched"), found["faults.a"]["after"]["matched"]) == (None, 1)
    assert (found["faults.b"]["before"]["kind"], found["faults.b"]["after"]) == ("reset", None)
    assert (found["faults.c"]["before"], found["faults.c"]["after"]["kind"]) == (None, "close")
    steer.post("snapshots", {"name": "later"})
    sandbox.faults.replace([])
    assert {row["after"] for row in steer.get("history/diff", **{"from": "snapshot:later"})["settings"]} == {
        None
    }


def test_a_changed_secret_is_masked(steer: Control, main: Api) -> None:
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "open-sesame"})
    [(_, fields)] = changes(steer.get("history/diff"), "orders").values()
    assert fields == {"auth_code": {"before": "***", "after": "***"}}


def test_an_unknown_point_is_refused(steer: Control) -> None:
    for query, error in (
        ("from=never", "unknown_point"),
        ("from=before:", "unknown_point"),
        ("to=after:r1", "unknown_request"),
        ("to=snapshot:x", "unknown_snapshot"),
        ("to=branch:b7", "unknown_branch"),
        ("from=world:nowhere", "unknown_world"),
        ("since=start", "invalid_parameter"),
    ):
        assert steer.refused("GET", f"history/diff?{query}")[1] == error
