"""What faults cost those whom they do not strike."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from tests.clients import JSON, signature

GOOD = "/v3/balance"

#: Every way of keeping a client waiting, each for an operation of its own.
HELD_UP: dict[str, dict[str, Any]] = {
    "lock": {"kind": "hang", "when": {"phase": "before"}},
    "unlock": {"kind": "hang", "when": {"phase": "after"}},
    "lockUpdate": {"kind": "latency", "seconds": 600, "when": {"phase": "before"}},
    "unlockUpdate": {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
    "enableAutorenew": {"kind": "drip", "size": 1, "pause": 0.5},
}


def beside_hanging(count: int, requests: int = 300) -> dict[str, float]:
    """The seconds a good request takes, as a rule: alone, and beside ``count`` that hang, wait or drip.

    ``stop`` is how long the server takes to stop then.
    """
    sandbox = Sandbox()
    rules = [{**rule, "name": name, "match": {"operation": f"v3.{name}"}} for name, rule in HELD_UP.items()]
    sandbox.faults.replace(rules)
    with sandbox.serve() as server:
        alone = good(sandbox, server.url, requests)
        with held_up(sandbox, server.url, count):
            beside = good(sandbox, server.url, requests)
            began = stopwatch()
            server.stop()
            stop = stopwatch() - began
    return {"alone": alone, "beside": beside, "stop": stop}


def among_rules(count: int, requests: int = 300) -> dict[str, float]:
    """The seconds a request takes without rules, and with ``count`` that do not match it."""
    sandbox = Sandbox()
    client, times = sandbox.client(), {}
    idle = [{"kind": "reset", "match": {"operation": "v2.*", "domain": f"{n}.com"}} for n in range(count)]
    for name, rules in {"without": [], "with": idle}.items():
        sandbox.faults.replace(rules)
        taken = []
        for _ in range(requests):
            began = stopwatch()
            client.get(GOOD)
            taken.append(stopwatch() - began)
        times[name] = steady(taken)
    return times


def steady(taken: list[float], rounds: int = 6) -> float:
    """The median of the quietest round: what other programs take of the machine is not to count."""
    size = max(len(taken) // rounds, 1)
    return min(median(taken[start : start + size]) for start in range(0, size * rounds, size))


def good(sandbox: Sandbox, url: str, requests: int) -> float:
    """The seconds that a request takes as a rule, one after another on one connection."""
    parts, taken = urlsplit(url), []
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    for _ in range(requests):
        began = stopwatch()
        connection.request("GET", GOOD, headers=dict(_headers(sandbox, url, GOOD)))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
        taken.append(stopwatch() - began)
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
        client = socket.create_connection((parts.hostname, parts.port), timeout=10)
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        clients.append(client)
    deadline = stopwatch() + 30
    while sum(rule.struck for rule in sandbox.faults.list()) < count:
        assert stopwatch() < deadline, "not every request has come in"
    yield
    for client in clients:
        client.close()


def _headers(sandbox: Sandbox, url: str, target: str) -> list[tuple[str, str]]:
    own = sandbox.account()
    signed = signature(own.secret, own.key, url + target, b"")
    return [("X-SVC-APIKEY", own.key), ("X-SVC-SIGNATURE", signed), JSON]


def run() -> Iterator[str]:
    """Each result on a line."""
    found = beside_hanging(1000)
    alone, beside = found["alone"] * 1e6, found["beside"] * 1e6
    yield f"beside 1,000 held up {beside:.0f} µs, alone {alone:.0f} µs: {beside / alone:.2f} ×"
    yield f"stopping with 1,000 held up: {found['stop'] * 1e3:.0f} ms"
    costs = among_rules(1000)
    without, beside = costs["without"] * 1e6, costs["with"] * 1e6
    yield f"a request among 1,000 rules that do not match: {beside:.0f} µs, without rules {without:.0f} µs"
