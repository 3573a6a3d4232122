"""Clients that wait because of faults."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from statistics import median
from time import perf_counter, sleep
from typing import Any

from reseller_sandbox import Sandbox
from tests.benchmarks.answering import written
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
PATH = "/V2.0/domain/active-example.com"


def beside_hanging(
    count: int, requests: int = 300, clock: Callable[[], float] = perf_counter
) -> dict[str, float]:
    """Return the seconds of a good request by ``clock``: alone, and beside ``count`` that hang, wait or drip.

    ``stop`` is how long the server takes to stop then.
    """
    sandbox = Sandbox()
    sandbox.faults.replace([{**rule, "match": {"path": f"*/{path}"}} for path, rule in HELD_UP.items()])
    token = {"X-Auth-Token": sandbox.accounts["main"].token}

    def ask(client: Socket) -> None:
        assert client("GET", PATH, [*token.items()], b"").status == 200

    def good() -> float:
        """Return the median of the quietest sixth of the requests, one after another on one connection."""
        with closing(Socket(server.url)) as client:
            taken = [seconds(partial(ask, client), clock) for _ in range(requests)]
        size = max(requests // 6, 1)
        return min(median(taken[start : start + size]) for start in range(0, size * 6, size))

    with sandbox.serve() as server, ExitStack() as stack:
        alone = good()
        for number in range(count):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            path = list(HELD_UP)[number % len(HELD_UP)]
            client.sendall(written("GET", f"{PATH}/{path}", server.port, token))
        deadline = perf_counter() + 60
        while sum(rule.applied for rule in sandbox.faults.list()) < count:
            assert perf_counter() < deadline, "not every request has arrived"
            sleep(0.01)
        return {"alone": alone, "beside": good(), "stop": seconds(server.stop)}  # type: ignore[union-attr]  # of this process


def measure(how: How) -> Found:
    """Measure a request while faults delay the requests of other clients."""
    count = 50 if how.tiny else 1000
    rounds = [beside_hanging(count, how.times(300)) for _ in range(how.rounds)]
    beside = ratios([taken["beside"] for taken in rounds], [taken["alone"] for taken in rounds])
    yield Figure(f"a request beside {count:,} delayed requests", "× alone", beside)
    yield Figure(f"stopping with {count:,} delayed requests", "ms", [taken["stop"] * 1e3 for taken in rounds])
