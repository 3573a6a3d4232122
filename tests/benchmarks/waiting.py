"""How long a request of another world waits at most while something long goes on in a large one.

Beside the time on the clock stands what the server computed meanwhile, which says as much on a busy machine.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any, NamedTuple

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.collector import sparing_survivors
from tests.benchmarks.growing import grown
from tests.benchmarks.measuring import How, Told
from tests.clients import Api, Socket

#: How many names the large world holds, and one whose clock goes on by a year.
NAMES, MANY_NAMES = 12_000, 60_000

#: How long the others may wait, in seconds, and how long a year may take.
BOUND, YEAR_BOUND = 0.05, 10.0

YEAR = ("POST", "clock/advance", {"by": "P1Y", "limit": 1000})

#: How often each is done.
TIMES = 3


def busy(names: int) -> Sandbox:
    """A sandbox whose world holds so many names more, and a full journal."""
    sandbox = grown(names, max_body=1 << 26)
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

    def waits(self, method: str, path: str, body: Any = None) -> tuple[Spent, list[Spent]]:
        """How long control's answer takes, and how long each request of the other world does meanwhile."""
        socket = Socket(self.url)
        api = Api(socket, self.url, self.key, self.secret)
        for _ in range(20):
            api.get("/v3/balance")
        thread = threading.Thread(target=self.ask, args=(method, path, body))
        waited: list[Spent] = []
        first = self.spent()
        thread.start()
        while thread.is_alive():
            began = self.spent()
            assert api.get("/v3/balance").status == 200
            waited.append(self.spent().since(began))
            sleep(0.001)
        socket.close()
        return self.spent().since(first), waited


@contextmanager
def served(names: int) -> Iterator[Served]:
    """A large world behind a socket of another process, as ``reseller-sandbox serve`` has it."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there, names), daemon=True)
    process.start()
    yield here.recv()
    here.send(None)
    process.join()


def _serve(pipe: Connection, names: int) -> None:
    sandbox = busy(names)
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
                once, others = server.waits(*lengthy(f"{exported}# {number}\n")[what])
                took.append(once)
                waited += others
            yield told(what, took, waited)
    with served(many) as server:
        began = server.spent()
        server.ask(*YEAR)
        alone = server.spent().since(began)
        server.ask("POST", "history/reset")
        _, waited = server.waits(*YEAR)
        yield told(f"{many} names × a year", [alone], waited, YEAR_BOUND)
