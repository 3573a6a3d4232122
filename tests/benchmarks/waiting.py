"""Requests of one world beside long work in another."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

from tests.benchmarks.growing import fixture
from tests.benchmarks.measuring import Figure, Found, How, computed, line_of, running, serving
from tests.clients import Socket, encoded

#: How long other requests may wait, in milliseconds, by the number of names in the large world.
BOUNDS = {10_000: 50, 60_000: 250}

#: The age of the names in years.
YEARS = 2

#: Long reads, by their path.
READS = (
    *("health", "history/export", "journal?limit=1000", "ledger?limit=10000", "ledger?operation=*r*e*n*e*w*"),
    *("openapi/control.json", "advice", "recording", "history/diff?from=start&limit=1000"),
)


class Served:
    """A large world on a server, and the world ``beside``."""

    def __init__(self, url: str, process: int, bound: int) -> None:
        self.url, self.process, self.bound = url, process, bound
        self.longest = 0.0
        self.ask("POST", "worlds/fork", {"name": "beside", "fixture": "default"})

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the response of control, on a separate connection."""
        with closing(Socket(self.url)) as client:
            client.connection.timeout = 300
            answer = client(method, f"/_sandbox/{path}", [], encoded(body))
        assert answer.status < 300, answer.raw[:500]
        return answer.raw

    def beside(self, what: str, work: Callable[[], object]) -> str:
        """Return how long ``work`` takes, and how long each request of the other world takes meanwhile."""
        with closing(Socket(self.url)) as client:
            thread = threading.Thread(target=work)
            waits: list[tuple[float, float]] = []
            began, before = perf_counter(), computed(self.process)
            thread.start()
            while thread.is_alive() or not waits:
                now, exhausted = perf_counter(), computed(self.process)
                assert client("GET", "/_worlds/beside/_sandbox/health", [], b"").status == 200
                waits.append((perf_counter() - now, computed(self.process) - exhausted))
                sleep(0.001)
        default, worst = (pick(wait for wait, _ in waits) * 1e3 for pick in (median, max))
        most = max(exhausted for _, exhausted in waits) * 1e3
        self.longest = max(self.longest, most)
        return (
            f"{what:<42} {perf_counter() - began:6.2f} s, {computed(self.process) - before:5.2f} s of CPU; "
            f"others wait {default:5.1f} ms typically, {worst:4.0f} at most, {most:3.0f} of CPU"
            f"{' (too long)' * (most > self.bound)}"
        )


@contextmanager
def served(names: int, bound: int) -> Iterator[Served]:
    """Serve a world with so many names, which renew themselves, and a full journal."""
    with TemporaryDirectory() as folder:
        (text := Path(folder) / "many.yaml").write_text(fixture(names, autorenew=True))
        options = ("--fixture", text, "--frozen", "--max-control-body", str(1 << 26))
        with running(*serving(*options)) as program:
            yield Served(line_of(program).split()[-1], program.pid, bound)


def measure(how: How) -> Found:
    """How long a request of another world waits at most during a long operation in a large world.

    The CPU time of the server is more reliable on a busy machine.
    """
    for names, bound in {1_000: 50}.items() if how.tiny else BOUNDS.items():
        yield f"{names:,} names, at most {bound} ms"
        yield from _long_work(names, bound)


def _long_work(names: int, bound: int) -> Found:
    with served(names, bound) as server:
        server.ask("POST", "accounts/main/credit", {"amount": "9000000"})
        year = ("POST", "clock/advance", {"by": "P1Y", "limit": 1})
        for number in range(YEARS):
            yield server.beside(f"year {number + 1}", partial(server.ask, *year))
        for path in READS:
            server.ask("POST", "accounts/main/credit", {"amount": "1"})  # nothing is cached
            yield server.beside(path, partial(server.ask, "GET", path))
        text = json.loads(server.ask("GET", "history/export"))["fixture"]
        fork = {"name": "sent", "state": f"{text}# forked\n"}
        yield server.beside("fork of a sent state", partial(server.ask, "POST", "worlds/fork", fork))
        load = {"fixture": f"{text}# loaded\n"}
        yield server.beside("load", partial(server.ask, "POST", "history/load", load))
        yield Figure(f"the longest wait, {names:,} names", "ms of CPU", [server.longest], bound)
