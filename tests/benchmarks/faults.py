"""What faults cost those whom they do not strike; a read among rules in computing time."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from statistics import median
from time import process_time
from typing import Any
from urllib.parse import urlsplit

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from tests.benchmarks.measuring import Figure, How, Told, interleaved, ratios
from tests.clients import JSON, signature

GOOD = "/v3/balance"
NAME = "/v3/domains/getDomain/active-example.com"

#: Every way of keeping a client waiting, each for an operation of its own.
HELD_UP: dict[str, dict[str, Any]] = {
    "lock": {"kind": "hang", "when": {"phase": "before"}},
    "unlock": {"kind": "hang", "when": {"phase": "after"}},
    "lockUpdate": {"kind": "latency", "seconds": 600, "when": {"phase": "before"}},
    "unlockUpdate": {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
    "enableAutorenew": {"kind": "drip", "size": 1, "pause": 0.5},
}


def beside_hanging(
    count: int, requests: int = 300, clock: Callable[[], float] = stopwatch
) -> dict[str, float]:
    """The seconds a good request takes, as a rule: alone, and beside ``count`` that hang, wait or drip.

    They are those of ``clock``. ``stop`` is how long the server takes to stop then.
    """
    sandbox = Sandbox()
    rules = [{**rule, "name": name, "match": {"operation": f"v3.{name}"}} for name, rule in HELD_UP.items()]
    sandbox.faults.replace(rules)
    with sandbox.serve() as server:
        alone = good(sandbox, server.url, requests, clock)
        with held_up(sandbox, server.url, count):
            beside = good(sandbox, server.url, requests, clock)
            began = stopwatch()
            server.stop()
            stop = stopwatch() - began
    return {"alone": alone, "beside": beside, "stop": stop}


#: Rules that match no request of the benchmark, by what they say of those that they would match.
SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "by operation": lambda number: {"operation": "v3.renewDomain"},
    "by operation, with a star": lambda number: {"operation": "v2.*"},
    "by domain": lambda number: {"domain": f"n{number}.com"},
    "by operation and domain": lambda number: {"operation": "v3.getDomain", "domain": f"n{number}.com"},
    "by domain, with a star": lambda number: {"domain": f"*.n{number}.com"},
    "by account": lambda number: {"account": f"a{number}"},
    "by method": lambda number: {"method": "DELETE"},
    "by path": lambda number: {"path": f"*/n{number}.com"},
    "by header": lambda number: {"headers": {"X-Run": f"n{number}"}},
    "by body": lambda number: {"body": {"domain.domainName": f"n{number}.com"}},
}


def among_rules(count: int, how: How) -> Iterator[Figure]:
    """How many times as long a request takes among ``count`` rules that do not match it, by their shape."""
    ways, shapes = {}, dict(SHAPES)
    shapes["without"] = lambda number: {}
    for shape, match in shapes.items():
        sandbox = Sandbox()
        rules = [{"kind": "reset", "match": match(number)} for number in range(count)]
        sandbox.faults.replace(rules if shape != "without" else [])
        ways[shape] = partial(_request, sandbox, how.times(100))
    found = interleaved(ways, how.rounds)
    for shape in SHAPES:
        taken = ratios(found[shape], found["without"])
        yield Figure(f"a read among {count:,} rules {shape}", "× without rules", taken, "≤ 1.1")


def _request(sandbox: Sandbox, times: int) -> float:
    client, taken = sandbox.client(), []
    for _ in range(times):
        began = process_time()
        assert client.get(NAME).status_code == 200
        taken.append(process_time() - began)
    return median(taken)


def steady(taken: list[float], rounds: int = 6) -> float:
    """The median of the quietest round: what other programs take of the machine is not to count."""
    size = max(len(taken) // rounds, 1)
    return min(median(taken[start : start + size]) for start in range(0, size * rounds, size))


def good(sandbox: Sandbox, url: str, requests: int, clock: Callable[[], float] = stopwatch) -> float:
    """The seconds that a request takes as a rule, one after another on one connection."""
    parts, taken = urlsplit(url), []
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    for _ in range(requests):
        began = clock()
        connection.request("GET", GOOD, headers=dict(_headers(sandbox, url, GOOD)))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
        taken.append(clock() - began)
    connection.close()
    return steady(taken)


@contextmanager
def held_up(sandbox: Sandbox, url: str, count: int) -> Iterator[None]:
    """Clients whose requests have come in and whose answers do not come out."""
    parts = urlsplit(url)
    clients = []
    for number in range(count):
        target = f"/v3/domains/{list(HELD_UP)[number % len(HELD_UP)]}/example.com"
        lines = [f"POST {target} HTTP/1.1", f"Host: {parts.netloc}", "Content-Length: 0"]
        lines += [f"{name}: {value}" for name, value in _headers(sandbox, url, target)]
        client = socket.create_connection((parts.hostname, parts.port), timeout=60)
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        clients.append(client)
    deadline = stopwatch() + 60
    while sum(rule.struck for rule in sandbox.faults.list()) < count:
        assert stopwatch() < deadline, "not every request has come in"
    yield
    for client in clients:
        client.close()


def _headers(sandbox: Sandbox, url: str, target: str) -> list[tuple[str, str]]:
    own = sandbox.account()
    signed = signature(own.secret, own.key, url + target, b"")
    return [("X-SVC-APIKEY", own.key), ("X-SVC-SIGNATURE", signed), JSON]


def run(how: How) -> Told:
    """What rules cost that do not match, and what a thousand clients do that are held up."""
    count = 50 if how.tiny else 1000
    yield from among_rules(count, how)
    found = [beside_hanging(count, how.times(300)) for _ in range(how.rounds)]
    beside = ratios([one["beside"] for one in found], [one["alone"] for one in found])
    yield Figure(f"a request beside {count:,} that are held up", "× alone", beside)
    yield Figure(f"stopping with {count:,} held up", "ms", [one["stop"] * 1e3 for one in found])
