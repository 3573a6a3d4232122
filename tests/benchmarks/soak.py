"""A server under load, with all that can be done to it at once: 64 connections, faults, clocks, side worlds.

Fails where an answer was neither injected nor the documented one, where a charge is lost or comes twice,
where memory or descriptors grow, and where a server that was killed does not go on cleanly.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.model import Purpose
from reseller_sandbox.keeping.worlds import opened
from tests.benchmarks.growing import memory
from tests.benchmarks.load import written
from tests.benchmarks.measuring import Figure, How, Told
from tests.clients import JSON, Api, Socket, encoded, signature
from tests.soundness import assert_sound

CONNECTIONS, SECONDS = 64, 60.0
FOLLOWERS = 40

#: How many of the interfaces' own answers have to come, and in how many rounds at most on a busy machine.
ENOUGH, ROUNDS = 200, 10

#: How much may be held at the end beyond what was held after half the time: by then all that remembers the
#: latest requests is full.
MORE_MEMORY, MORE_DESCRIPTORS = 48 << 20, 16

#: How many seconds a client waits for an answer.
PATIENCE = 20.0

_BEFORE, _AFTER = {"phase": "before", "chance": 0.01}, {"phase": "after", "chance": 0.01}

_RARELY_BEFORE, _RARELY_AFTER = {**_BEFORE, "chance": 0.0003}, {**_AFTER, "chance": 0.0003}

#: A fault of every kind in each of its phases. Nothing is done twice that is charged each time.
RULES: tuple[dict[str, Any], ...] = tuple(
    {**rule, "when": when}
    for rule, whens in (
        ({"kind": "error", "error": "internal_error"}, (_BEFORE, _AFTER)),
        ({"kind": "error", "status": 502, "body": "bad gateway"}, (_BEFORE, _AFTER)),
        ({"kind": "latency", "seconds": 0.05}, (_BEFORE, _AFTER)),
        ({"kind": "drip", "size": 500, "pause": 0.01}, (_AFTER,)),
        ({"kind": "bandwidth", "rate": 20_000}, (_AFTER,)),
        ({"kind": "hang"}, (_RARELY_BEFORE, _RARELY_AFTER)),
        ({"kind": "reset"}, (_BEFORE, _AFTER)),
        ({"kind": "close"}, (_BEFORE, _AFTER)),
        ({"kind": "truncate", "keep": 10}, (_AFTER,)),
        ({"kind": "garbage", "hex": "00ff00"}, (_BEFORE, _AFTER)),
        ({"kind": "mutate", "path": "status", "value": "odd"}, (_AFTER,)),
        ({"kind": "rate_limit", "limit": 20, "time": "real", "window": 1}, ({"chance": 0.05},)),
        ({"kind": "duplicate", "match": {"operation": "v3.createDomain"}}, ({"chance": 0.05},)),
        ({"kind": "stale"}, ({"chance": 0.02},)),
    )
    for when in whens
)

#: The kinds after which a client has no whole answer.
CUTTING = ("hang", "reset", "close", "truncate", "garbage")


@dataclass
class Seen:
    """What the clients have seen: how long answers took, and what became of each name that was asked for."""

    taken: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    held: list[tuple[int, int]] = field(default_factory=list)
    followed: int = 0


@dataclass(frozen=True)
class Asked:
    """A request, the status that it has to get, and the name that it registers, if it does."""

    raw: bytes
    status: int
    name: str = ""


def requests(sandbox: Sandbox, url: str, number: int) -> Iterator[Asked]:
    """Yield what a client asks for, one request after the other, by both interfaces."""
    port, random = int(url.rpartition(":")[2]), Random(number)
    account = sandbox.accounts.get("main")

    def v3(method: str, path: str, status: int, body: Any = None, name: str = "") -> Asked:
        raw = encoded(body)
        signed = signature(account.secret, account.key, url + path, raw)
        told = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, JSON[0]: JSON[1]}
        return Asked(written(method, path, port, told, raw), status, name)

    def v2(path: str) -> Asked:
        return Asked(written("GET", f"/V2.0{path}", port, {"X-Auth-Token": account.token}), 200)

    looks = [
        v3("GET", "/v3/balance", 200),
        v3("GET", "/v3/domains/getDomain/active-example.com", 200),
        v3("GET", "/v3/domains/getDomain/nobody-has-it.com", 404),
        v3("GET", "/v3/domains?perPage=10", 200),
        v2("/domain/active-example.com/check"),
        v2("/domain/active-example.com"),
    ]
    for turn in count():
        if random.random() < 0.1:
            name = f"c{number}-{turn}-soak.com"
            yield v3("POST", "/v3/domains/createDomain", 200, {"domain": {"domainName": name}}, name)
        else:
            yield random.choice(looks)


async def client(url: str, asking: Iterator[Asked], until: float, seen: Seen) -> None:
    """Send requests on one connection, or on another where a fault has ended it."""
    port = int(url.rpartition(":")[2])
    while stopwatch() < until:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while stopwatch() < until and await _exchanged(reader, writer, next(asking), until, seen):
                    pass
            finally:
                writer.transport.abort()


async def _exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Asked, until: float, seen: Seen
) -> bool:
    """Send a request and look at its answer; return whether the connection can be used again."""
    began = stopwatch()
    if asked.name:
        seen.names[asked.name] = "perhaps"
    writer.write(asked.raw)
    try:
        async with asyncio.timeout(min(PATIENCE, max(until - began, 0))):
            status, headers = await _answer(reader)
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as end:
        in_time = not isinstance(end, TimeoutError) or stopwatch() < until
        seen.answers["cut" if in_time else "unfinished"] += 1
        seen.ends[type(end).__name__] += in_time
        return False
    if "x-sandbox-fault" in headers:
        seen.answers["struck"] += 1
    elif status == asked.status:
        seen.answers["own"] += 1
        seen.taken.append(stopwatch() - began)
        seen.names |= {asked.name: "yes"} if asked.name else {}
    else:
        seen.wrong.append(f"{status} for {asked.raw.splitlines()[0]!r}")
    return True


async def _answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Return status and headers of an answer that is read whole; raise ValueError where it is none."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    await reader.readexactly(int(headers.get("content-length", "")))
    return int(first.split()[1]), headers


async def follower(url: str, seen: Seen) -> None:
    """Follow the journal, and read all that comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(b"GET /_sandbox/journal/follow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    try:
        while await reader.read(1 << 16):
            seen.followed += 1
    finally:
        writer.transport.abort()


def steer(sandbox: Sandbox, url: str, turn: int) -> None:
    """Move the clock, take a snapshot, and let a side world live, go back and end."""
    sandbox.clock.advance("PT6H")
    sandbox.snapshot("latest")
    side = sandbox.fork(name=f"side{turn}")
    account = side.accounts.get("main")
    had = account.balance
    side.faults.clear()
    body = {"domain": {"domainName": f"side{turn}-soak.com"}}
    with closing(Socket(url)) as socket:
        api = Api(socket, url, account.key, account.secret)
        first = api.post("/v3/domains/createDomain", body)
        assert first.status == 200, first
        assert api.post("/v3/domains/createDomain", body).error == "name_taken"
    assert side.accounts.get("main").balance < had
    side.rewind(first.headers["x-sandbox-request"])
    assert side.accounts.get("main").balance == had
    sandbox.worlds.remove(f"side{turn}")


@contextmanager
def serving(path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own that keeps its worlds; it is killed at the end if it still runs."""
    command = (sys.executable, "-m", "reseller_sandbox.cli", "serve", "--port", "0", "--quiet", "--frozen")
    options = ("--journal", "300", "--max-events", "300", "--keep", str(path))
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().split()[-1], server
        finally:
            server.kill()


async def loaded(url: str, process: int, seconds: float, seen: Seen, generation: int = 0) -> None:
    """Load a server for so many seconds, from all sides."""
    sandbox = connect(url)
    until = stopwatch() + seconds
    following = [asyncio.create_task(follower(url, seen)) for _ in range(FOLLOWERS)]

    async def steering() -> None:
        for turn in count():
            if stopwatch() > until:
                return
            await asyncio.to_thread(steer, sandbox, url, turn)
            seen.held.append((memory(process), len(os.listdir(f"/proc/{process}/fd"))))
            await asyncio.sleep(0.1)

    asking = (requests(sandbox, url, generation * CONNECTIONS + number) for number in range(CONNECTIONS))
    await asyncio.gather(steering(), *(client(url, one, until, seen) for one in asking))
    for one in following:
        one.cancel()
    sandbox.close()


def soaked(seconds: float) -> Seen:
    """Load a server, stop it, and look at what it has kept; then load it again, kill it, and go on."""
    with TemporaryDirectory() as folder:
        path, seen = Path(folder) / "worlds", Seen()
        with serving(path) as (url, server):
            sandbox = connect(url)
            sandbox.outside.adjust_balance("main", by=10_000_000)
            sandbox.faults.replace(RULES)
            for generation in range(ROUNDS):
                asyncio.run(loaded(url, server.pid, seconds, seen, generation))
                if seen.answers["own"] >= ENOUGH:
                    break
            rules = sandbox.faults.list()
            struck = Counter({kind: sum(one.struck for one in rules if one.kind == kind) for kind in CUTTING})
            idle = [rule.name for rule in rules if not rule.matched]
            sandbox.close()
            server.terminate()
            server.wait()
        assert seen.wrong == [], seen.wrong[:5]
        assert seen.answers["cut"] <= struck.total(), f"ended by no fault: {seen.ends} against {struck}"
        assert not idle, f"no request met {idle}"
        assert seen.followed, "nobody who followed was told anything"
        _assert_charged_once(path, seen.names, whole=True)
        _killed(path, min(seconds, 3))
    return seen


def _killed(path: Path, seconds: float) -> None:
    """Kill a server under load: another goes on from its last whole save."""
    seen = Seen()
    with serving(path) as (url, server):

        async def until_killed() -> None:
            load = asyncio.create_task(loaded(url, server.pid, seconds + 30, seen, generation=ROUNDS))
            await asyncio.sleep(seconds)
            server.kill()
            load.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await load

        asyncio.run(until_killed())
    assert seen.wrong == [], seen.wrong[:5]
    _assert_charged_once(path, seen.names, whole=False)
    with serving(path) as (url, _):
        sandbox = connect(url)
        sandbox.faults.clear()
        account = sandbox.accounts.get("main")
        with closing(Socket(url)) as socket:
            answer = Api(socket, url, account.key, account.secret).get("/v3/balance")
        assert answer.status == 200, answer
        sandbox.close()


def _assert_charged_once(path: Path, names: dict[str, str], *, whole: bool) -> None:
    """Assert that the books of every world balance, and that each name was charged once, or not at all."""
    worlds = opened(path).worlds
    for world in worlds:
        assert_sound(world.moment.state)
    ledger = worlds[0].moment.state.ledger.values()
    charged = Counter(one.name for one in ledger if one.purpose is Purpose.REGISTRATION)
    assert max(charged.values()) == 1, "a registration was charged twice"
    lost = [name for name, came in names.items() if whole and came == "yes" and not charged[name]]
    assert not lost, f"{len(lost)} registrations were answered and not charged: {lost[:5]}"


def run(how: How) -> Told:
    """What answers took, and what was held; fails as the module says."""
    seconds = 2.0 if how.tiny else SECONDS
    seen = soaked(seconds)
    yield f"{CONNECTIONS} connections for {seconds:g} s: {dict(seen.answers)}, {len(seen.held)} side worlds"
    yield Figure("answers", "a second", [seen.answers.total() / seconds])
    cuts = quantiles(seen.taken, n=100)
    for what, cut in (("half", 49), ("99 in 100", 98)):
        yield Figure(f"{what} of those that no fault touched, within", "ms", [cuts[cut] * 1e3])
    held = seen.held[:-1] or seen.held  # the last was looked at when the clients had gone
    (megabytes, descriptors), (then, open_then) = held[-1], held[len(held) // 2]
    yield Figure("memory beyond that after half the time", "MiB", [(megabytes - then) / (1 << 20)])
    yield Figure("descriptors beyond those after half the time", "", [descriptors - open_then])
    if not how.tiny:
        assert megabytes - then < MORE_MEMORY, "memory grows under load"
        assert descriptors - open_then < MORE_DESCRIPTORS, "descriptors are not given back"
