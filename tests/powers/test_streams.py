"""What happens can be followed as it happens, in this process, from afar and on the command line."""

from __future__ import annotations

import json
import os
import signal
import socket as sockets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox, connect
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.powers.following import Followed
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.server import wire
from reseller_sandbox.worlds import feed
from reseller_sandbox.worlds.feed import Feed
from tests.registry import REGISTRY

#: The command; whoever has started the tests may have let the keyboard end nothing.
MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from reseller_sandbox.cli import main; main()"
)
BALANCE, NOBODY = "/v3/balance", "/v3/domains/getDomain/nobodys.com"


@pytest.fixture
def served() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox on a real port."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


class Sse:
    """Server-sent events as a browser reads them."""

    def __init__(self, url: str, path: str, headers: dict[str, str] | None = None) -> None:
        parts = urlsplit(url)
        self.connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        self.connection.request("GET", f"/_sandbox/{path}", headers=headers or {})
        self.response = self.connection.getresponse()

    def close(self) -> None:
        """Leave."""
        self.response.close()
        self.connection.close()

    def event(self) -> dict[str, str]:
        """The next event; a comment is one with an empty name."""
        found: dict[str, str] = {}
        while line := self.response.readline().decode().rstrip("\n"):
            name, _, value = line.partition(": ")
            found[name] = value
        return found


def test_each_request_as_it_comes(served: tuple[Sandbox, str]) -> None:
    """The same records through each door, of those requests that are meant, the refused ones with why."""
    sandbox, url = served
    there = connect(url)
    with sandbox.journal.follow(account="main") as here, there.journal.follow(account="main") as remote:
        sse = Sse(url, "journal/follow?account=main")
        client = sandbox.client()
        client.get(BALANCE)
        sandbox.client("other").get(BALANCE)
        client.get(NOBODY)
        lines = [next(here), next(here)]
        assert [next(remote), next(remote)] == lines
    assert [(one.id, one.account, one.outcome) for one in lines] == [
        ("r1", "main", "ok"),
        ("r3", "main", "domain_not_found"),
    ]
    assert lines[0].refused is None
    assert "nobodys.com" in str(lines[1].refused)
    assert sse.response.getheader("content-type") == "text/event-stream"
    events = [sse.event(), sse.event()]
    assert [one["id"] for one in events] == ["r1", "r3"]
    assert json.loads(events[1]["data"])["refused"] == lines[1].refused
    sse.close()


def test_money_is_told_with_its_request(served: tuple[Sandbox, str]) -> None:
    """What a request cost stands in its line."""
    sandbox, _ = served
    with sandbox.journal.follow() as following:
        sandbox.client().post("/v3/domains/renewDomain", json={"domainName": "second.com", "years": 1})
        line = next(following)
    (entry,) = sandbox.journal[line.id].ledger
    assert line.charged == -entry.amount > 0
    assert (
        f"  200  POST /v3/domains/renewDomain  {line.id} v3.renewDomain second.com by main: ok" in line.told
    )
    assert f"-{line.charged}" in line.told


def test_nothing_is_lost_over_a_break(served: tuple[Sandbox, str]) -> None:
    """Who comes again says what came last, as a parameter or as a browser does, and gets what came since."""
    sandbox, url = served
    for path in (BALANCE, NOBODY, BALANCE):
        sandbox.client().get(path)
    with sandbox.journal.follow(since="r1") as here, connect(url).journal.follow(since="r1") as there:
        assert [next(here).id, next(here).id] == [next(there).id, next(there).id] == ["r2", "r3"]
        sandbox.client().get(BALANCE)
        assert next(here).id == next(there).id == "r4"
    sse = Sse(url, "journal/follow?since=r1", {"Last-Event-ID": "r3"})
    assert sse.event()["id"] == "r4"
    sse.close()
    numbers = [one.number for one in sandbox.events.find().events]
    with sandbox.events.follow(since=numbers[1]) as events:
        assert [next(events).number for _ in numbers[2:]] == numbers[2:]


def test_who_follows_goes_on_after_a_rewind(served: tuple[Sandbox, str]) -> None:
    """What comes after the world went back is told, though its numbers have been there before."""
    sandbox, url = served
    for _ in range(3):
        sandbox.client().get(BALANCE)
    with connect(url).journal.follow(since="r3") as following:
        sandbox.rewind("r1")
        sandbox.client().get(NOBODY)
        assert (line := next(following)).id == "r1"
        assert line.outcome == "domain_not_found"


def test_events_are_followed_in_their_order(served: tuple[Sandbox, str]) -> None:
    """Requests, what time did and the control call that made it so: what find lists, in the order it came."""
    sandbox, url = served
    with sandbox.events.follow() as here, connect(url).events.follow(kind="time") as there:
        sandbox.client().get(BALANCE)
        moved = sandbox.clock.advance("P90D")
        known = sandbox.events.find(limit=500).events
        came = [next(here) for _ in known]
        assert sorted(came, key=lambda one: one.number) == list(known)
        assert tuple(next(there).happening for _ in moved.fired) == moved.fired


def test_the_clock_is_watched(served: tuple[Sandbox, str]) -> None:
    """Each thing that comes due, and what the clock shows at last; that it runs, and stands still again."""
    sandbox, url = served
    with sandbox.clock.watch() as here, connect(url).clock.watch() as there:
        moved = sandbox.clock.advance("P90D")
        for ticks in (here, there):
            came = [next(ticks) for _ in range(moved.total + 1)]
            assert tuple(one.happening for one in came[:-1]) == moved.fired
            assert (came[-1].name, came[-1].now) == ("clock.advance", moved.now)
        sandbox.clock.run()
        assert next(here).frozen is next(there).frozen is False
        sandbox.client().get(BALANCE)
        sandbox.clock.freeze()
        assert next(here).frozen is True


def test_who_does_not_read_is_told_how_much_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is kept than the latest, however much comes; and nothing when nobody follows."""
    monkeypatch.setattr(feed, "KEPT", 3)
    sandbox = Sandbox(REGISTRY)
    following = sandbox.journal.follow()
    for _ in range(5):
        sandbox.client().get(BALANCE)
    assert len(sandbox.world.feed.kept) == 3
    assert [one.id for one in following.ready()] == ["r3", "r4", "r5"]  # type: ignore[attr-defined]
    assert following.missed == 2
    following.close()
    sandbox.client().get(BALANCE)
    assert not sandbox.world.feed.kept
    assert list(following) == []


@pytest.mark.parametrize("name", ["journal.follow", "events.follow", "clock.watch"])
def test_who_looks_on_costs_what_is_told(name: str) -> None:
    """Of a second's worth the latest are told and made ready, and of the others how many there were."""
    sandbox = Sandbox(REGISTRY)
    power, _, stream = name.partition(".")
    follow = getattr(getattr(sandbox, power), stream)
    with follow() as everything, follow(per_second=20) as some:
        for _ in range(15):
            sandbox.client().get(BALANCE)
            sandbox.clock.advance("PT1M")
        told = some.ready()
        assert sum(bool(one.shown) for one in sandbox.world.feed.kept) == len(told) == 5
        all_of_it = everything.ready()
        assert told == all_of_it[-5:]
        assert (some.missed, everything.missed) == (len(all_of_it) - 5, 0)
        assert (some.pause, everything.pause) == (0.25, 0)


@given(st.integers(1, 50), st.lists(st.integers(0, 60), max_size=12))
def test_no_more_is_told_than_is_wanted_in_a_second(per_second: int, bursts: list[int]) -> None:
    """However requests come: the latest is always told, what is left out is counted, nothing comes twice."""
    come, seconds = Feed(), 0.0
    told: list[int] = []
    some = Followed("all", come.follow(), lambda _: True, lambda one: one, per_second)
    number = 0
    for burst in bursts:
        come.put(range(number, number + burst))
        number += burst
        assert len(told) <= per_second * seconds + 1e-6
        told += some.ready()
        seconds += some.pause
        assert told[-1:] == ([number - 1] if number else [])
    assert told == sorted(set(told))
    assert len(told) + some.missed == number


def test_who_comes_again_to_look_on_is_not_told_all_of_it(served: tuple[Sandbox, str]) -> None:
    """What came meanwhile is thinned as well, through every door."""
    sandbox, url = served
    for _ in range(9):
        sandbox.client().get(BALANCE)
    for world in (sandbox, connect(url)):
        with world.journal.follow(since="r1", per_second=4) as some:
            assert next(some).id == "r9"
            assert some.missed == 7
            sandbox.client().get(NOBODY)
            assert next(some).id == "r10"
            sandbox.rewind("r10")


def test_closing_wakes_who_waits(served: tuple[Sandbox, str]) -> None:
    """From another thread, here and from afar."""
    sandbox, url = served
    for following in (sandbox.journal.follow(), connect(url).journal.follow()):
        timer = threading.Timer(0.1, following.close)
        timer.start()
        assert list(following) == []
        timer.join()


def test_a_heartbeat_when_nothing_happens(
    served: tuple[Sandbox, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that whoever follows knows that the server is there; a remote sandbox reads over it."""
    sandbox, url = served
    monkeypatch.setattr(wire, "HEARTBEAT", 0.05)
    sse = Sse(url, "journal/follow")
    assert [sse.event(), sse.event()] == [{"": "here"}] * 2
    sse.close()
    with connect(url).journal.follow() as following:
        threading.Timer(0.2, lambda: sandbox.client().get(BALANCE)).start()
        assert next(following).id == "r1"


def test_a_follower_that_left_is_forgotten(served: tuple[Sandbox, str]) -> None:
    """As soon as its connection is gone."""
    sandbox, url = served
    sse = Sse(url, "journal/follow")
    assert len(sandbox.world.feed.followers) == 1
    sse.connection.sock.shutdown(sockets.SHUT_RDWR)
    sse.close()
    began = stopwatch()
    while sandbox.world.feed.followers:
        assert stopwatch() - began < 30


def test_the_server_stops_at_once_and_says_so(at_once: Any) -> None:
    """Every follower gets an end event, and none holds the server up."""
    sandbox = Sandbox(REGISTRY)
    with ExitStack() as stopping, sandbox.serve() as server:
        sse = [Sse(server.url, "journal/follow") for _ in range(20)]
        following = connect(server.url).events.follow()
        stopping.enter_context(at_once())
    assert [one.event() for one in sse] == [{"event": "end", "data": "{}"}] * 20
    for one in sse:
        one.close()
    assert list(following) == []
    assert not sandbox.world.feed.followers


def test_a_world_that_is_deleted_ends_its_streams(served: tuple[Sandbox, str]) -> None:
    """Here and from afar."""
    sandbox, url = served
    fork = sandbox.fork(name="gone")
    with fork.journal.follow() as here, connect(url, world="gone").journal.follow() as there:
        fork.close()
        assert list(here) == list(there) == []


def test_a_stream_is_refused_as_any_look_is() -> None:
    """By the gate, by what it is told, and where there is no server."""
    sandbox = Sandbox(REGISTRY, control_token="let-me-in")
    with sandbox.serve() as server:
        with pytest.raises(Refused, match="control_token_missing"):
            connect(server.url).journal.follow()
        with pytest.raises(Refused, match="createDomain"):
            connect(server.url, control_token="let-me-in").journal.follow(operation="v3.creatDomain")
        sse = Sse(server.url, "journal/follow")
        assert sse.response.status == 401
        sse.close()
    with pytest.raises(Unreachable):
        connect(server.url).journal.follow()
    assert not sandbox.world.feed.followers


def test_without_a_server_there_is_what_is_there() -> None:
    """Flask's test client gets what came before, and no end that would have to be waited for."""
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    client.get(BALANCE)
    answer = client.get("/_sandbox/journal/follow?since=r0")
    assert answer.text.startswith("id: r1\ndata: {")
    assert not sandbox.world.feed.followers


def test_on_the_command_line(served: tuple[Sandbox, str]) -> None:
    """A line for each request, or an object; the keyboard ends it without a word."""
    sandbox, url = served
    for options, first in ((["--account", "main"], "r1 v3.balance by main: ok"), (["--json"], '"id": "r1"')):
        command = [sys.executable, "-c", MAIN, "journal", "follow", "--since", "r0", "--url", url]
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        assert process.stdout is not None
        if not sandbox.journal.count():
            sandbox.client().get(BALANCE)
        assert first in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        assert (rest, errors, process.returncode) == ("", "", 0)


def test_who_follows_alike_shares_and_who_asks_for_else_gets_that(served: tuple[Sandbox, str]) -> None:
    """Several with one match get the same; others beside them only what they mean."""
    sandbox, url = served
    paths = ["account=main", "account=main", "account=other", "outcome=refused"]
    followers = [Sse(url, f"journal/follow?{path}") for path in paths]
    for account, path in (("main", BALANCE), ("other", BALANCE), ("main", NOBODY), ("other", NOBODY)):
        sandbox.client(account).get(path)
    came = [[one.event()["id"] for _ in range(2)] for one in followers]
    assert came == [["r1", "r3"], ["r1", "r3"], ["r2", "r4"], ["r3", "r4"]]
    for one in followers:
        one.close()
