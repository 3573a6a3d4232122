"""Rewinding, branches, snapshots, events and differences: a world can go back to any of its requests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from freezegun import freeze_time

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.control.examples import EXAMPLES, REQUEST
from tests.control.interfaces import BY_NAME, in_python
from tests.registry import REGISTRY, Make, connect, start_over
from tests.worlds.control import Control, control, holds, inside, money_of, over_socket, register, renew


def requests(sandbox: Sandbox) -> list[str]:
    return [request.id for request in sandbox.journal]


def branches(sandbox: Sandbox) -> list[str]:
    return [branch.name for branch in sandbox.branches]


def test_a_rewind_goes_back_to_before_or_after_a_request(steer: Control, main: Api) -> None:
    for name in ("one.com", "two.com", "three.com"):
        register(main, name)
    after = steer.post("history/rewind", {"request": "r2", "side": "after"})
    assert (after["requests"], after["branch"]["last"]) == (2, "r3")
    assert [row["id"] for row in steer.get("journal")["requests"]] == ["r1", "r2"]
    steer.post("history/rewind", {"request": "r2", "side": "before"})
    assert [row["id"] for row in steer.get("journal")["requests"]] == ["r1"]
    assert not holds(main, "two.com")


def test_a_rewind_sets_the_clock_back(sandbox: Sandbox, main: Api) -> None:
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


def test_a_rewind_keeps_the_later_history_as_a_branch(steer: Control, main: Api) -> None:
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


def test_the_latest_request_has_a_name_of_its_own(sandbox: Sandbox, main: Api) -> None:
    register(main, "earlier-one.com")
    register(main, "later-one.com")
    assert control(sandbox).get("journal/last") == control(sandbox).get("journal/r2")
    sandbox.rewind("last")
    assert (holds(main, "earlier-one.com"), holds(main, "later-one.com")) == (True, False)
    sandbox.history.reset()
    assert control(sandbox).refused("POST", "history/rewind", {"request": "last"})[1] == "unknown_request"


def test_the_oldest_branch_and_the_oldest_requests_are_dropped_at_a_limit() -> None:
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


def test_a_snapshot_can_be_restored_and_replaced_and_deleted(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
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


def test_a_reset_restores_the_initial_state_and_deletes_snapshots_and_branches(
    steer: Control, main: Api
) -> None:
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


def test_the_journal_lists_the_same_changes_as_a_diff_around_the_request(steer: Control, main: Api) -> None:
    renew(main, "active.com", 2)
    [entry] = steer.get("journal")["requests"]
    difference = steer.get("history/diff", **{"from": "before:r1", "to": "after:r1"})
    assert sorted(map(str, difference["changes"])) == sorted(map(str, entry["changes"]))
    [(change, fields)] = [row for row in changes(difference, "orders").values() if "expires" in row[1]]
    assert change == "changed"
    assert fields["expires"] == {"before": "2026-11-21T12:00:00Z", "after": "2028-11-21T12:00:00Z"}
    assert changes(difference, "accounts")[1001][1] == {"balance": {"before": "10000.00", "after": "9970.00"}}


def test_diff_compares_any_two_points_of_a_world_or_of_two_worlds(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
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


def test_a_diff_shows_assumptions_and_fault_rules_and_the_clock_as_settings(
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
    settings = {
        row["name"]: row for row in steer.get("history/diff", **{"from": "snapshot:armed"})["settings"]
    }
    assert settings.keys() == {"faults.a", "faults.b", "faults.c"}
    assert (settings["faults.a"]["before"].get("matched"), settings["faults.a"]["after"]["matched"]) == (
        None,
        1,
    )
    assert (settings["faults.b"]["before"]["kind"], settings["faults.b"]["after"]) == ("reset", None)
    assert (settings["faults.c"]["before"], settings["faults.c"]["after"]["kind"]) == (None, "close")


def test_nested_records_are_shown_without_their_secrets(sandbox: Sandbox, steer: Control, main: Api) -> None:
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


def found(sandbox: Sandbox, **wanted: Any) -> list[Any]:
    """Return the events that the world remembers, read page by page."""
    pages = [sandbox.events.list(limit=50, **wanted)]
    while pages[0].matching > len(pages[0].events):
        pages.insert(0, sandbox.events.list(limit=50, **wanted, before=pages[0].events[0].number))
    return [event for page in pages for event in page.events]


def rows(sandbox: Sandbox, **wanted: Any) -> list[tuple[int, str, str, int | None]]:
    """Return number, kind, name and cause of the events."""
    return [(event.number, event.kind, event.name, event.cause) for event in found(sandbox, **wanted)]


def test_events_of_every_kind_have_a_cause_and_an_effect(sandbox: Sandbox) -> None:
    sandbox.simulate.when(after="v3.balance").register("wanted.com", auth_code="their-code")
    connect(sandbox).get("/v3/balance")
    events = sandbox.clock.advance("P250D").events
    assert rows(sandbox)[:4] == [
        (1, "control", "simulate.register", None),
        (2, "request", "v3.balance", None),
        (3, "scheduled", "register", 2),
        (4, "control", "clock.advance", None),
    ]
    assert found(sandbox)[0].parameters["auth_code"] == "***"
    assert found(sandbox)[0].effect == {"scheduled": 1}
    (advance,) = found(sandbox, name="clock.advance")
    assert advance.parameters == {"by": "P250D"}
    (clock,) = advance.changed
    assert (clock.name, clock.before) == ("clock.now", "2026-03-01T12:00:00Z")
    assert clock.after == "2026-11-06T12:00:00Z"
    caused = found(sandbox, cause=advance.number)
    assert {event.kind for event in caused} == {"time"}
    assert [event.registry_event for event in caused] == list(events)
    assert [event.number for event in found(sandbox)] == list(range(1, 5 + len(events)))


def test_a_due_event_of_a_running_clock_has_no_cause(make: Make) -> None:
    with freeze_time("2031-05-01") as machine:
        sandbox = make(frozen=False)
        machine.tick(timedelta(days=200))
        connect(sandbox).get("/v3/balance")
        (expiry,) = found(sandbox, kind="time", domain="second.com", name="expiry")
        assert expiry.cause is None
        (request,) = found(sandbox, kind="request")
        assert request.number > expiry.number


#: Calls that are no reads and no events of their world.
WITHOUT_EVENT = ("journal.lines", "journal.export", "journal.verify", "history.reset", "worlds.")


def test_each_control_call_that_changes_a_world_is_logged_as_an_event_until_a_reset(sandbox: Sandbox) -> None:
    began, seen = connect(sandbox).get("/_sandbox/events").raw, set()
    for example in EXAMPLES:
        name, reads = example.operation, BY_NAME[example.operation].method == "GET"
        if reads or example.refused or name.startswith(WITHOUT_EVENT) or "dry_run" in example.given:
            continue
        start_over(sandbox)
        for before, parameters in example.before:
            sandbox.client().open(**parameters) if before == REQUEST else in_python(sandbox)(
                before, parameters
            )
        if in_python(sandbox)(name, example.given)[0] == "ok":
            assert found(sandbox, kind="control")[-1].name == name
            seen.add(name)
    assert len(seen) > 40
    sandbox.reset()
    assert connect(sandbox).get("/_sandbox/events").raw == began


def test_a_rewind_moves_the_later_events_to_a_branch(sandbox: Sandbox) -> None:
    api = connect(sandbox)
    request = api.get("/v3/balance").headers["x-sandbox-request"]
    sandbox.clock.advance("P60D")
    later = rows(sandbox)
    branch = sandbox.rewind(request, side="after").branch
    assert rows(sandbox) == [(1, "request", "v3.balance", None), (2, "control", "history.rewind", None)]
    assert found(sandbox)[-1].effect == {"branch": branch.name}
    api.get("/v3/balance")
    assert rows(sandbox)[-1] == (3, "request", "v3.balance", None)
    sandbox.branches.switch(branch.name)
    assert rows(sandbox)[: len(later)] == later


def test_a_fork_has_a_separate_event_log(sandbox: Sandbox) -> None:
    sandbox.clock.advance("P1D")
    with sandbox.fork(now="2026-09-01T00:00:00Z") as fork:
        *before, forked = found(fork)
        assert (forked.kind, forked.name) == ("control", "worlds.fork")
        assert forked.parameters == {"world": "default", "point": "now"}
        assert {event.kind for event in before} == {"time"}
    assert [name for _, kind, name, _ in rows(sandbox) if kind == "control"] == ["clock.advance"]


def test_a_change_of_a_name_is_still_an_event_after_the_journal_drops_the_request() -> None:
    sandbox = Sandbox(REGISTRY, journal=2)

    def history(point: str) -> list[str]:
        events = Control(socket, f"default@{point}").get("events", domain="active.com", kind="request")
        return [event["effect"]["request"] for event in events["events"]]

    with over_socket(sandbox) as (url, socket):
        account = sandbox.accounts["main"]
        api, steer = Api(socket, url, account.key, account.secret), Control(socket)
        api.post("/v3/domains/lockUpdate/active.com")
        assert sandbox.journal["r1"].ledger == ()
        for _ in range(3):
            api.get("/v3/domains/getDomain/active.com")
        assert [history(point) for point in ("start", "before:r4")] == [[], ["r1", "r3"]]
        assert history("now") == ["r1", "r3", "r4"]
        assert steer.get("events")["dropped"] == 1
        steer.post("snapshots", {"name": "locked"})
        branch = steer.post("history/load", {"fixture": sandbox.export()})["branch"]["name"]
        assert history("now") == []
        assert history(f"branch:{branch}") == ["r1", "r3", "r4"]
        steer.post("snapshots/locked/restore")
        assert history("now") == ["r1", "r3", "r4"]
        assert steer.post("history/rewind", {"request": "r4"})
        assert history("now") == ["r1", "r3"]


def test_the_oldest_events_are_dropped_and_counted(make: Make) -> None:
    sandbox = make(max_events=5)
    events = sandbox.clock.advance("P800D").events
    listed = sandbox.events.list()
    assert (len(listed.events), listed.kept, listed.dropped) == (5, 5, len(events) + 1 - 5)
    assert listed.events[-1].number == len(events) + 1
