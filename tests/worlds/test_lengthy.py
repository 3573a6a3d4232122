"""Work on large worlds: it blocks no other world, and costs no more than what it changes."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from socket import create_connection
from typing import Any

import pytest
import time_machine

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, Socket, encoded, per_request

NAMES = 1500

#: Seconds of computing after which other threads must get the interpreter.
LONGEST_STRETCH = 0.03

#: A long way for the clock of a large world.
FAR = {"by": "P2Y", "limit": 3}


def holding(names: int, **settings: Any) -> Sandbox:
    """Return a sandbox whose world has that number of names, which renew themselves."""
    sandbox = Sandbox("empty", max_body=1 << 24, **settings)
    prices = {"registration": 10, "renewal": 12, "transfer": 9, "restore": 80}
    entry = {"created": "-100d", "autorenew": True}
    world = {
        "now": "2026-01-15T12:00:00Z",
        "zones": {"com": {"prices": prices}},
        "accounts": {"main": {"balance": 10**8, "contact": {"name": "Ann"}}},
        "domains": {"active.com": entry, **{f"n{number}.com": entry for number in range(names)}},
    }
    sandbox.load(world)
    return sandbox


@pytest.fixture(scope="module")
def grown() -> Sandbox:
    """A world whose names have been paid for many times."""
    sandbox = holding(NAMES)
    sandbox.clock.advance("P3Y", limit=1)
    sandbox.client().get("/v3/balance")
    return sandbox


def client(url: str, sandbox: Sandbox) -> Api:
    """Return the first account of a world."""
    return Api(per_request(url), url, sandbox.account().key, sandbox.account().secret)


def meanwhile(quick: Callable[[], object], long: Callable[[], Answer]) -> tuple[Answer, int]:
    """Call ``quick`` until ``long`` returns. Return the answer of ``long``, and the number of calls."""
    answers: list[Answer] = []
    thread, count = threading.Thread(target=lambda: answers.append(long())), 0
    thread.start()
    while thread.is_alive():
        quick()
        count += 1
    thread.join()
    return answers[0], count


def test_clients_of_other_worlds_are_answered_during_long_calls(
    subtests: pytest.Subtests, grown: Sandbox
) -> None:
    text = grown.export()
    grown.client().get("/v3/balance")  # a change, because the export of an unchanged world is remembered
    other = grown.fork(name="other", fixture="default")
    grown.fork(name="busy")
    calls: dict[str, tuple[str, str, Any]] = {
        "export": ("GET", "/_sandbox/history/export", None),
        "advance": ("POST", "/_worlds/busy/_sandbox/clock/advance", FAR),
        "load": ("POST", "/_worlds/busy/_sandbox/history/load", {"fixture": text + "# load\n"}),
        "fork": ("POST", "/_sandbox/worlds/fork", {"state": text + "# fork\n", "name": "copy"}),
    }
    with grown.serve() as server, closing(Socket(server.url)) as socket:
        account = other.account()
        api = Api(socket, server.url, account.key, account.secret)

        def quick() -> None:
            assert api.get("/v3/balance").status == 200

        for name, (method, target, body) in calls.items():
            with subtests.test(call=name):
                long = partial(per_request(server.url), method, target, [JSON], encoded(body))
                answer, count = meanwhile(quick, long)
                assert answer.status < 300, answer.raw
                assert count > 0
                if name == "advance":
                    assert answer.json["total"] > NAMES
                    assert len(answer.json["fired"]) == 3
    assert [world.orders for world in grown.worlds if world.name != "other"] == [NAMES + 1] * 3
    for name in ("other", "busy", "copy"):
        grown.worlds.remove(name)


def test_requests_take_effect_before_or_after_a_long_advance(grown: Sandbox) -> None:
    busy = grown.fork(name="waiting")
    began = busy.clock.now
    with grown.serve() as server:
        api, dates = client(server.url, busy), []
        target = "/_worlds/waiting/_sandbox/clock/advance"
        advance = partial(per_request(server.url), "POST", target, [JSON], encoded(FAR))
        meanwhile(lambda: dates.append(api.get("/v3/balance").headers["date"]), advance)
        dates.append(api.get("/v3/balance").headers["date"])
    assert len(set(dates)) <= 2
    found = busy.journal.find(limit=10_000).requests
    numbers = [int(request.id.removeprefix("r")) for request in found]
    assert numbers == list(range(numbers[0], numbers[0] + len(dates)))
    assert {request.at for request in found} <= {began, busy.clock.now}
    assert busy.clock.now.year == began.year + 2


def test_other_worlds_are_answered_while_a_clock_catches_up() -> None:
    """The clock runs, and two years pass without a request. A malformed request waits for the clock too."""
    sandbox = holding(NAMES, frozen=False)
    sandbox.clock.run()
    behind, other = sandbox.fork(name="behind"), sandbox.fork(fixture="default", frozen=True)
    year = sandbox.clock.now.year
    with sandbox.serve() as server:
        late, api = client(server.url, behind), client(server.url, other)
        with time_machine.travel(datetime.now(UTC) + timedelta(days=730), tick=True):
            answer, count = meanwhile(lambda: api.get("/v3/balance"), lambda: late.get("/v3/balance"))
            assert count > 2
            assert answer.json[0]["serverTime"][:4] == str(year + 2)
            with create_connection(("127.0.0.1", server.port)) as malformed:
                malformed.sendall(b"what is this\r\n\r\n")
                assert malformed.recv(100).startswith(b"HTTP/1.1 400")
            deadline = time.monotonic() + 60
            while not sandbox.journal.find().requests and time.monotonic() < deadline:
                assert api.get("/v3/balance").status == 200
            request = sandbox.journal["r1"]
    assert (request.status, request.at.year) == (400, year + 2)


CALLS: dict[str, Callable[[Sandbox, str], object]] = {
    "export": lambda sandbox, _: sandbox.export(),
    "load": lambda sandbox, text: sandbox.load(text),
    "fork of a state": lambda sandbox, text: sandbox.fork(state=text),
    "a year": lambda sandbox, _: sandbox.clock.advance(by="P1Y", limit=1),
    "ledger": lambda sandbox, _: sandbox.client().get("/_sandbox/ledger?limit=10000"),
    "a glob over the ledger": lambda sandbox, _: sandbox.ledger.find(operation="*r*e*n*e*w*"),
    "advice": lambda sandbox, _: sandbox.advice.list(),
    "difference": lambda sandbox, _: sandbox.diff(),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timer")
def test_no_long_call_keeps_the_interpreter(subtests: pytest.Subtests, grown: Sandbox) -> None:
    """No call into C goes over a whole table.

    Each is measured in three new worlds: a long call into C is long each time, and a busy machine is not.
    """
    text = grown.export()
    for name, call in CALLS.items():
        stretches = []
        for number in range(3):
            with grown.fork() as busy:
                stretches.append(longest_stretch(partial(call, busy, f"{text}# {name} {number}\n")))
        with subtests.test(call=name):
            assert min(stretches) < LONGEST_STRETCH


def longest_stretch(work: Callable[[], object]) -> float:
    """Return the longest time in seconds that ``work`` computes without letting other threads run.

    Python takes signals where it lets other threads run. They come by the computing time of this process,
    because the machine may be busy with other processes.
    """
    seen = [time.thread_time()]
    before = signal.signal(signal.SIGPROF, lambda *_: seen.append(time.thread_time()))
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    gc.disable()  # as a server does meanwhile
    try:
        work()
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    seen.append(time.thread_time())
    return max(after - before for before, after in pairwise(seen))


def function_calls(work: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of ``work``, and how many functions it calls."""
    counted = 0

    def count(_frame: object, event: str, _about: object) -> None:
        nonlocal counted
        counted += event.endswith("call")

    sys.setprofile(count)
    try:
        return work(), counted
    finally:
        sys.setprofile(None)


def test_an_advance_costs_in_proportion_to_its_events() -> None:
    costs = []
    for names in (100, 1000):
        sandbox = holding(names)
        moved, counted = function_calls(partial(sandbox.clock.advance, "P1Y", limit=1))
        assert moved.total > names
        costs.append(counted / moved.total)
    assert max(costs) < 200
    assert costs[1] < costs[0] * 1.2


#: Control calls that cost the same in any world. The first ones prepare the later ones.
PROMPT: list[tuple[str, str, Any]] = [
    ("GET", "health", None),
    ("GET", "clock", None),
    ("POST", "clock/freeze", None),
    ("GET", "assumptions", None),
    ("POST", "assumptions/set", {"assume": {"v3.ids": "integer"}}),
    ("POST", "faults", {"kind": "latency", "name": "slow", "seconds": 0.001}),
    ("GET", "faults", None),
    ("GET", "names/active.com", None),
    ("GET", "accounts/main", None),
    ("POST", "names/new.com", {}),
    ("POST", "outside/register", {"domain": "wanted.com"}),
    ("POST", "snapshots", {"name": "here"}),
    ("POST", "snapshots/here/restore", None),
    ("POST", "worlds/fork", {"name": "beside"}),
    ("DELETE", "worlds/beside", None),
    ("GET", "journal/r1", None),
    ("POST", "history/rewind", {"request": "r1"}),
    ("POST", "history/reset", None),
]


def test_prompt_calls_cost_the_same_in_a_large_world(subtests: pytest.Subtests) -> None:
    sizes = [holding(10), holding(10), holding(2000)]  # the first one loads the modules
    for sandbox in sizes:
        sandbox.client().get("/v3/balance")
    for method, path, body in PROMPT:
        with subtests.test(call=f"{method} {path}"):
            _, small, large = (
                function_calls(partial(world.client().open, f"/_sandbox/{path}", method=method, json=body))
                for world in sizes
            )
            assert small[0].status_code < 300
            assert large[1] < small[1] * 1.25 + 100


class Knot:
    """An object that references itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_long_calls_leave_the_garbage_collector_as_it_was() -> None:
    """A server stops it during long calls. Garbage that the process makes between them is collected."""
    with holding(10).serve() as server:
        knots = []
        for _ in range(20):
            knots.append(weakref.ref(Knot()))
            assert per_request(server.url)("GET", "/_sandbox/history/export", [], b"").status == 200
        assert [knot() for knot in knots] == [None] * 20
        usual = sys.getswitchinterval()
        for enabled in (False, True):
            (gc.enable if enabled else gc.disable)()
            assert per_request(server.url)("GET", "/_sandbox/history/export", [], b"").status == 200
            assert (gc.isenabled(), sys.getswitchinterval()) == (enabled, pytest.approx(usual))


def test_a_deleted_world_is_freed_without_the_garbage_collector() -> None:
    """More worlds are made and deleted than the server remembers fixtures."""
    sandbox = holding(names := 150)
    client, text = sandbox.app.test_client(), sandbox.export()
    counts = []
    gc.collect()
    gc.disable()
    try:
        for number in range(30):
            body = {"state": f"{text}# {number}\n", "name": "brief"}
            assert client.post("/_sandbox/worlds/fork", json=body).status_code == 201
            assert client.delete("/_sandbox/worlds/brief").status_code == 200
            counts.append(len(gc.get_objects()))
    finally:
        gc.enable()
    assert counts[29] - counts[19] < 10 * names
