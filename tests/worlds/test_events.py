"""The event log: one line of all that changed a world, each thing with number, cause and effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.events import Logged
from tests.clients import Api
from tests.outside.player import Player
from tests.registry import Make, connect, order_of


def events(sandbox: Sandbox, **wanted: Any) -> tuple[Logged, ...]:
    """What the world remembers, read page by page."""
    pages = [sandbox.events.find(limit=50, **wanted)]
    while pages[0].matching > len(pages[0].events):
        pages.insert(0, sandbox.events.find(limit=50, **wanted, before=pages[0].events[0].number))
    return tuple(event for page in pages for event in page.events)


def told(sandbox: Sandbox, **wanted: Any) -> list[tuple[int, str, str, int | None]]:
    """The same in short."""
    return [(one.number, one.kind, one.name, one.cause) for one in events(sandbox, **wanted)]


@pytest.fixture
def fresh(make: Make) -> Sandbox:
    """A sandbox that nobody has touched."""
    return make()


def test_everything_stands_in_one_line(fresh: Sandbox) -> None:
    """A request, the plan that it set off, an advance and what fired on its way: each names its cause."""
    api = connect(fresh)
    fresh.outside.when(after="v3.balance").register("wanted.com")
    api.get("/v3/balance")
    fresh.clock.advance(until={"event": "release"})
    assert told(fresh)[:3] == [
        (1, "control", "outside.register", None),
        (2, "request", "v3.balance", None),
        (3, "plan", "register", 2),
    ]
    (advance,) = events(fresh, name="clock.advance")
    caused = events(fresh, cause=advance.number)
    assert [one.kind for one in caused] == ["time"] * len(caused)
    assert [one.name for one in caused][-1] == "release"
    assert [one.number for one in events(fresh)] == list(range(1, len(events(fresh)) + 1))


def test_an_advance_says_how_far_and_what_happened(fresh: Sandbox) -> None:
    """The effect of a control call is what it changed; of an event, what it did to whom."""
    fired = fresh.clock.advance("P250D").fired
    (advance,) = events(fresh, kind="control")
    assert advance.given == {"by": "P250D"}
    (clock,) = advance.changed
    assert (clock.name, clock.before, clock.after) == (
        "clock.now",
        "2026-03-01T12:00:00Z",
        "2026-11-06T12:00:00Z",
    )
    assert [one.happening for one in events(fresh, kind="time")] == list(fired)


def test_what_time_does_by_itself_has_no_cause(fresh: Sandbox) -> None:
    """A running clock is nobody's call."""
    fresh.outside.when("P1D").register("wanted.com")
    fresh.clock.advance("P1D")
    fresh.clock.run()
    order = order_of(fresh, "second.com")
    assert order.due is not None
    fresh.world.moment = fresh.world.moment.at(order.due)
    connect(fresh).get("/v3/balance")
    (expiry,) = events(fresh, kind="time", domain="second.com")
    assert (expiry.name, expiry.cause) == ("expiry", None)
    (request,) = events(fresh, kind="request")
    assert request.number > expiry.number


#: Every control call that changes a world, and what it is told; the first are there for the later ones.
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
    ("outside.adjust_balance", lambda s: s.outside.adjust_balance("main", to=7)),
    ("outside.register", lambda s: s.outside.when("P1D").register("wanted.com")),
    ("plans.remove", lambda s: s.plans.remove(1)),
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


def test_every_control_call_that_acts_is_kept(fresh: Sandbox) -> None:
    """By its name, once, as the latest of the line that it led to."""
    for name, call in CALLS:
        call(fresh)
        latest = events(fresh, kind="control")[-1]
        assert latest.name == name
        assert len([one for one in events(fresh) if one.number == latest.number]) == 1


def test_every_row_of_control_that_acts_is_among_them(fresh: Sandbox) -> None:
    """What is added to the interface is kept as well, or is known to change no world it is sent to."""
    rules = [rule for rule in fresh.app.url_map.iter_rules() if rule.endpoint.startswith("control/")]
    acting = {
        rule.endpoint.partition("#")[0].removeprefix("control/").replace("/", ".")
        for rule in rules
        if "GET" not in (rule.methods or ())
    }
    others = {"journal.verify", "worlds.fork", "worlds.remove", "history.reset"}
    others |= {"session.begin", "session.end", "signature", "worlds.open"}  # of the page; new worlds
    known = {name for name, _ in CALLS}
    assert {name for name in acting - others if not name.startswith("outside.")} <= known
    assert known <= acting


def test_what_is_refused_or_only_tried_is_not_kept(fresh: Sandbox) -> None:
    """It has changed nothing."""
    with pytest.raises(Refused):
        fresh.outside.register("active.com")
    with pytest.raises(Refused):
        fresh.clock.set("2020-01-01")
    with pytest.raises(Refused):
        fresh.rewind("r1")
    fresh.clock.advance("P800D", dry_run=True)
    assert told(fresh) == []


def test_secrets_are_masked(fresh: Sandbox) -> None:
    """In what a control call was told."""
    fresh.outside.register("wanted.com", auth_code="their-code")
    (registered,) = events(fresh)
    assert registered.given == {"domain": "wanted.com", "auth_code": "***"}
    assert registered.happening is not None
    assert registered.happening.subject == "wanted.com"


def test_it_goes_back_with_the_world(fresh: Sandbox) -> None:
    """A rewind leaves what came later behind, says that it did, and the branch still has it."""
    api = connect(fresh)
    request = api.get("/v3/balance").headers["x-sandbox-request"]
    fresh.clock.advance("P60D")
    later = told(fresh)
    left = fresh.rewind(request, side="after").branch
    assert told(fresh) == [(1, "request", "v3.balance", None), (2, "control", "history.rewind", None)]
    assert events(fresh)[-1].effect == {"branch": left.name}
    api.get("/v3/balance")
    assert told(fresh)[-1] == (3, "request", "v3.balance", None)
    fresh.branches.switch(left.name)
    assert told(fresh)[: len(later)] == later


def test_nothing_is_left_of_it_after_a_reset(fresh: Sandbox) -> None:
    """The world is as it began, to the byte, whatever has happened in it."""
    began = connect(fresh).get("/_sandbox/events").raw
    for _, call in CALLS:
        call(fresh)
    fresh.reset()
    assert connect(fresh).get("/_sandbox/events").raw == began


def test_a_fork_begins_a_line_of_its_own(fresh: Sandbox) -> None:
    """Which says where it came from; what happened on the way to its own instant is in it."""
    fresh.clock.advance("P1D")
    with fresh.fork(now="2026-09-01T00:00:00Z") as fork:
        seen = told(fork)
        assert seen[-1][1:3] == ("control", "worlds.fork")
        assert events(fork)[-1].given == {"world": "default", "point": "now"}
        assert {kind for _, kind, _, _ in seen[:-1]} == {"time"}
    assert [name for _, kind, name, _ in told(fresh) if kind == "control"] == ["clock.advance"]


def test_it_is_bounded(make: Make) -> None:
    """The oldest are dropped and counted; numbers go on."""
    sandbox = make(max_events=5)
    fired = sandbox.clock.advance("P800D").fired
    found = sandbox.events.find()
    assert (len(found.events), found.kept) == (5, 5)
    assert found.dropped == len(fired) + 1 - 5
    assert found.events[-1].number == len(fired) + 1
    whole = make()
    whole.clock.advance("P800D")
    assert [one.number for one in events(whole)][-1] == found.events[-1].number


def test_it_is_read_over_http(player: Player, wire: Api) -> None:
    """As in Python; what is meant is told by kind, name, name of a domain, cause and number."""
    player.act("register", domain="wanted.com", after="v3.balance")
    wire.get("/v3/balance")
    found = player.get("/events?kind=plan&name=reg*&domain=wanted.com")
    (struck,) = found["events"]
    assert (struck["name"], struck["effect"]) == ("register", {"plan": 1})
    (cause,) = player.get(f"/events?since={struck['cause'] - 1}&kind=request")["events"]
    assert (cause["name"], cause["effect"]["outcome"], cause["number"]) == (
        "v3.balance",
        "ok",
        struck["cause"],
    )
    assert player.call("GET", "/events?kind=tide").error == "invalid_parameter"
