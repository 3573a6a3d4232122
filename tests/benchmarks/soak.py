"""A server under load with connections, faults, moving clocks and side worlds at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles
from subprocess import Popen
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import yaml

from reseller_sandbox import Sandbox, connect
from tests.benchmarks.measuring import Figure, Found, How, line_of, memory, running, serving
from tests.clients import encoded, signature

CONNECTIONS, FOLLOWERS, SECONDS = 64, 40, 60.0

#: The right responses that must come, and the most rounds until then on a busy machine.
ENOUGH, ROUNDS = 200, 10

#: Bytes and descriptors that may be held at the end beyond those after half the time.
MORE_MEMORY, MORE_DESCRIPTORS = 48 << 20, 16

PHASES = ("before", "after")

#: Faults, each with its chance. No fault duplicates a request that is charged each time.
FAULTS: tuple[tuple[dict[str, Any], float], ...] = (
    *(({"kind": "error", "error": "internal_error", "when": {"phase": phase}}, 0.01) for phase in PHASES),
    *(({"kind": "error", "status": 502, "body": "bad", "when": {"phase": phase}}, 0.01) for phase in PHASES),
    *(({"kind": "latency", "seconds": 0.05, "when": {"phase": phase}}, 0.01) for phase in PHASES),
    *(({"kind": "garbage", "hex": "00ff00", "when": {"phase": phase}}, 0.01) for phase in PHASES),
    *(({"kind": "hang", "when": {"phase": phase}}, 0.0003) for phase in PHASES),
    *(({"kind": "reset", "when": {"phase": phase}}, 0.01) for phase in PHASES),
    *(({"kind": "close", "when": {"phase": phase}}, 0.01) for phase in PHASES),
    ({"kind": "drip", "size": 500, "pause": 0.01}, 0.01),
    ({"kind": "bandwidth", "rate": 20_000}, 0.01),
    ({"kind": "truncate", "keep": 10}, 0.01),
    ({"kind": "mutate", "path": "status", "value": "odd"}, 0.01),
    ({"kind": "rate_limit", "limit": 20, "time": "real", "window": 1}, 0.05),
    ({"kind": "duplicate", "match": {"operation": "v3.createDomain"}}, 0.05),
    ({"kind": "stale"}, 0.02),
)
RULES = [{**rule, "when": {**rule.get("when", {}), "chance": chance}} for rule, chance in FAULTS]

#: The kinds after which a client has no whole response.
CUTTING = ("hang", "reset", "close", "truncate", "garbage")


READS = {
    "/v3/balance": 200,
    "/v3/domains/getDomain/active-example.com": 200,
    "/v3/domains/getDomain/nobody-has-it.com": 404,
    "/v3/domains?perPage=10": 200,
    "/V2.0/domain/active-example.com": 200,
}


@dataclass
class Seen:
    """Times and kinds of responses, registered names, wrong responses, and memory and descriptors."""

    taken: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    held: list[tuple[int, int]] = field(default_factory=list)
    followed: int = 0


def client(url: str, account: Any, number: int, until: float, seen: Seen) -> None:
    """Read, and now and then register a name, on one connection, or on another after a fault."""
    random, host = Random(number), url.removeprefix("http://")
    with closing(HTTPConnection(host)) as connection:
        for turn in count():
            began = perf_counter()
            if began > until:
                return
            method, (path, expected), name, raw = "GET", random.choice([*READS.items()]), "", b""
            if random.random() < 0.1:
                method, path, expected = "POST", "/v3/domains/createDomain", 200
                name = f"c{number}-{turn}-soak.com"
                raw = encoded({"domain": {"domainName": name}})
            signed = signature(account.secret, account.key, url + path, raw)
            headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed, "X-Auth-Token": account.token}
            connection.timeout = min(20, until - began)
            try:
                connection.request(method, path, raw, {**headers, "Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
            except (OSError, HTTPException) as end:
                is_late = isinstance(end, TimeoutError) and perf_counter() >= until
                seen.answers["unfinished" if is_late else "cut"] += 1
                connection.close()
                continue
            if response.headers["X-Sandbox-Fault"]:
                seen.answers["applied"] += 1
            elif response.status == expected:
                seen.answers["own"] += 1
                seen.taken.append(perf_counter() - began)
                seen.names |= {name} - {""}
            else:
                seen.wrong.append(f"{response.status} for {method} {path}")


def follow(url: str, seen: Seen) -> None:
    """Read the journal as it grows, until the server ends."""
    with closing(HTTPConnection(url.removeprefix("http://"))) as connection, suppress(OSError, HTTPException):
        connection.request("GET", "/_sandbox/journal/follow")
        for _ in connection.getresponse():
            seen.followed += 1


def steer(sandbox: Sandbox, turn: int) -> None:
    """Move the clock, take a snapshot, and let a side world live, go back and end."""
    sandbox.clock.advance("PT6H")
    sandbox.snapshot("latest")
    with sandbox.fork(name=f"side{turn}") as side:
        side.faults.clear()
        client, body = side.client(), {"domain": {"domainName": f"side{turn}-soak.com"}}
        before = side.accounts["main"].balance
        first, second = (client.post("/v3/domains/createDomain", json=body) for _ in range(2))
        assert (first.status_code, second.status_code) == (200, 409)
        assert side.accounts["main"].balance < before
        side.rewind(first.headers["X-Sandbox-Request"])
        assert side.accounts["main"].balance == before


@contextmanager
def served(path: Path) -> Iterator[tuple[str, Popen[str]]]:
    """Run a server that keeps its worlds in a file. Kill it at the end if it still runs."""
    options = ("--quiet", "--frozen", "--journal", "300", "--max-events", "300", "--state-file", path)
    with running(*serving(*options)) as server:
        try:
            yield line_of(server).split()[-1], server
        finally:
            server.kill()


def load(sandbox: Sandbox, url: str, process: int, seconds: float, seen: Seen) -> None:
    """Load a server for so many seconds, until enough right responses have come."""
    account, turns = sandbox.accounts["main"], count()
    for first in range(0, ROUNDS * CONNECTIONS, CONNECTIONS):
        until = perf_counter() + seconds
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            numbers = range(first, first + CONNECTIONS)
            clients = [threads.submit(client, url, account, number, until, seen) for number in numbers]
            while perf_counter() < until:
                steer(sandbox, next(turns))
                seen.held.append((memory(process), len(os.listdir(f"/proc/{process}/fd"))))
                sleep(0.1)
        for ended in clients:
            ended.result()
        if seen.answers["own"] >= ENOUGH:
            return


def soaked(seconds: float) -> Seen:
    """Load a server, stop it, and assert that its books are right after it has started again."""
    with TemporaryDirectory() as folder:
        path, seen = Path(folder) / "worlds", Seen()
        with served(path) as (url, server):
            with connect(url) as sandbox:
                sandbox.accounts.credit("main", 10_000_000)
                sandbox.faults.replace(RULES)
                for _ in range(FOLLOWERS):
                    Thread(target=follow, args=(url, seen), daemon=True).start()
                load(sandbox, url, server.pid, seconds, seen)
                rules = sandbox.faults.list()
            server.terminate()
            server.wait()
        assert seen.wrong == [], seen.wrong[:5]
        cuts = sum(rule.applied for rule in rules if rule.kind in CUTTING)
        assert seen.answers["cut"] <= cuts, "no fault cut it"
        assert not [rule.name for rule in rules if not rule.matched]
        assert seen.followed, "no follower was sent anything"
        with served(path) as (url, _), connect(url) as sandbox:
            document = yaml.load(sandbox.export(), yaml.CSafeLoader)
    entries = [entry for entry in document["ledger"].values() if entry["purpose"] == "registration"]
    charged = Counter(entry["domain"] for entry in entries if "domain" in entry)
    assert max(charged.values()) == 1, "a registration was charged twice"
    lost = seen.names - charged.keys()
    assert not lost, f"{len(lost)} registrations were answered and not charged: {sorted(lost)[:5]}"
    return seen


def measure(how: How) -> Found:
    """A server under load from 64 connections, with faults, moving clocks and side worlds at once.

    Fails if a response was neither injected nor documented, if a charge is lost or comes twice, or if memory
    or descriptors grow.
    """
    seconds = 2.0 if how.tiny else SECONDS
    seen = soaked(seconds)
    yield f"{CONNECTIONS} connections for {seconds:g} s: {dict(seen.answers)}, {len(seen.held)} side worlds"
    yield Figure("responses", "a second", [seen.answers.total() / seconds])
    cuts = quantiles(seen.taken, n=100)
    for what, number in (("half", 49), ("99 in 100", 98)):
        yield Figure(f"{what} of those that no fault touched, within", "ms", [cuts[number] * 1e3])
    held = seen.held[:-1] or seen.held  # the last was taken when the clients had gone
    (megabytes, descriptors), (then, open_then) = held[-1], held[len(held) // 2]
    yield Figure("memory beyond that after half the time", "MiB", [(megabytes - then) / (1 << 20)])
    yield Figure("descriptors beyond those after half the time", "", [descriptors - open_then])
    if not how.tiny:
        assert megabytes - then < MORE_MEMORY, "memory grows under load"
        assert descriptors - open_then < MORE_DESCRIPTORS, "descriptors are not given back"
