"""A server under load with all that can be done to it at once: connections, faults, clocks, side worlds."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles
from subprocess import Popen
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import yaml

from reseller_sandbox import Sandbox, connect
from tests.benchmarks.load import written
from tests.benchmarks.measuring import Figure, Found, How, line_of, memory, running, serving
from tests.clients import Api, Socket, encoded, signature

CONNECTIONS, FOLLOWERS, SECONDS = 64, 40, 60.0

#: How many right responses have to come, and in how many rounds at most on a busy machine.
ENOUGH, ROUNDS = 200, 10

#: How much may be held at the end beyond what was held after half the time.
MORE_MEMORY, MORE_DESCRIPTORS = 48 << 20, 16

#: A fault of every kind, with its chance, in each phase; nothing that is charged each time is done twice.
RULES: tuple[dict[str, Any], ...] = tuple(
    {**rule, "when": {"chance": chance, **({"phase": phase} if phase else {})}}
    for rule, chance, phases in (
        ({"kind": "error", "error": "internal_error"}, 0.01, ("before", "after")),
        ({"kind": "error", "status": 502, "body": "bad gateway"}, 0.01, ("before", "after")),
        ({"kind": "latency", "seconds": 0.05}, 0.01, ("before", "after")),
        ({"kind": "drip", "size": 500, "pause": 0.01}, 0.01, ("after",)),
        ({"kind": "bandwidth", "rate": 20_000}, 0.01, ("after",)),
        ({"kind": "hang"}, 0.0003, ("before", "after")),
        ({"kind": "reset"}, 0.01, ("before", "after")),
        ({"kind": "close"}, 0.01, ("before", "after")),
        ({"kind": "truncate", "keep": 10}, 0.01, ("after",)),
        ({"kind": "garbage", "hex": "00ff00"}, 0.01, ("before", "after")),
        ({"kind": "mutate", "path": "status", "value": "odd"}, 0.01, ("after",)),
        ({"kind": "rate_limit", "limit": 20, "time": "real", "window": 1}, 0.05, ("",)),
        ({"kind": "duplicate", "match": {"operation": "v3.createDomain"}}, 0.05, ("",)),
        ({"kind": "stale"}, 0.02, ("",)),
    )
    for phase in phases
)

#: The kinds after which a client has no whole response.
CUTTING = ("hang", "reset", "close", "truncate", "garbage")

#: A request as it is sent, its status, and the name that it registers, if it does.
Asked = tuple[bytes, int, str]


@dataclass
class Seen:
    """What the clients have seen: times and kinds of responses, registered names, wrong responses."""

    taken: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    held: list[tuple[int, int]] = field(default_factory=list)
    followed: int = 0


def requests(sandbox: Sandbox, url: str, number: int) -> Iterator[Asked]:
    """Yield the requests of a client."""
    port, random, account = int(url.rpartition(":")[2]), Random(number), sandbox.accounts["main"]

    def asked(method: str, path: str, status: int, body: Any = None, name: str = "") -> Asked:
        raw = encoded(body)
        signed = signature(account.secret, account.key, url + path, raw)
        headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, "Content-Type": "application/json"}
        return written(method, path, port, {**headers, "X-Auth-Token": account.token}, raw), status, name

    looks = [
        asked("GET", "/v3/balance", 200),
        asked("GET", "/v3/domains/getDomain/active-example.com", 200),
        asked("GET", "/v3/domains/getDomain/nobody-has-it.com", 404),
        asked("GET", "/v3/domains?perPage=10", 200),
        asked("GET", "/V2.0/domain/active-example.com", 200),
    ]
    for turn in count():
        name = f"c{number}-{turn}-soak.com"
        order = ("POST", "/v3/domains/createDomain", 200, {"domain": {"domainName": name}}, name)
        yield asked(*order) if random.random() < 0.1 else random.choice(looks)


async def client(url: str, asking: Iterator[Asked], until: float, seen: Seen) -> None:
    """Send requests on one connection, or on another if a fault has ended it."""
    while perf_counter() < until:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
            try:
                while perf_counter() < until and await _exchanged(reader, writer, next(asking), until, seen):
                    pass
            finally:
                writer.transport.abort()


async def _exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: Asked, until: float, seen: Seen
) -> bool:
    """Send a request and judge its response; return whether the connection can be used again."""
    (raw, expected, name), began = asked, perf_counter()
    writer.write(raw)
    try:
        async with asyncio.timeout(min(20, max(until - began, 0))):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines if line)
            await reader.readexactly(int(headers.get("content-length", "")))
            status = int(first.split()[1])
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as end:
        in_time = not isinstance(end, TimeoutError) or perf_counter() < until
        seen.answers["cut" if in_time else "unfinished"] += 1
        return False
    if "x-sandbox-fault" in headers:
        seen.answers["struck"] += 1
    elif status == expected:
        seen.answers["own"] += 1
        seen.taken.append(perf_counter() - began)
        seen.names |= {name} - {""}
    else:
        seen.wrong.append(f"{status} for {raw.splitlines()[0]!r}")
    return True


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
    with sandbox.fork(name=f"side{turn}") as side, closing(Socket(url)) as socket:
        account = side.accounts["main"]
        side.faults.clear()
        api = Api(socket, url, account.key, account.secret)
        body = {"domain": {"domainName": f"side{turn}-soak.com"}}
        first = api.post("/v3/domains/createDomain", body)
        assert first.status == 200, first
        assert api.post("/v3/domains/createDomain", body).error == "name_taken"
        assert side.accounts["main"].balance < account.balance
        side.rewind(first.headers["x-sandbox-request"])
        assert side.accounts["main"].balance == account.balance


@contextmanager
def served(path: Path) -> Iterator[tuple[str, Popen[str]]]:
    """A server that keeps its worlds in a file; it is killed at the end if it still runs."""
    options = ("--quiet", "--frozen", "--journal", "300", "--max-events", "300", "--keep", path)
    with running(*serving(*options)) as server:
        try:
            yield line_of(server).split()[-1], server
        finally:
            server.kill()


async def loaded(url: str, process: int, seconds: float, seen: Seen, generation: int = 0) -> None:
    """Load a server for so many seconds, from all sides."""
    until = perf_counter() + seconds
    with connect(url) as sandbox:
        following = [asyncio.create_task(follower(url, seen)) for _ in range(FOLLOWERS)]

        async def steering() -> None:
            for turn in count():
                if perf_counter() > until:
                    return
                await asyncio.to_thread(steer, sandbox, url, turn)
                seen.held.append((memory(process), len(os.listdir(f"/proc/{process}/fd"))))
                await asyncio.sleep(0.1)

        asking = (requests(sandbox, url, generation * CONNECTIONS + number) for number in range(CONNECTIONS))
        await asyncio.gather(steering(), *(client(url, one, until, seen) for one in asking))
        for one in following:
            one.cancel()


def soaked(seconds: float) -> Seen:
    """Load a server and stop it; load it again and kill it. Assert that its books are right both times."""
    with TemporaryDirectory() as folder:
        path, seen = Path(folder) / "worlds", Seen()
        with served(path) as (url, server):
            with connect(url) as sandbox:
                sandbox.outside.adjust_balance("main", by=10_000_000)
                sandbox.faults.replace(RULES)
            for generation in range(ROUNDS):
                asyncio.run(loaded(url, server.pid, seconds, seen, generation))
                if seen.answers["own"] >= ENOUGH:
                    break
            with connect(url) as sandbox:
                rules = sandbox.faults.list()
            server.terminate()
            server.wait()
        assert seen.wrong == [], seen.wrong[:5]
        assert seen.answers["cut"] <= sum(one.struck for one in rules if one.kind in CUTTING), (
            "no fault cut it"
        )
        assert not [rule.name for rule in rules if not rule.matched]
        assert seen.followed, "nobody who followed was sent anything"
        _assert_charged_once(path, seen.names)
        killed = Seen()
        with served(path) as (url, server):

            async def until_killed() -> None:
                load = asyncio.create_task(loaded(url, server.pid, seconds + 30, killed, ROUNDS))
                await asyncio.sleep(min(seconds, 3))
                server.kill()
                load.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await load

            asyncio.run(until_killed())
        assert killed.wrong == [], killed.wrong[:5]
        _assert_charged_once(path, set())
    return seen


def _assert_charged_once(path: Path, names: set[str]) -> None:
    """Assert that no registration was charged twice, and that each of these names was charged."""
    with served(path) as (url, _), connect(url) as sandbox:
        document = yaml.load(sandbox.export(), yaml.CSafeLoader)
    entries = [one for one in document["ledger"].values() if one["purpose"] == "registration"]
    charged = Counter(one["domain"] for one in entries if "domain" in one)
    assert max(charged.values()) == 1, "a registration was charged twice"
    lost = names - charged.keys()
    assert not lost, f"{len(lost)} registrations were answered and not charged: {sorted(lost)[:5]}"


def run(how: How) -> Found:
    """A server under load from 64 connections, with faults, moving clocks and side worlds at once.

    Fails if a response was neither injected nor documented, if a charge is lost or comes twice, if memory or
    descriptors grow, or if a server that was killed does not go on.
    """
    seconds = 2.0 if how.tiny else SECONDS
    seen = soaked(seconds)
    yield f"{CONNECTIONS} connections for {seconds:g} s: {dict(seen.answers)}, {len(seen.held)} side worlds"
    yield Figure("responses", "a second", [seen.answers.total() / seconds])
    cuts = quantiles(seen.taken, n=100)
    for what, cut in (("half", 49), ("99 in 100", 98)):
        yield Figure(f"{what} of those that no fault touched, within", "ms", [cuts[cut] * 1e3])
    held = seen.held[:-1] or seen.held  # the last was taken when the clients had gone
    (megabytes, descriptors), (then, open_then) = held[-1], held[len(held) // 2]
    yield Figure("memory beyond that after half the time", "MiB", [(megabytes - then) / (1 << 20)])
    yield Figure("descriptors beyond those after half the time", "", [descriptors - open_then])
    if not how.tiny:
        assert megabytes - then < MORE_MEMORY, "memory grows under load"
        assert descriptors - open_then < MORE_DESCRIPTORS, "descriptors are not given back"
