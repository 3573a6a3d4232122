"""Responses over a socket, beside a bare Flask route on the same server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask

from reseller_sandbox import Sandbox
from tests.benchmarks import load
from tests.benchmarks.measuring import Figure, Found, How, interleaved, line_of, ratios, running, serving
from tests.clients import signature

#: Our reads, each with its path.
READS = {
    "v3 getDomain": "/v3/domains/getDomain/active-example.com",
    "v3 balance": "/v3/balance",
    "v2.0 domain info": "/V2.0/domain/active-example.com",
    "v3 list of 40 names": "/v3/domains",
}
BARE, REGISTRATION = "bare Flask route", "v3 registration"

#: The most that each may take, in times of a bare route.
MOST = dict(zip((*READS, REGISTRATION), (2.0, 1.75, 1.75, 2.5, 3.2), strict=True))


def measure(how: How) -> Found:
    """Rates of servers, and ratios in the same round. Each server is a separate process."""
    #: The server for each, and the requests of a round.
    cases: dict[str, tuple[int, Callable[[], Sequence[bytes]]]] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        plain = stack.enter_context(running(sys.executable, "-m", "tests.benchmarks.answering"))
        program = stack.enter_context(running(*serving("--fixture", _rich(folder))))
        bare, port = (int(line_of(one).rpartition(":")[2]) for one in (plain, program))
        rounds = count()
        cases[BARE] = bare, lambda: [load.written("GET", "/", bare, {})]
        for what, path in READS.items():
            requests = [load.written("GET", path, port, _signed(port, path))]
            cases[what] = port, partial(list, requests)
        cases[REGISTRATION] = (port, lambda: _registrations(port, how, next(rounds)))

        def rate(what: str, connections: int) -> float:
            number, make = cases[what]
            return load.rate(number, make(), connections, 0.2 if how.tiny else how.seconds)

        for what in cases:
            rate(what, 64)  # because the first requests load modules
        for connections in (1, 64):
            at = f"at {connections} connection{'s' * (connections > 1)}"
            found = interleaved({what: partial(rate, what, connections) for what in cases}, how.rounds)
            for what, rates in found.items():
                yield Figure(f"{what} {at}", "requests/s", rates)
            for what, most in MOST.items():
                yield Figure(f"{what} {at}", "× bare", ratios(found[BARE], found[what]), f"≤ {most:g}")


def _rich(folder: str) -> Path:
    """Write a fixture: main has 40 names, and other can pay for any number of names."""
    sandbox = Sandbox()
    for number in range(40 - sandbox.accounts["main"].orders):
        sandbox.names.add(f"another-{number}.com")
    fixture = Path(folder) / "rich.yaml"
    fixture.write_text(re.sub(r"balance: *'?10000.00'?", "balance: 9000000.00", sandbox.export()))
    return fixture


def _registrations(port: int, how: How, number: int) -> list[bytes]:
    """Return registrations of names that no client has requested, more than are answered in a round."""
    path, size = "/v3/domains/createDomain", int(5000 * max(how.seconds, 1))
    bodies = (json.dumps({"domain": {"domainName": f"n{number}-{one}.com"}}).encode() for one in range(size))
    return [load.written("POST", path, port, _signed(port, path, body, "other"), body) for body in bodies]


def _signed(port: int, path: str, body: bytes = b"", account: str = "sandbox") -> dict[str, str]:
    key = f"{account}-key"
    signed = signature(f"{account}-secret", key, f"http://127.0.0.1:{port}{path}", body)
    return {"X-SVC-APIKEY": key, "X-SVC-SIGNATURE": signed, "X-Auth-Token": f"{account}-token"}


if __name__ == "__main__":  # a bare route on the server that a sandbox has
    flask, sandbox = Flask("bare"), Sandbox()
    flask.add_url_rule("/", view_func=lambda: {"bare": True})
    sandbox.app.wsgi_app = flask.wsgi_app  # type: ignore[method-assign]
    with sandbox.serve() as server:
        print(server.url, flush=True)
        sys.stdin.read()
