"""Clients that wait because of faults."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from statistics import median
from time import perf_counter
from typing import Any

from reseller_sandbox import Sandbox
from tests.benchmarks.load import written
from tests.benchmarks.measuring import Figure, Found, How, ratios, seconds
from tests.clients import Socket

#: Every way of keeping a client waiting, each for a different path.
HELD_UP: dict[str, dict[str, Any]] = {
    "check": {"kind": "hang", "when": {"phase": "before"}},
    "transfer": {"kind": "hang", "when": {"phase": "after"}},
    "host": {"kind": "latency", "seconds": 600, "when": {"phase": "before"}},
    "restore": {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
    "renew": {"kind": "drip", "size": 1, "pause": 0.5},
}


def beside_hanging(
    count: int, requests: int = 300, clock: Callable[[], float] = perf_counter
) -> dict[str, float]:
    """Return the seconds of a good request by ``clock``: alone, and beside ``count`` that hang, wait or drip.

    ``stop`` is how long the server takes to stop then.
    """
    sandbox = Sandbox()
    sandbox.faults.replace([{**rule, "match": {"path": f"*/{path}"}} for path, rule in HELD_UP.items()])
    with sandbox.serve() as server:
        alone = good(sandbox, server.url, requests, clock)
        with held_up(sandbox, server.port, count):
            beside = good(sandbox, server.url, requests, clock)
            stop = seconds(server.stop)  # type: ignore[union-attr]  # a server of this process
    return {"alone": alone, "beside": beside, "stop": stop}


def good(sandbox: Sandbox, url: str, requests: int, clock: Callable[[], float]) -> float:
    """Return the median of the quietest sixth of the requests, one after another on one connection."""

    def ask() -> None:
        assert client("GET", "/V2.0/domain/active-example.com", [*_token(sandbox).items()], b"").status == 200

    with closing(Socket(url)) as client:
        taken = [seconds(ask, clock) for _ in range(requests)]
    size = max(requests // 6, 1)
    return min(median(taken[start : start + size]) for start in range(0, size * 6, size))


@contextmanager
def held_up(sandbox: Sandbox, port: int, count: int) -> Iterator[None]:
    """Send requests whose responses do not come."""
    clients = []
    for number in range(count):
        path = f"/V2.0/domain/active-example.com/{list(HELD_UP)[number % len(HELD_UP)]}"
        clients.append(client := socket.create_connection(("127.0.0.1", port), timeout=60))
        client.sendall(written("GET", path, port, _token(sandbox)))
    deadline = perf_counter() + 60
    while sum(rule.applied for rule in sandbox.faults.list()) < count:
        assert perf_counter() < deadline, "not every request has arrived"
    yield
    for client in clients:
        client.close()


def _token(sandbox: Sandbox) -> dict[str, str]:
    return {"X-Auth-Token": sandbox.accounts["main"].token}


def measure(how: How) -> Found:
    """Measure a request while faults delay the requests of other clients."""
    count = 50 if how.tiny else 1000
    rounds = [beside_hanging(count, how.times(300)) for _ in range(how.rounds)]
    beside = ratios([one["beside"] for one in rounds], [one["alone"] for one in rounds])
    yield Figure(f"a request beside {count:,} delayed requests", "× alone", beside)
    yield Figure(f"stopping with {count:,} delayed requests", "ms", [one["stop"] * 1e3 for one in rounds])
