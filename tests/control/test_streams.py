"""Each interface streams requests, events and moves of the clock as they happen."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from itertools import islice
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.command import run
from tests.registry import REGISTRY

#: Starts the command so that the interrupt signal ends it, even if the tests ignore that signal.
MAIN = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('reseller_sandbox', run_name='__main__', alter_sys=True)"
)
BALANCE, NOBODY = "/v3/balance", "/v3/domains/getDomain/nobodys.com"


class Sse(closing[Any]):
    """Server-sent events, as a browser reads them."""

    def __init__(self, url: str, path: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(self)
        parts = urlsplit(url)
        self.connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        self.connection.request("GET", f"/_sandbox/{path}", headers=headers or {})
        self.response = self.connection.getresponse()
        if self.response.status == 200:
            begin = self.event()
            assert begin["event"] == "begin"
            self.instance = json.loads(begin["data"])["instance"]

    def close(self) -> None:
        self.response.close()
        self.connection.close()

    def event(self) -> dict[str, str]:
        """Return the next event. A comment is an event with an empty name."""
        lines = iter(lambda: self.response.readline().decode().rstrip("\n"), "")
        return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def test_each_interface_streams_the_matching_requests(served: Sandbox, url: str) -> None:
    with (
        connect(url) as there,
        served.journal.follow(account="main") as local,
        there.journal.follow(account="main") as remote,
        Sse(url, "journal/follow?account=main") as sse,
        Sse(url, "journal/follow?account=other") as other,
    ):
        client = served.client()
        client.get(BALANCE)
        served.client("other").get(BALANCE)
        client.get(NOBODY)
        client.post("/v3/domains/renewDomain", json={"domainName": "second.com", "years": 1})
        lines = list(islice(local, 3))
        assert list(islice(remote, 3)) == lines
        events = [sse.event() for _ in range(3)]
        assert other.event()["id"] == "r2"
    assert [record.id for record in lines] == [record["id"] for record in events] == ["r1", "r3", "r4"]
    assert [record.outcome for record in lines] == ["ok", "domain_not_found", "ok"]
    assert "nobodys.com" in str(lines[1].refused)
    assert json.loads(events[1]["data"])["refused"] == lines[1].refused
    assert lines[2].charged == -served.ledger.list().entries[-1].amount > 0
    assert sse.response.getheader("content-type") == "text/event-stream"
    begin, following = client.get("/_sandbox/journal/follow?since=r0").text.split("\n\n")[:2]
    assert (begin.partition("\n")[0], following[:14]) == ("event: begin", "id: r1\ndata: {")


def test_each_server_start_has_a_new_instance_id(sandbox: Sandbox) -> None:
    instances = []
    for _ in range(2):
        with sandbox.serve() as server, Sse(server.url, "events/follow") as sse:
            with urlopen(f"{server.url}/_sandbox/session") as session:
                instances.append(json.load(session)["instance"])
            assert sse.instance == instances[-1]
    assert len({*instances, ""}) == 3


def test_the_parameter_since_continues_a_stream_after_a_record(served: Sandbox, url: str) -> None:
    """Last-Event-ID takes precedence over the parameter. After a rewind, request numbers repeat."""
    for path in (BALANCE, NOBODY, BALANCE):
        served.client().get(path)
    with (
        connect(url) as remote,
        served.journal.follow(since="r1") as local,
        remote.journal.follow(since="r1") as there,
    ):
        assert [next(local).id, next(local).id] == [next(there).id, next(there).id] == ["r2", "r3"]
        served.rewind("r1")
        served.client().get(NOBODY)
        for line in (next(local), next(there)):
            assert (line.id, line.outcome) == ("r1", "domain_not_found")
    served.client().get(BALANCE)
    with Sse(url, "journal/follow?since=r0", {"Last-Event-ID": "r1"}) as sse:
        assert sse.event()["id"] == "r2"
    numbers = [event.number for event in served.events.list().events]
    with served.events.follow(since=numbers[1]) as events:
        assert [next(events).number for _ in numbers[2:]] == numbers[2:]


def test_streams_report_events_and_clock_moves(served: Sandbox, url: str) -> None:
    """The stream of the clock has each due event, the new time, and whether the clock runs."""
    with (
        connect(url) as remote,
        served.events.follow() as local,
        remote.events.follow(kind="time") as there,
        served.clock.watch() as ticks,
        remote.clock.watch() as remote_ticks,
    ):
        served.client().get(BALANCE)
        moved = served.clock.advance("P90D")
        known = served.events.list(limit=500).events
        assert sorted(islice(local, len(known)), key=lambda one: one.number) == list(known)
        assert tuple(next(there).registry_event for _ in moved.events) == moved.events
        for watched in (ticks, remote_ticks):
            came = list(islice(watched, moved.total + 1))
            assert tuple(tick.registry_event for tick in came[:-1]) == moved.events
            assert (came[-1].name, came[-1].now) == ("clock.advance", moved.now)
        served.clock.run()
        assert next(ticks).frozen is next(remote_ticks).frozen is False
        served.clock.freeze()
        assert next(ticks).frozen is True


def test_a_slow_subscriber_gets_only_the_latest_records(served: Sandbox, url: str) -> None:
    """Records above the limit per second, or above a thousand waiting records, are left out and counted."""
    for _ in range(9):
        served.client().get(BALANCE)
    with connect(url) as remote:
        for world in (served, remote):
            with world.journal.follow(since="r1", per_second=4) as following:
                assert (next(following).id, following.missed) == ("r9", 7)
                served.client().get(NOBODY)
                assert next(following).id == "r10"
                served.rewind("r10")
    with served.journal.follow(per_second=2) as following:
        started = monotonic()
        served.client().get(BALANCE)
        next(following)
        served.client().get(BALANCE)
        next(following)
        assert 0.5 <= monotonic() - started < 10
    for follow in (served.journal.follow, served.events.follow, served.clock.watch):
        with follow(per_second=20) as following:
            for _ in range(15):
                served.client().get(BALANCE)
                served.clock.advance("PT1M")
            list(islice(following, 5))
            assert following.missed >= 10
    with served.events.follow(name="clock.freeze") as following:
        for _ in range(1_005):
            served.clock.freeze()
        latest = served.events.list(limit=1).events[0].number
        assert (latest - next(following).number, following.missed) == (999, 5)


def test_a_stream_ends_at_close_or_when_the_world_is_deleted(served: Sandbox, url: str) -> None:
    with served.fork(name="gone") as fork, connect(url, world="gone") as remote:
        for following in (fork.journal.follow(), remote.journal.follow()):
            timer = threading.Timer(0.1, following.close)
            timer.start()
            assert list(following) == []
        with fork.journal.follow() as local, remote.journal.follow() as there:
            fork.close()
            assert list(local) == list(there) == []


def test_a_server_that_stops_ends_its_streams(at_once: Any) -> None:
    """A stream is also refused without the token, for a wrong parameter, and without a server."""
    sandbox = Sandbox(REGISTRY, control_token="a-token")
    with ExitStack() as stopping, sandbox.serve() as server:
        token = {"X-Sandbox-Token": "a-token"}
        streams = [Sse(server.url, "journal/follow", token) for _ in range(20)]
        remote = connect(server.url, control_token="a-token")
        following = remote.events.follow()
        with pytest.raises(Refused, match="control_token_missing"):
            connect(server.url).journal.follow()
        with pytest.raises(Refused, match="createDomain"):
            remote.journal.follow(operation="v3.creatDomain")
        with Sse(server.url, "journal/follow") as sse:
            assert sse.response.status == 401
        stopping.enter_context(at_once())
    for stream in streams:
        with stream:
            assert stream.event() == {"event": "end", "data": "{}"}
    assert list(following) == []
    with pytest.raises(OSError, match="no sandbox answers"):
        remote.journal.follow()


@pytest.mark.slow
def test_a_server_sends_a_heartbeat_when_nothing_happens(served: Sandbox, url: str) -> None:
    """A remote sandbox skips the heartbeat."""
    with Sse(url, "journal/follow") as sse, connect(url) as there, there.journal.follow() as following:
        assert sse.event() == {"": "here"}
        served.client().get(BALANCE)
        assert next(following).id == "r1"


def test_the_command_follow_prints_each_record_in_a_line_until_interrupted(served: Sandbox, url: str) -> None:
    served.client().get(BALANCE)
    command = [sys.executable, "-c", MAIN, "journal", "follow", "--since", "r0", "--url", url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "r1 v3.balance by main: ok" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=60), process.returncode) == ("", "", 0)
    with served.fork(name="gone") as fork:
        fork.client().get(BALANCE)
        timer = threading.Timer(3, fork.close)  # when the command follows
        timer.start()
        done = run("journal", "follow", "--since", "r0", "--json", "--world", "gone", "--url", url)
        assert json.loads(done.out)["operation"] == "v3.balance"
