"""Responses over a socket, beside a bare Flask route on the same server."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

from flask import Flask

from reseller_sandbox import Sandbox
from tests.benchmarks import load
from tests.benchmarks.measuring import Figure, Found, How, interleaved, line_of, ratios, running, serving
from tests.clients import signature

#: The reads of ours, and how many times a bare route's time each may take, at most.
READS = {
    "v3 getDomain": ("/v3/domains/getDomain/active-example.com", 2.0),
    "v3 balance": ("/v3/balance", 1.75),
    "v2.0 domain info": ("/V2.0/domain/active-example.com", 1.6),
    "v3 list of 40 names": ("/v3/domains", 3.0),
}
BARE, REGISTRATION = "bare Flask route", "v3 registration"
MOST = {**{what: most for what, (_, most) in READS.items()}, REGISTRATION: 3.0}

#: Makes the requests that a server is sent in one round.
Make = Callable[[], Sequence[bytes]]


def run(how: How) -> Found:
    """Rates of servers, and ratios in the same round. Each server is a separate process."""
    asked: dict[str, tuple[int, Make]] = {}
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        plain = stack.enter_context(running(sys.executable, "-m", "tests.benchmarks.answering"))
        program = stack.enter_context(running(*serving("--fixture", _rich(folder))))
        bare, port = (int(line_of(one).rpartition(":")[2]) for one in (plain, program))
        asked[BARE] = bare, partial(list, [load.written("GET", "/", bare, {})])
        for what, (path, _) in READS.items():
            asked[what] = port, partial(list, [load.written("GET", path, port, _signed(port, path))])
        asked[REGISTRATION] = port, partial(_registrations, port, how, count())
        yield from _rates(asked, how, {bare: plain.pid, port: program.pid})


def _rates(asked: dict[str, tuple[int, Make]], how: How, processes: dict[int, int]) -> Iterator[Figure]:
    computed: dict[str, list[float]] = {}

    def rate(what: str, connections: int) -> float:
        port, make = asked[what]
        requests, process = make(), processes.get(port)
        before = load.computed(process)
        answered = load.rate(port, requests, connections, 0.2 if how.tiny else how.seconds)
        computed.setdefault(what, []).append((load.computed(process) - before) / answered)
        return answered

    for what in asked:
        rate(what, 64)  # because the first requests load modules
    for connections in (1, 64):
        computed.clear()
        at = f"at {connections} connection{'s' * (connections > 1)}"
        found = interleaved({what: partial(rate, what, connections) for what in asked}, how.rounds)
        for what, rates in found.items():
            yield Figure(f"{what} {at}", "requests/s", rates)
        for what, most in MOST.items():
            yield Figure(f"{what} {at}", "× bare", ratios(found[BARE], found[what]), f"≤ {most:g}")
            if all(computed[BARE]):
                times = ratios(computed[what], computed[BARE])
                yield Figure(f"{what} {at}, in computing time", "× bare", times, f"≤ {most:g}")


def _rich(folder: str) -> Path:
    """Write a fixture: main has 40 names, and other can pay for any number of names."""
    sandbox = Sandbox()
    for number in range(40 - sandbox.accounts["main"].orders):
        sandbox.names.add(f"another-{number}.com")
    fixture = Path(folder) / "rich.yaml"
    fixture.write_text(re.sub(r"balance: *'?10000.00'?", "balance: 9000000.00", sandbox.export()))
    return fixture


def _registrations(port: int, how: How, rounds: Iterator[int]) -> list[bytes]:
    """Return registrations of names that no client has requested, more than are answered in a round."""
    path, number = "/v3/domains/createDomain", next(rounds)
    names = (f"n{number}-{one}.com" for one in range(int(5000 * max(how.seconds, 1))))
    bodies = (json.dumps({"domain": {"domainName": name}}).encode() for name in names)
    return [load.written("POST", path, port, _signed(port, path, body, "other"), body) for body in bodies]


def _signed(port: int, path: str, body: bytes = b"", account: str = "sandbox") -> dict[str, str]:
    key = f"{account}-key"
    signed = signature(f"{account}-secret", key, f"http://127.0.0.1:{port}{path}", body)
    return {"X-SVC-APIKEY": key, "X-SVC-SIGNATURE": signed, "X-Auth-Token": f"{account}-token"}


if __name__ == "__main__":  # a bare route on the server that a sandbox has
    bare, sandbox = Flask("bare"), Sandbox()
    bare.add_url_rule("/", view_func=lambda: {"bare": True})
    sandbox.app.wsgi_app = bare.wsgi_app  # type: ignore[method-assign]
    with sandbox.serve() as server:
        print(server.url, flush=True)
        sys.stdin.read()
