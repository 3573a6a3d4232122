"""Rewinding, branches and snapshots: a world can go back to any of its requests, exactly."""

from __future__ import annotations

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, holds, inside, money_of, register


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
