"""The event log: everything that changed a world in one sequence, with number, cause and effect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from freezegun import freeze_time

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import REGISTRY, Make, connect
from tests.worlds.control import Control, over_socket


def found(sandbox: Sandbox, **wanted: Any) -> list[Any]:
    """Return the events that the world remembers, read page by page."""
    pages = [sandbox.events.find(limit=50, **wanted)]
    while pages[0].matching > len(pages[0].events):
        pages.insert(0, sandbox.events.find(limit=50, **wanted, before=pages[0].events[0].number))
    return [event for page in pages for event in page.events]


def rows(sandbox: Sandbox, **wanted: Any) -> list[tuple[int, str, str, int | None]]:
    """Return number, kind, name and cause of the events."""
    return [(event.number, event.kind, event.name, event.cause) for event in found(sandbox, **wanted)]


def test_events_of_all_kinds_have_their_cause_and_effect(sandbox: Sandbox) -> None:
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


#: Every control call that changes a world. The first ones prepare the later ones.
CALLS: list[tuple[str, Callable[[Sandbox], object]]] = [
    ("clock.run", lambda s: s.clock.run()),
    ("clock.freeze", lambda s: s.clock.freeze()),
    ("clock.advance", lambda s: s.clock.advance("P1D")),
    ("clock.set", lambda s: s.clock.set("2027-01-01")),
    ("assumptions.set", lambda s: s.assumptions.set({"v3.ids": "integer"})),
    ("faults.add", lambda s: s.faults.add("latency", name="slow", seconds=0.001)),
    ("faults.change", lambda s: s.faults.change("slow", {"paused": True})),
    ("faults.pause", lambda s: s.faults.pause("slow")),
    ("faults.resume", lambda s: s.faults.resume("slow")),
    ("faults.remove", lambda s: s.faults.remove("slow")),
    ("faults.replace", lambda s: s.faults.replace([])),
    ("faults.clear", lambda s: s.faults.clear()),
    ("simulate.adjust_balance", lambda s: s.simulate.adjust_balance("main", to=7)),
    ("simulate.register", lambda s: s.simulate.when("P1D").register("wanted.com")),
    ("scheduled.remove", lambda s: s.scheduled.remove(1)),
    ("snapshots.add", lambda s: s.snapshot("here")),
    ("snapshots.restore", lambda s: s.restore("here")),
    ("snapshots.remove", lambda s: s.snapshots.remove("here")),
    ("history.rewind", lambda s: s.rewind(connect(s).get("/v3/balance").headers["x-sandbox-request"])),
    ("branches.switch", lambda s: s.branches.switch(next(iter(s.branches)).name)),
    ("branches.remove", lambda s: s.branches.remove(next(iter(s.branches)).name)),
    ("names.add", lambda s: s.names.add("added.com")),
    ("accounts.add", lambda s: s.accounts.add("shop", contact={"name": "Shop"})),
    ("customers.add", lambda s: s.customers.add(901, name="Nora", mail="nora@example.com")),
    ("contacts.add", lambda s: s.contacts.add("NORA", name="Nora")),
    ("hosts.add", lambda s: s.hosts.add("ns7.added.com", ips=["192.0.2.7"])),
    ("transfers.add", lambda s: s.transfers.add("added.com", to="other")),
    ("journal.clear", lambda s: s.journal.clear()),
    ("coverage.clear", lambda s: s.coverage.clear()),
    ("history.load", lambda s: s.load(s.export())),
]


def test_each_control_call_that_changes_a_world_is_an_event_until_a_reset(sandbox: Sandbox) -> None:
    began = connect(sandbox).get("/_sandbox/events").raw
    for name, call in CALLS:
        call(sandbox)
        assert found(sandbox, kind="control")[-1].name == name
    numbers = [event.number for event in found(sandbox)]
    assert len(set(numbers)) == len(numbers)
    sandbox.reset()
    assert connect(sandbox).get("/_sandbox/events").raw == began


def test_a_rewind_takes_events_back_to_a_branch(sandbox: Sandbox) -> None:
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


def test_a_fork_has_its_own_events(sandbox: Sandbox) -> None:
    sandbox.clock.advance("P1D")
    with sandbox.fork(now="2026-09-01T00:00:00Z") as fork:
        *before, forked = found(fork)
        assert (forked.kind, forked.name) == ("control", "worlds.fork")
        assert forked.parameters == {"world": "default", "point": "now"}
        assert {event.kind for event in before} == {"time"}
    assert [name for _, kind, name, _ in rows(sandbox) if kind == "control"] == ["clock.advance"]


def test_a_change_stays_in_the_history_of_its_name_after_the_journal_drops_it() -> None:
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
    found = sandbox.events.find()
    assert (len(found.events), found.kept, found.dropped) == (5, 5, len(events) + 1 - 5)
    assert found.events[-1].number == len(events) + 1
