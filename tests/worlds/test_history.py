"""Rewinding, branches and snapshots: a world can go back to any of its requests, and points differ."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, holds, inside, money_of, register, renew


def requests(sandbox: Sandbox) -> list[str]:
    return [request.id for request in sandbox.journal]


def branches(sandbox: Sandbox) -> list[str]:
    return [branch.name for branch in sandbox.branches]


def test_a_rewind_leads_to_before_or_after_a_request(steer: Control, main: Api) -> None:
    for name in ("one.com", "two.com", "three.com"):
        register(main, name)
    after = steer.post("history/rewind", {"request": "r2", "side": "after"})
    assert (after["requests"], after["branch"]["last"]) == (2, "r3")
    assert [row["id"] for row in steer.get("journal")["requests"]] == ["r1", "r2"]
    steer.post("history/rewind", {"request": "r2", "side": "before"})
    assert [row["id"] for row in steer.get("journal")["requests"]] == ["r1"]
    assert not holds(main, "two.com")


def test_a_rewind_takes_the_clock_back(sandbox: Sandbox, main: Api) -> None:
    register(main, "active.com")  # a refused request is a point too
    began = sandbox.clock.now
    events = sandbox.clock.advance("P1Y").events
    sandbox.clock.run()
    money_of(main)
    at = sandbox.journal["r2"].at
    sandbox.clock.advance("P10D")
    sandbox.rewind("r2")
    assert not sandbox.clock.frozen
    assert 0 <= (sandbox.clock.now - at).total_seconds() < 30
    sandbox.rewind("r1", side="after")
    assert (sandbox.clock.now, requests(sandbox)) == (began, ["r1"])
    assert sandbox.clock.advance("P1Y").events == events


def test_the_abandoned_future_is_a_branch(steer: Control, main: Api) -> None:
    register(main, "first-life.com")
    branch = steer.post("history/rewind", {"request": "r1"})["branch"]["name"]
    register(main, "second-life.com", 2)
    left = steer.post(f"branches/{branch}/switch")["branch"]["name"]
    assert [holds(main, name) for name in ("first-life.com", "second-life.com")] == [True, False]
    assert [row["id"] for row in steer.get("journal", domain="first-life.com")["requests"]] == ["r1", "r2"]
    assert [row["name"] for row in steer.get("branches")["branches"]] == [left]
    steer.post(f"branches/{left}/switch")
    assert holds(main, "second-life.com")
    [kept] = [row["name"] for row in steer.get("branches")["branches"]]
    assert steer.delete(f"branches/{kept}")["branches"] == []
    assert steer.refused("POST", f"branches/{kept}/switch")[:2] == (404, "unknown_branch")


def test_the_oldest_branch_and_the_oldest_requests_are_dropped() -> None:
    sandbox = Sandbox(REGISTRY, max_branches=2, max_snapshots=1, journal=3)
    for _ in range(5):
        money_of(inside(sandbox))
    status, error, message = control(sandbox).refused("POST", "history/rewind", {"request": "r2"})
    assert (status, error) == (404, "unknown_request")
    assert "now r3 to r5, and has dropped 2 older ones" in message
    for _ in range(4):
        sandbox.rewind("r3", side="after")
    assert branches(sandbox) == ["b3", "b4"]
    sandbox.branches.switch("b4")
    assert branches(sandbox) == ["b3", "b5"]
    for _ in range(2):
        sandbox.snapshot("same")
    with pytest.raises(Refused, match="--max-snapshots"):
        sandbox.snapshot("other")


def test_a_snapshot_can_be_restored_replaced_and_deleted(sandbox: Sandbox, steer: Control, main: Api) -> None:
    register(main, "kept.com")
    assert steer.post("snapshots", {"name": "base"})["last"] == "r1"
    for _ in range(2):
        register(main, "passing.com")
        sandbox.clock.advance("P40D")
        restored = steer.post("snapshots/base/restore")
        assert (restored["now"], restored["requests"]) == ("2026-03-01T12:00:00Z", 1)
        assert not holds(main, "passing.com")
        assert requests(sandbox) == ["r1", "r2"]
        assert "passing.com" in sandbox.at(f"branch:{restored['branch']['name']}").names
    register(main, "passing.com")
    steer.post("snapshots", {"name": "base"})
    sandbox.rewind("r1")
    register(main, "elsewhere-too.com")
    steer.post("snapshots/base/restore")
    assert holds(main, "passing.com")
    assert sandbox.journal["r1"].domains == ("kept.com",)
    assert [row["name"] for row in steer.get("snapshots")["snapshots"]] == ["base"]
    assert steer.delete("snapshots/base")["snapshots"] == []
    assert steer.refused("POST", "snapshots/base/restore")[:2] == (404, "unknown_snapshot")


def test_a_reset_is_a_new_beginning(steer: Control, main: Api) -> None:
    first = register(main, "anew.com")
    steer.post("snapshots", {"name": "s"})
    steer.post("history/rewind", {"request": "r1"})
    steer.post("history/reset")
    assert register(main, "anew.com") == first
    assert (steer.get("snapshots"), steer.get("branches")) == ({"snapshots": []}, {"branches": []})
    assert steer.refused("POST", "history/reset", {"orginal": True})[1] == "invalid_parameter"


def changes(difference: dict[str, Any], table: str) -> dict[Any, Any]:
    """Return kind and fields of the changes in a table, by key."""
    rows = [row for row in difference["changes"] if row["table"] == table]
    return {row["key"]: (row["change"], row["fields"]) for row in rows}


def test_a_request_and_its_difference_are_equal(steer: Control, main: Api) -> None:
    renew(main, "active.com", 2)
    [entry] = steer.get("journal")["requests"]
    difference = steer.get("history/diff", **{"from": "before:r1", "to": "after:r1"})
    assert sorted(map(str, difference["changes"])) == sorted(map(str, entry["changes"]))
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
    for earlier, later, expected in (
        ("start", "snapshot:one", [("created", "one.com")]),
        ("snapshot:one", "now", []),
        ("now", branch, [("created", "two.com")]),
        (branch, "now", [("deleted", "two.com")]),
        ("start", branch, [("created", "one.com"), ("created", "two.com")]),
        ("world:beside", "now", [("created", "one.com")]),
        ("now", "world:beside", [("deleted", "one.com")]),
    ):
        difference = steer.get("history/diff", **{"from": earlier, "to": later})
        assert (difference["from"]["point"], difference["to"]["point"]) == (earlier, later)
        rows = changes(difference, "orders").values()
        names = [(kind, fields["name"]["before"] or fields["name"]["after"]) for kind, fields in rows]
        assert names == expected, (earlier, later)


def test_clock_assumptions_and_fault_rules_differ_as_settings(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    sandbox.clock.advance("2d")
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert steer.get("history/diff")["settings"] == [
        {"name": "clock.now", "before": "2026-03-01T12:00:00Z", "after": "2026-03-03T12:00:00Z"},
        {"name": "assume.v3.ids", "before": "string", "after": "integer"},
    ]
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


def test_records_within_records_are_shown_without_their_secrets(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "open-sesame"})
    [(_, fields)] = changes(steer.get("history/diff"), "orders").values()
    assert fields == {"auth_code": {"before": "***", "after": "***"}}
    steer.post("snapshots", {"name": "later"})
    register(main, "new.com")
    sandbox.simulate.when("P1D").register("wanted.com", auth_code="their-code")
    difference = steer.get("history/diff", **{"from": "snapshot:later"})
    [(_, created)] = changes(difference, "orders").values()
    assert created["contacts"]["before"] is None
    assert created["contacts"]["after"].keys() == {"registrant", "admin", "tech", "billing"}
    [(_, planned)] = changes(difference, "scheduled").values()
    assert planned["parameters"]["after"] == {"domain": "wanted.com", "auth_code": "***"}


def test_secrets_are_masked_in_the_path_of_a_request(sandbox: Sandbox, main: Api) -> None:
    """The longest secret first, and no secret of less than four characters."""
    for name, body in (
        ("long-secret", {"authCode": "long", "password": "long-secret"}),
        ("long", {"authCode": "long"}),
        ("abc", {"authCode": "abc"}),
    ):
        main.post(f"/v3/domains/setAuthcode/{name}.com", body)
    ends = [request.path.rpartition("/")[2] for request in sandbox.journal]
    assert ends == ["***.com", "***.com", "abc.com"]
