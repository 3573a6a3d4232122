"""How long a request of another world waits at most while something long goes on in a large one."""

from __future__ import annotations

import http.client
import json
import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from statistics import median
from time import sleep
from typing import Any

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.state import filled
from reseller_sandbox.server.collector import sparing_survivors
from reseller_sandbox.worlds import timeline
from tests.clients import Api, Socket

#: How many names the large world holds, and one whose clock goes on by a year.
NAMES, MANY_NAMES = 12_000, 60_000

#: How long the others may wait, in seconds, and how long a year may take.
BOUND, YEAR_BOUND = 0.05, 10.0

#: How often each is done.
TIMES = 3


def grown(names: int) -> Sandbox:
    """A sandbox whose world holds so many names more, none of which renews itself, and a full journal."""
    sandbox = Sandbox(max_body=1 << 26)
    moment = sandbox.world.moment
    one = moment.state.orders[min(moment.state.orders)]
    last = moment.state.counters["order"]
    orders = [replace(one, id=last + number, name=f"n{number}.com") for number in range(1, names + 1)]
    counters = moment.state.counters.insert("order", last + names)
    state = replace(filled(moment.state, orders), counters=counters)
    timeline.begin_again(sandbox.world, replace(moment, state=state))
    client = sandbox.client("main")
    for number in range(sandbox.world.limits.journal):
        client.get(f"/v3/domains/getDomain/n{number + 1}.com")
    return sandbox


@dataclass(frozen=True)
class Served:
    """Where a sandbox of another process is served, and the credentials of an account in another world."""

    url: str
    port: int
    key: str
    secret: str

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """What control answers on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, f"/_sandbox/{path}", None if body is None else json.dumps(body))
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        assert answer.status < 300, told
        return told

    def waits(self, method: str, path: str, body: Any = None) -> tuple[float, list[float]]:
        """How long control's answer takes, and how long each request of the other world does meanwhile."""
        socket = Socket(self.url)
        api = Api(socket, self.url, self.key, self.secret)
        for _ in range(20):
            api.get("/v3/balance")
        took: list[float] = []

        def long() -> None:
            began = stopwatch()
            self.ask(method, path, body)
            took.append(stopwatch() - began)

        thread, waited = threading.Thread(target=long), []
        thread.start()
        while thread.is_alive():
            began = stopwatch()
            assert api.get("/v3/balance").status == 200
            waited.append(stopwatch() - began)
            sleep(0.001)
        socket.close()
        return took[0], waited


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
    sandbox = grown(names)
    account = sandbox.fork(fixture="default").account()
    with sparing_survivors(), sandbox.serve() as server:
        pipe.send(Served(server.url, server.port, account.key, account.secret))
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
        "a year": ("POST", "clock/advance", {"by": "P1Y", "limit": 1000}),
        "diff": ("GET", "history/diff?from=start&limit=1000", None),
        "load": ("POST", "history/load", {"fixture": exported}),
    }


def told(what: str, took: list[float], waited: list[float]) -> str:
    """How long it took, and the others' waits meanwhile."""
    worst, usual = max(waited) * 1000, median(waited) * 1000
    word = "" if max(waited) <= BOUND else f"  more than {BOUND * 1000:.0f} ms"
    return f"{what:<22} {max(took):6.2f} s; others wait {usual:5.1f} ms as a rule, {worst:4.0f} at most{word}"


def run() -> Iterator[str]:
    """The longest and the usual wait beside each of them."""
    with served(NAMES) as server:
        exported = json.loads(server.ask("GET", "history/export"))["fixture"]
        for what in lengthy(exported):
            took, waited = [], []
            for number in range(TIMES):
                # so that nothing has been written or read before
                server.ask("POST", "outside/adjust_balance", {"account": "main", "by": "1"})
                once, others = server.waits(*lengthy(f"{exported}# {number}\n")[what])
                took.append(once)
                waited += others
            yield told(what, took, waited)
    with served(MANY_NAMES) as server:
        once, waited = server.waits("POST", "clock/advance", {"by": "P1Y", "limit": 1000})
        word = "" if once <= YEAR_BOUND else f"  more than {YEAR_BOUND:.0f} s"
        yield told(f"{MANY_NAMES} names × a year", [once], waited) + word


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
