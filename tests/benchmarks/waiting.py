"""How long a request of another world waits at most while something long goes on in a large one.

Beside the time on the clock stands what the server computed meanwhile, which says as much on a busy machine.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any, NamedTuple

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.collector import sparing_survivors
from tests.benchmarks.growing import grown, memory
from tests.benchmarks.measuring import Figure, How, Told
from tests.clients import Api, Socket

#: How many names the large world holds, and one whose clock goes on by a year.
NAMES, MANY_NAMES = 12_000, 60_000

#: How long the others may wait, in seconds, and how long a year may take.
BOUND, YEAR_BOUND = 0.05, 10.0

#: How long the names of a long-lived world have been renewed, in years.
YEARS = 2

YEAR = ("POST", "clock/advance", {"by": "P1Y", "limit": 1000})

#: How often each is done.
TIMES = 3


def busy(names: int, years: int = 0) -> Sandbox:
    """A sandbox whose world holds so many names more, renewed for so many years, and a full journal."""
    sandbox = grown(names, autorenew=years > 0, max_body=1 << 26)
    if years:
        sandbox.outside.adjust_balance("main", by=9_000_000)
        sandbox.clock.advance(f"P{years}Y", limit=1)
    client = sandbox.client("main")
    for number in range(sandbox.world.limits.journal):
        client.get(f"/v3/domains/getDomain/n{number + 1}.com")
    return sandbox


class Spent(NamedTuple):
    """Seconds on the clock, and how many the server computed in them."""

    passed: float
    computed: float

    def since(self, earlier: Spent) -> Spent:
        """What has been spent since then."""
        return Spent(self.passed - earlier.passed, self.computed - earlier.computed)


@dataclass(frozen=True)
class Served:
    """Where a sandbox of another process is served, and the credentials of an account in another world."""

    url: str
    port: int
    key: str
    secret: str
    process: int

    def spent(self) -> Spent:
        """What has been spent until now; where the system does not tell, the clock alone counts."""
        now, tasks = stopwatch(), Path(f"/proc/{self.process}/task")
        try:
            computed = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9
        except OSError:
            computed = now
        return Spent(now, computed)

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """What control answers on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, f"/_sandbox/{path}", None if body is None else json.dumps(body))
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        assert answer.status < 300, told
        return told

    def waits(self, work: Callable[[], object]) -> tuple[Spent, list[Spent]]:
        """How long ``work`` takes, and how long each request of the other world does meanwhile."""
        client = Socket(self.url)
        api = Api(client, self.url, self.key, self.secret)
        for _ in range(20):
            api.get("/v3/balance")
        thread = threading.Thread(target=work)
        waited: list[Spent] = []
        first = self.spent()
        thread.start()
        while thread.is_alive():
            began = self.spent()
            assert api.get("/v3/balance").status == 200
            waited.append(self.spent().since(began))
            sleep(0.001)
        client.close()
        return self.spent().since(first), waited


@contextmanager
def served(names: int, years: int = 0) -> Iterator[Served]:
    """A large world behind a socket of another process, as ``reseller-sandbox serve`` has it."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there, names, years), daemon=True)
    process.start()
    yield here.recv()
    here.send(None)
    process.join()


def _serve(pipe: Connection, names: int, years: int) -> None:
    sandbox = busy(names, years)
    account = sandbox.fork(fixture="default").account()
    with sparing_survivors(), sandbox.serve() as server:
        pipe.send(Served(server.url, server.port, account.key, account.secret, os.getpid()))
        pipe.recv()


def lengthy(exported: str) -> dict[str, tuple[str, str, Any]]:
    """What takes long, by name; ``exported`` is the text of a world as nobody has sent it before."""
    return {
        "nothing": ("GET", "health", None),
        "export": ("GET", "history/export", None),
        "journal?limit=1000": ("GET", "journal?limit=1000", None),
        "ledger": ("GET", "ledger?limit=1000", None),
        "document of v3": ("GET", "openapi/v3.json", None),
        "document of control": ("GET", "openapi/control.json", None),
        "fork of a sent state": ("POST", "worlds/fork", {"state": f"{exported}# forked\n"}),
        "a year": YEAR,
        "diff": ("GET", "history/diff?from=start&limit=1000", None),
        "load": ("POST", "history/load", {"fixture": exported}),
    }


#: What is asked of a world that lived long: its tables are larger than its names.
LONG_LIVED: dict[str, str] = {
    "export": "history/export",
    "ledger?limit=1000": "ledger?limit=1000",
    "ledger?limit=10000": "ledger?limit=10000",
    "a glob over the ledger": "ledger?operation=*r*e*n*e*w*",
    "advice": "advice",
    "recording": "capsule",
    "diff": "history/diff?from=start&limit=1000",
}


def bursts(port: int, size: int) -> dict[str, Callable[[], object]]:
    """Much input at once, by name, in proportion to ``size``."""
    load = b"POST /_sandbox/history/load HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    look = b"GET /_sandbox/assumptions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    text = b'{"fixture":"%b"}' % (b"a" * (30 * size))

    def many() -> None:
        threads = [threading.Thread(target=_sent, args=(port, look * 20, 20)) for _ in range(100)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    return {
        "1 MB of empty lines": partial(_sent, port, b"\r\n" * (size // 2) + look),
        "1,000,000 chunks": partial(
            _sent, port, load + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * size + b"0\r\n\r\n"
        ),
        "100 connections × 20": many,
        "a string of 30 MB": partial(_sent, port, load + b"Content-Length: %d\r\n\r\n" % len(text) + text),
    }


def _sent(port: int, data: bytes, answers: int = 1) -> None:
    """Send ``data`` on a connection of its own, and wait for its answers, or for its end."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        with suppress(ConnectionError):  # refused before it was all sent
            client.sendall(data)
        came = b""
        while came.count(b"HTTP/1.1 ") < answers and (more := client.recv(1 << 20)):
            came += more


def beside_idle_followers(server: Served, requests: int) -> float:
    """How many MiB 100 followers that do not read add, while so many requests are sent."""
    line = b"GET /_worlds/w1/_sandbox/journal/follow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    before = memory(server.process)
    with ExitStack() as stack:
        for _ in range(100):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            client.sendall(line)
            client.recv(1)
        asked = Socket(server.url)
        api = Api(asked, server.url, server.key, server.secret)
        for number in range(requests):
            api.get(f"/v3/domains/getDomain/{'a' * 2000}{number}.com")
        asked.close()
        return (memory(server.process) - before) / (1 << 20)


def told(what: str, took: list[Spent], waited: list[Spent], bound: float = float("inf")) -> str:
    """How long it took, and the others' waits meanwhile; what is more than it may be is marked."""
    waited = waited or [Spent(0.0, 0.0)]  # over before anybody could ask
    worst = Spent(max(one.passed for one in waited), max(one.computed for one in waited))
    usual = median(one.passed for one in waited)
    most = Spent(max(one.passed for one in took), max(one.computed for one in took))
    marks = " (too long)" * (most.computed > bound), " (too long)" * (worst.computed > BOUND)
    return (
        f"{what:<22} {most.passed:6.2f} s, {most.computed:5.2f} of computing{marks[0]}; others wait "
        f"{usual * 1e3:5.1f} ms as a rule, {worst.passed * 1e3:4.0f} at most, {worst.computed * 1e3:3.0f} of "
        f"computing{marks[1]}"
    )


def run(how: How) -> Told:
    """The longest and the usual wait beside each of them."""
    names, many, times = (1_000, 2_000, 1) if how.tiny else (NAMES, MANY_NAMES, TIMES)
    with served(names) as server:
        exported = json.loads(server.ask("GET", "history/export"))["fixture"]
        for what in lengthy(exported):
            took: list[Spent] = []
            waited: list[Spent] = []
            for number in range(times):
                # so that nothing has been written or read before
                server.ask("POST", "outside/adjust_balance", {"account": "main", "by": "1"})
                once, others = server.waits(partial(server.ask, *lengthy(f"{exported}# {number}\n")[what]))
                took.append(once)
                waited += others
            yield told(what, took, waited)
    with served(many) as server:
        began = server.spent()
        server.ask(*YEAR)
        alone = server.spent().since(began)
        server.ask("POST", "history/reset")
        _, waited = server.waits(partial(server.ask, *YEAR))
        yield told(f"{many} names × a year", [alone], waited, YEAR_BOUND)
    size = 1 << 14 if how.tiny else 1 << 20
    with served(many, YEARS) as server:
        held = beside_idle_followers(server, 100 if how.tiny else 3000)
        yield Figure("memory that 100 followers add that do not read", "MiB", [held])
        yield f"{many} names that lived {YEARS} years:"
        text = json.loads(server.ask("GET", "history/export"))["fixture"]
        asked = {what: partial(server.ask, "GET", path) for what, path in LONG_LIVED.items()}
        load = partial(server.ask, "POST", "history/load", {"fixture": f"{text}# loaded\n"})
        for what, work in {**asked, **bursts(server.port, size), "load": load}.items():
            # so that nothing has been written before
            server.ask("POST", "outside/adjust_balance", {"account": "main", "by": "1"})
            once, others = server.waits(work)
            yield told(what, [once], others)
