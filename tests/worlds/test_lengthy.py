"""What takes long, with a world that holds much, holds up nobody else."""

from __future__ import annotations

import http.client
import json
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from socket import create_connection
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import WorldClock, real_now
from reseller_sandbox.core.state import filled
from reseller_sandbox.server.collector import Beside
from reseller_sandbox.worlds.turn import Busy, hurried
from tests.benchmarks import growing
from tests.clients import Answer, Api, Headers, Socket

ORDERS = 6000

#: How many seconds a thread may compute before others can be let on.
LONGEST_STRETCH = 0.05

#: A long way for the clock of a world with so many names, and where it leads.
FAR = b'{"by": "P2Y", "limit": 3}'
EARLIER, LATER = "2026-01-15T12:00:00Z", "2028-01-15T12:00:00Z"


@pytest.fixture(scope="module")
def grown() -> Sandbox:
    """A world with some thousands of names."""
    return holding_orders()


def holding_orders() -> Sandbox:
    """A sandbox whose default world has some thousands of names."""
    return growing.grown(ORDERS, max_body=1 << 24)


def ask(port: int, method: str, path: str, body: bytes | None = None, world: str = "default") -> Any:
    """A request to control on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, f"/_worlds/{world}/_sandbox/{path}", body)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    assert answer.status < 300, told
    return told


def answered_meanwhile(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    """How many quick requests are answered while a long one is under way, and the long one's answer."""
    answered = []
    told = meanwhile(
        lambda: answered.append(ask(port, "GET", "health")), lambda: ask(port, method, path, body)
    )
    return len(answered), told


@pytest.mark.slow
def test_writing_and_reading_a_large_world_lets_others_through(grown: Sandbox) -> None:
    """Export, import and a fork of a state: others are answered all the while, and nothing is missing."""
    with grown.serve() as server:
        count, exported = answered_meanwhile(server.port, "GET", "history/export")
        assert count > 5
        body = json.dumps({"fixture": exported["fixture"]}).encode()
        count, loaded = answered_meanwhile(server.port, "POST", "history/load", body)
        assert count > 5
        assert "branch" in loaded
        assert len(grown.world.state.orders) > ORDERS
        body = json.dumps({"state": exported["fixture"] + "\n# another text\n"}).encode()
        count, forked = answered_meanwhile(server.port, "POST", "worlds/fork", body)
        assert count > 5
        assert forked["orders"] == len(grown.world.state.orders)


def test_a_long_way_of_one_clock_holds_up_no_other_world(grown: Sandbox) -> None:
    """Clients of other worlds are answered all the while, and control still looks at this one."""
    busy, other = grown.fork(name="busy"), grown.fork(fixture="default")
    with grown.serve() as server:
        api, taken = client(server.url, other), []

        def ask_another_world() -> None:
            taken.append(api.get("/v3/balance").status)
            assert ask(server.port, "GET", "clock", world="busy")["now"] in (EARLIER, LATER)

        moved = meanwhile(ask_another_world, partial(ask, server.port, "POST", "clock/advance", FAR, "busy"))
    assert moved["total"] > ORDERS
    assert len(moved["fired"]) == 3
    assert moved["now"] == LATER
    assert set(taken) == {200}
    assert len(taken) > 10
    assert busy.world.now().year == 2028


def test_requests_of_a_world_whose_clock_is_on_its_way_take_effect_after_it(grown: Sandbox) -> None:
    """They wait their turn, in the order in which they came, and whoever came before saw the world before."""
    busy = grown.fork(name="waiting")
    with grown.serve() as server:
        clients = [client(server.url, busy) for _ in range(4)]
        answers: list[Answer] = []
        threads = [
            threading.Thread(target=lambda api=api: answers.append(api.get("/v3/balance"))) for api in clients
        ]

        def ask_this_world() -> None:
            time.sleep(0.01)
            if threads[0].ident is None and is_at_work(busy):
                for thread in threads:
                    thread.start()

        meanwhile(ask_this_world, partial(ask, server.port, "POST", "clock/advance", FAR, "waiting"))
        for thread in threads:
            thread.join()
    assert {answer.headers["date"][:16] for answer in answers} == {"Sat, 15 Jan 2028"}
    assert [entry.id for entry in busy.world.journal] == ["r1", "r2", "r3", "r4"]
    assert {entry.at.year for entry in busy.world.journal} == {2028}


def test_a_clock_that_fell_far_behind_catches_up_beside_the_others(grown: Sandbox) -> None:
    """The first request after a long time has all happen that came due; others are answered meanwhile."""
    behind, other = grown.fork(name="behind"), grown.fork(fixture="default")
    moment = behind.world.moment
    clock = WorldClock(moment.clock.now(), real_now() - timedelta(days=730))
    behind.world.moment = replace(moment, clock=clock)
    with grown.serve() as server:
        late, api, taken = client(server.url, behind), client(server.url, other), []

        def ask_another_world() -> None:
            assert api.get("/v3/balance").status == 200
            taken.append(not late_answer)

        late_answer: dict[str, Any] = {}
        meanwhile(ask_another_world, lambda: late_answer.update(late.get("/v3/balance").json[0]) or {})
    assert sum(taken) > 10
    assert late_answer["serverTime"][:4] == "2028"
    assert not behind.world.is_far_behind


def test_what_cannot_be_read_waits_for_a_clock_that_fell_far_behind_beside_the_others() -> None:
    """It stands in the default world's journal once that has caught up; meanwhile others are answered."""
    sandbox = holding_orders()
    other = sandbox.fork(fixture="default")
    moment = sandbox.world.moment
    sandbox.world.moment = replace(
        moment, clock=WorldClock(moment.clock.now(), real_now() - timedelta(days=730))
    )
    with sandbox.serve() as server:
        api, answered = client(server.url, other), []
        with create_connection(("127.0.0.1", server.port)) as malformed:
            malformed.sendall(b"what is this\r\n\r\n")
            assert malformed.recv(100).startswith(b"HTTP/1.1 400")
        while sandbox.world.is_far_behind:
            answered.append(api.get("/v3/balance").status)
        assert len(answered) > 10
        with sandbox.world.lock:
            entry = sandbox.world.journal.get("r1")
    assert (entry.status, entry.at.year) == (400, 2028)


WORK: dict[str, Callable[[Sandbox, str], object]] = {
    "export": lambda sandbox, _: sandbox.export(),
    "load": lambda sandbox, text: sandbox.load(text),
    "fork of a sent state": lambda sandbox, text: sandbox.fork(state=text),
    "a year": lambda sandbox, _: sandbox.clock.advance(by="P1Y"),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing here tells of computing time")
@pytest.mark.parametrize("what", WORK)
def test_no_piece_of_long_work_keeps_the_interpreter(grown: Sandbox, what: str) -> None:
    """Other threads can be let on after few milliseconds of computing: no garbage is collected, for one."""
    text = grown.export()
    busy = grown.fork(seed=what)
    assert longest_stretch(partial(WORK[what], busy, f"{text}# {what}\n")) < LONGEST_STRETCH
    busy.close()


ENTRIES = 60_000

#: What is read of a world with as many orders and ledger entries.
READING: dict[str, Callable[[Sandbox], object]] = {
    "export": lambda sandbox: sandbox.export(),
    "ledger": lambda sandbox: sandbox.client().get("/_sandbox/ledger?limit=10000"),
    "a glob over the ledger": lambda sandbox: sandbox.ledger.find(operation="*r*e*n*e*w*"),
    "advice": lambda sandbox: sandbox.advice.list(),
    "diff": lambda sandbox: sandbox.history.diff(),
}


@pytest.fixture(scope="module")
def long_lived() -> Sandbox:
    """A world whose names have been paid for many times, and whose first account has sent a request."""
    sandbox = growing.grown(ENTRIES)
    state = sandbox.world.moment.state
    one = state.ledger[min(state.ledger)]
    paid = [replace(one, id=number, amount=one.amount * 0) for number in range(1000, 1000 + ENTRIES)]
    sandbox.world.moment = replace(sandbox.world.moment, state=filled(state, paid))
    sandbox.client().get("/v3/balance")
    return sandbox


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing here tells of computing time")
@pytest.mark.parametrize("what", READING)
def test_nothing_read_of_a_long_lived_world_keeps_the_interpreter(long_lived: Sandbox, what: str) -> None:
    """No call into C goes over a whole table, or writes it."""
    sandbox = long_lived.fork()
    assert longest_stretch(partial(READING[what], sandbox)) < LONGEST_STRETCH
    sandbox.close()


def longest_stretch(work: Callable[[], object]) -> float:
    """How many seconds ``work`` computes at most before it comes to where Python lets other threads on.

    There it takes signals as well, which come by the computing time of this process: it makes no difference
    what else the machine is busy with.
    """
    there = [time.thread_time()]
    before = signal.signal(signal.SIGPROF, lambda *_: there.append(time.thread_time()))
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    try:
        with Beside():
            work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    there.append(time.thread_time())
    return max(after - before for before, after in pairwise(there))


def client(url: str, sandbox: Sandbox) -> Api:
    """The first account of a world, each of whose requests has a connection of its own."""

    def send(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        socket = Socket(url)
        try:
            return socket(method, target, headers, raw)
        finally:
            socket.close()

    return Api(send, url, sandbox.account().key, sandbox.account().secret)


def is_at_work(sandbox: Sandbox) -> bool:
    """Whether another thread is changing the sandbox's world."""
    try:
        with hurried(), sandbox.world.lock:
            return False
    except Busy:
        return True


def meanwhile(quick: Callable[[], object], long: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the long call answers; ``quick`` is called again and again until it does."""
    told: dict[str, Any] = {}
    thread = threading.Thread(target=lambda: told.update(long()))
    thread.start()
    while thread.is_alive():
        quick()
    thread.join()
    return told
