"""Many worlds at once, interrupted calls, and long work: no world sees another or waits for it."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import time_machine

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, Headers, Socket, encoded, per_request
from tests.connection import Connection
from tests.registry import REGISTRY
from tests.waiting import wait_until
from tests.worlds.control import Control, control, enter, inside, register, renew, whole

WORLDS = 12


def drive(url: str, number: int, world: dict[str, Any]) -> dict[str, Any]:
    """Act in one world. Return everything that could show the actions of another world.

    Every world registers the same names, which are taken in a world that sees another. Clients of odd
    worlds use the prefix.
    """
    socket = Socket(url)
    prefix = world["prefix"] if number % 2 else ""

    def send(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        return socket(method, prefix + target, headers, raw)

    api, steer, answers = enter(send, url, world), Control(socket, world["name"]), []
    for step in range(number % 3 + 1):
        answers.append(register(api, f"common{step}.com", years=step + 1).status)
        steer.post("clock/advance", {"by": f"{number + 1}d"})
        steer.post("snapshots", {"name": f"s{step}"})
    answers.append(renew(api, "common0.com").status)
    assert set(answers) == {200}
    seen = {
        "export": steer.get("history/export"),
        "code": api.get("/v3/domains/getAuthcode/common0.com").json["authCode"],
        "requests": [row["id"] for row in steer.get("journal")["requests"]],
        "snapshots": [row["name"] for row in steer.get("snapshots")["snapshots"]],
        "world": api.get("/v3/balance").headers["x-sandbox-world"],
    }
    socket.close()
    return seen


def test_worlds_used_by_several_threads_do_not_affect_each_other() -> None:
    sandbox, alone = Sandbox(REGISTRY), Sandbox(REGISTRY)
    worlds = [control(sandbox).post("worlds/fork", {"seed": f"seed {number}"}) for number in range(WORLDS)]
    before = whole(sandbox)
    with sandbox.serve() as server, ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(drive, [server.url] * WORLDS, range(WORLDS), worlds))
    with alone.serve() as server:
        for number in range(WORLDS):
            world = control(alone).post("worlds/fork", {"seed": f"seed {number}"})
            assert drive(server.url, number, world) == seen[number]
    assert [row["world"] for row in seen] == [world["name"] for world in worlds]
    assert len({row["code"] for row in seen}) == WORLDS
    assert whole(sandbox) == before


def test_several_threads_can_fork_and_rewind_and_delete_worlds() -> None:
    sandbox = Sandbox(REGISTRY)

    def work(_: int) -> bool:
        with sandbox.fork() as fork:
            first = register(inside(fork), "mine.com")
            fork.rewind("r1")
            return first.status == 200 and first.raw == register(inside(fork), "mine.com").raw

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))
    assert [world.name for world in sandbox.worlds] == ["default"]


#: How often each call is interrupted, each time some microseconds later than the time before.
TIMES = 60


class Interrupted(BaseException):
    """The exception that the signal handler raises, as that of pytest-timeout does."""


def interrupt(*_: Any) -> None:
    raise Interrupted


def is_interrupted(call: Callable[[], Any], after: float) -> bool:
    """Run ``call`` and raise ``after`` so many seconds. Return whether that was before its end."""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except (Interrupted, LookupError):  # Flask fails in other ways, too, if its contexts are interrupted
        return True
    return False


#: For each call, the facts that hold all together or not at all.
CALLS: dict[str, tuple[Callable[[Sandbox], Any], Callable[[Sandbox], tuple[bool, ...]]]] = {
    "register": (
        lambda sandbox: register(inside(sandbox), "new.com"),
        lambda sandbox: (
            "new.com" in sandbox.names,
            any("new.com" in request.domains for request in sandbox.journal.list().requests),
            bool(sandbox.ledger.list(domain="new.com").entries),
        ),
    ),
    "advance the clock": (
        lambda sandbox: sandbox.clock.advance("P400D"),
        lambda sandbox: (
            sandbox.clock.now.year > 2026,
            bool(sandbox.events.list(kind="control").events),
            bool(sandbox.events.list(kind="time").events),
        ),
    ),
    "rewind": (
        lambda sandbox: sandbox.rewind("r1"),
        lambda sandbox: (
            "old.com" not in sandbox.names,
            not sandbox.journal.list().requests,
            bool(sandbox.branches.list().branches),
        ),
    ),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # raised in a ``__del__``
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupted_call_leaves_both_its_effect_and_its_log_entry_or_neither(
    sandbox: Sandbox, call: str
) -> None:
    act, facts = CALLS[call]
    register(inside(sandbox), "old.com")
    act(sandbox)  # which loads the modules
    torn, count = [], 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(TIMES):
            sandbox.reset(original=True)
            register(inside(sandbox), "old.com")
            count += is_interrupted(lambda: act(sandbox), (number + 1) * 1e-5)
            if len(set(facts(sandbox))) != 1:
                torn.append((number, facts(sandbox)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert torn == []
    assert count > 0


NAMES = 2000

#: A long way for the clock of a large world.
FAR = {"by": "P2Y", "limit": 3}


def holding(names: int, **settings: Any) -> Sandbox:
    """Return a sandbox whose world has that number of names, which renew themselves."""
    sandbox = Sandbox("empty", max_body=1 << 24, **settings)
    entry = {"created": "-100d", "autorenew": True}
    sandbox.load(
        {
            "now": "2026-01-15T12:00:00Z",
            "zones": {"com": {"prices": {"registration": 10, "renewal": 12, "transfer": 9, "restore": 80}}},
            "accounts": {"main": {"balance": 10**8, "contact": {"name": "Ann"}}},
            "domains": {"active.com": entry, **{f"n{number}.com": entry for number in range(names)}},
        }
    )
    sandbox.client().get("/v3/balance")
    return sandbox


def client(url: str, sandbox: Sandbox) -> Api:
    """Return the first account of a world."""
    return Api(per_request(url), url, sandbox.accounts["main"].key, sandbox.accounts["main"].secret)


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


def test_a_long_call_blocks_no_other_world(subtests: pytest.Subtests) -> None:
    """A request to its own world takes effect before or after the call."""
    grown = holding(NAMES)
    text = grown.export()
    grown.client().get("/v3/balance")  # a change, because the export of an unchanged world is remembered
    other, busy = grown.fork(name="other", fixture="default"), grown.fork(name="busy")
    busy.snapshot("before")
    began, dates = busy.clock.now, []
    calls: dict[str, tuple[str, str, Any]] = {
        "export": ("GET", "/_sandbox/history/export", None),
        "advance": ("POST", "/_worlds/busy/_sandbox/clock/advance", FAR),
        "load": ("POST", "/_worlds/busy/_sandbox/history/load", {"fixture": text + "# load\n"}),
        "fork": ("POST", "/_sandbox/worlds/fork", {"state": text + "# fork\n", "name": "copy"}),
    }
    with grown.serve() as server:
        beside, within = client(server.url, other), client(server.url, busy)
        for name, (method, target, body) in calls.items():
            with subtests.test(call=name):
                long = partial(per_request(server.url), method, target, [JSON], encoded(body))
                answer, count = meanwhile(lambda: beside.get("/v3/balance"), long)
                assert answer.status < 300, answer.raw
                assert count > 2
        busy.restore("before")
        long = partial(per_request(server.url), *calls["advance"][:2], [JSON], encoded(FAR))
        answer, _ = meanwhile(lambda: dates.append(within.get("/v3/balance").headers["date"]), long)
        dates.append(within.get("/v3/balance").headers["date"])
    assert answer.json["total"] > NAMES
    assert len(answer.json["events"]) == 3
    assert [world.orders for world in grown.worlds if world.name != "other"] == [NAMES + 1] * 3
    assert len(set(dates)) <= 2
    assert {request.at for request in busy.journal} <= {began, busy.clock.now}
    assert busy.clock.now.year == began.year + 2


def test_other_worlds_respond_while_the_clock_of_a_world_catches_up() -> None:
    """The clock runs, and two years pass without a request. A malformed request waits for the clock too."""
    sandbox = holding(NAMES, frozen=False)
    sandbox.clock.run()
    behind, other = sandbox.fork(name="behind"), sandbox.fork(fixture="default", frozen=True)
    year, requests = sandbox.clock.now.year, sandbox.journal.count()
    with sandbox.serve() as server:
        late, api = client(server.url, behind), client(server.url, other)
        with time_machine.travel(datetime.now(UTC) + timedelta(days=730), tick=True):
            answer, count = meanwhile(lambda: api.get("/v3/balance"), lambda: late.get("/v3/balance"))
            assert count > 2
            assert answer.json[0]["serverTime"][:4] == str(year + 2)
            with Connection.to(server.url) as malformed:
                malformed.send(b"what is this\r\n\r\n")
                assert malformed.head()[0] == 400

            def is_recorded() -> bool:
                assert api.get("/v3/balance").status == 200
                return sandbox.journal.count() > requests

            wait_until(is_recorded)
            request = sandbox.journal.list().requests[-1]
    assert (request.status, request.at.year) == (400, year + 2)


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


#: Control calls that cost the same in any world. The first ones prepare the later ones.
PROMPT: list[tuple[str, Any]] = [
    ("GET clock", None),
    ("POST assumptions/set", {"assume": {"v3.ids": "integer"}}),
    ("POST faults", {"kind": "latency", "name": "slow", "seconds": 0.001}),
    ("GET names/active.com", None),
    ("POST simulate/register", {"domain": "wanted.com"}),
    ("POST snapshots", {"name": "here"}),
    ("POST worlds/fork", {"name": "beside"}),
    ("GET journal/r1", None),
    ("POST history/rewind", {"request": "r1"}),
    ("POST history/reset", None),
]


def test_the_cost_of_a_control_call_depends_on_its_changes_and_not_on_the_world(
    subtests: pytest.Subtests,
) -> None:
    sizes = [holding(10), holding(50), holding(500)]  # the first one loads the modules
    for call, body in PROMPT:
        with subtests.test(call=call):
            method, path = call.split()
            _, small, large = (
                function_calls(partial(world.client().open, f"/_sandbox/{path}", method=method, json=body))
                for world in sizes
            )
            assert small[0].status_code < 300
            assert large[1] < small[1] * 1.25 + 100
    costs = []
    for world in sizes[1:]:
        moved, counted = function_calls(partial(world.clock.advance, "P1Y", limit=1))
        costs.append(counted / moved.total)
    assert max(costs) < 230
    assert costs[1] < costs[0] * 1.2


def test_a_deleted_world_is_freed_without_the_garbage_collector() -> None:
    """More worlds are made and deleted than the server remembers fixtures."""
    sandbox = holding(names := 50)
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


def test_an_exception_has_a_note_for_each_world() -> None:

    def fail(sandbox: Sandbox) -> None:
        with sandbox:
            sandbox.client().post("/v3/domains/renewDomain/active-example.com")
            with sandbox.fork() as fork:
                fork.clock.advance("P1D")
                raise AssertionError

    sandbox = Sandbox()
    with pytest.raises(AssertionError) as raised:
        fail(sandbox)
    inner, outer = (note.splitlines() for note in raised.value.__notes__)
    assert inner[:2] == ["reseller sandbox: world w1", "clock     2026-01-16T12:00:00Z, frozen"]
    assert outer[0] == "reseller sandbox: world default"
    assert outer[-1] == "  r1   POST /v3/domains/renewDomain/active-example.com: 200 ok, main paid 12.99"
    assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]


def test_an_exception_has_no_note_of_a_deleted_world() -> None:
    sandbox = Sandbox()
    with sandbox.fork() as fork:
        pass
    with pytest.raises(RuntimeError) as raised, fork:
        raise RuntimeError
    assert not hasattr(raised.value, "__notes__")
