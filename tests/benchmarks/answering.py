"""Answers over a socket: what each costs beside a bare Flask route on the same server, and other servers.

Every server is a process of its own; ours writes its request log.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.testing import SandboxTransport
from reseller_sandbox.v3.signing import signed_headers
from tests.benchmarks import load, peers
from tests.benchmarks.measuring import Figure, How, LeftOut, Told, interleaved, line_of, ours, ratios, running

CONNECTIONS = (1, 64)

#: What is asked of ours, and how many times a bare route's time it may take, at most.
READS = {
    "v3 getDomain": ("/v3/domains/getDomain/active-example.com", 2.0),
    "v3 balance": ("/v3/balance", 1.75),
    "v2.0 domain info": ("/V2.0/domain/active-example.com", 1.6),
    "v3 list of 40 names": ("/v3/domains", 3.0),
}
BARE = "bare Flask route"
REGISTRATION, REGISTRATION_MOST = "v3 registration", 3.0

#: Who reads, and how many names are theirs all the time; who registers others meanwhile.
READER, NAMES, BUYER = "main", 40, "other"

#: More than any of ours answers in a second.
MANY = 5000

#: What makes the requests that a server is sent in one round.
Make = Callable[[], Sequence[bytes]]


def run(how: How) -> Told:
    """Yield rates, and ratios in the same round."""
    yield f"the client is {load.name()}"
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        asked: dict[str, tuple[int, Make]] = {}
        plain = stack.enter_context(running(*ours("tests.benchmarks.bare")))
        bare = _port(line_of(plain))
        asked[BARE] = bare, _always(load.written("GET", "/", bare, {}))
        program = stack.enter_context(running(*ours("reseller_sandbox.cli", *_serve(folder))))
        port = _port(line_of(program))
        for what, (path, _) in READS.items():
            asked[what] = port, _always(load.written("GET", path, port, _signed(port, path)))
        asked[REGISTRATION] = port, partial(_registrations, port, how, count())
        for what, other in peers.ALL.items():
            try:
                at, request = stack.enter_context(other())
                asked[what] = at, _always(request)
            except LeftOut as left:
                yield f"{what.partition(',')[0]} is left out: {left}"
        yield from _told(asked, how, {bare: plain.pid, port: program.pid})
    yield from _in_process(how)


def _told(asked: dict[str, tuple[int, Make]], how: How, processes: dict[int, int]) -> Iterator[Figure]:
    seconds = 0.2 if how.tiny else how.seconds
    computed: dict[str, list[float]] = {}

    def rate(what: str, connections: int) -> float:
        port, make = asked[what]
        requests, process = make(), processes.get(port)
        before = load.computed(process)
        answered = load.rate(port, requests, connections, seconds)
        computed.setdefault(what, []).append((load.computed(process) - before) / answered)
        return answered

    for what in asked:
        rate(what, CONNECTIONS[-1])  # some, above all those on Java, are slow at first
    most = {**{what: most for what, (_, most) in READS.items()}, REGISTRATION: REGISTRATION_MOST}
    for connections in CONNECTIONS:
        computed.clear()
        at = f"at {connections} connection{'s' * (connections > 1)}"
        found = interleaved({what: partial(rate, what, connections) for what in asked}, how.rounds)
        for what, rates in found.items():
            yield Figure(f"{what} {at}", "requests/s", rates)
        for what, bound in most.items():
            yield Figure(f"{what} {at}", "× bare", ratios(found[BARE], found[what]), f"≤ {bound:g}")
            if all(computed[BARE]):
                times = ratios(computed[what], computed[BARE])
                yield Figure(f"{what} {at}, in computing time", "× bare", times, f"≤ {bound:g}")
        read = found["v3 getDomain"]
        for what, rates in found.items():
            if what in peers.ALL:
                goal = "≥ 5" if what.startswith("moto") else ""
                name = what.partition(",")[0]
                yield Figure(f"v3 getDomain {at}", f"× {name}'s rate", ratios(read, rates), goal)


def _in_process(how: How) -> Iterator[Figure]:
    """Yield how much faster a read is without a socket: what a door takes by itself, and with its client."""
    path, times = READS["v3 balance"][0], how.times(1000)
    with ExitStack() as stack:
        sandbox = Sandbox()
        server = stack.enter_context(sandbox.serve())
        signed = _signed(server.port, path)
        transport, url = SandboxTransport(sandbox), f"{server.url}{path}"
        within, outside = (
            stack.enter_context(httpx.Client(transport=one, headers=signed)) for one in (transport, None)
        )
        asked, flask = within.build_request("GET", url), sandbox.client()
        made: dict[str, Callable[[], Any]] = {
            "SandboxTransport": lambda: transport.handle_request(asked),
            "Flask's client": lambda: flask.get(path),
            "httpx": lambda: within.get(url),
            "httpx over the socket": lambda: outside.get(url),
        }
        written = load.written("GET", path, server.port, signed)
        socket = partial(load.rate, server.port, [written], 1, 1 if not how.tiny else 0.1)
        ways = {what: partial(_rate, ask, times) for what, ask in made.items()} | {"socket": socket}
        found = interleaved(ways, how.rounds)
    for what, other, beside in (
        ("SandboxTransport", "socket", "the socket's rate"),
        ("Flask's client", "socket", "the socket's rate"),
        ("httpx", "httpx over the socket", "its rate over the socket"),
    ):
        name = f"v3 balance in process, by {what}"
        yield Figure(name, "requests/s", found[what])
        yield Figure(name, f"× {beside}", ratios(found[what], found[other]), "≥ 3")


def _rate(ask: Callable[[], Any], times: int) -> float:
    """Return how many answers a second come of asking so many times."""
    began = stopwatch()
    for _ in range(times):
        assert ask().status_code == 200
    return times / (stopwatch() - began)


def _serve(folder: str) -> tuple[str, ...]:
    """Return the options of ours: ``READER`` has 40 names, and ``BUYER`` can pay for any number of others."""
    sandbox = Sandbox()
    for number in range(NAMES - sandbox.accounts.get(READER).orders):
        sandbox.names.add(f"another-{number}.com")
    fixture = Path(folder) / "rich.yaml"
    fixture.write_text(re.sub(r"balance: *'?10000.00'?", "balance: 9000000.00", sandbox.export()))
    return "serve", "--port", "0", "--fixture", str(fixture)


def _registrations(port: int, how: How, rounds: Iterator[int]) -> list[bytes]:
    """Return registrations of names that nobody has asked for."""
    path, number = "/v3/domains/createDomain", next(rounds)
    bodies = [
        json.dumps({"domain": {"domainName": f"n{number}-{one}.com"}}).encode()
        for one in range(int(MANY * max(how.seconds, 1)))
    ]
    return [load.written("POST", path, port, _signed(port, path, body, BUYER), body) for body in bodies]


def _signed(port: int, path: str, body: bytes = b"", account: str = READER) -> dict[str, str]:
    url, who = f"http://127.0.0.1:{port}{path}", "sandbox" if account == READER else account
    signed = signed_headers(f"{who}-key", f"{who}-secret", "X-SVC-", url, body)
    return {**signed, "X-Auth-Token": f"{who}-token"}


def _always(request: bytes) -> Make:
    return lambda: [request]


def _port(line: str) -> int:
    return int(line.rpartition(":")[2])
