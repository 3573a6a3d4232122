"""Responses over a socket, beside a bare Flask route on the same server."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import count, islice, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask

from reseller_sandbox import Sandbox
from tests.benchmarks.measuring import (
    Figure,
    Found,
    How,
    computed,
    interleaved,
    line_of,
    ratios,
    running,
    serving,
)
from tests.clients import signature

#: Our reads, each with its path and its maximum, in times of a bare route.
READS = {
    "v3 getDomain": ("/v3/domains/getDomain/active-example.com", 2.0),
    "v3 balance": ("/v3/balance", 1.75),
    "v2.0 domain info": ("/V2.0/domain/active-example.com", 1.75),
    "v3 list of 40 names": ("/v3/domains", 2.5),
}
BARE, REGISTRATION, REQUESTS = "bare Flask route", "v3 registration", 2000


def measure(how: How) -> Found:
    """Computing time of a request, and ratios in the same round. Each server is a separate process."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        plain = stack.enter_context(running("tests.benchmarks.answering"))
        program = stack.enter_context(running(*serving("--fixture", _rich(folder))))
        bare, port = (int(line_of(server).rpartition(":")[2]) for server in (plain, program))
        cases: dict[str, tuple[int, int, Iterator[bytes]]] = {
            BARE: (plain.pid, bare, repeat(written("GET", "/", bare, {}))),
            REGISTRATION: (program.pid, port, _registrations(port)),
        }
        for what, (path, _) in READS.items():
            cases[what] = program.pid, port, repeat(written("GET", path, port, _signed(port, path)))

        def cost(what: str, connections: int) -> float:
            process, number, requests = cases[what]
            times, before = how.times(REQUESTS), computed(process)
            asyncio.run(_send(number, islice(requests, times), connections))
            return (computed(process) - before) / times * 1e6

        for what in cases:
            cost(what, 64)  # because the first requests load modules
        for connections in (1, 64):
            at = f"at {connections} connection{'s' * (connections > 1)}"
            costs = interleaved({what: partial(cost, what, connections) for what in cases}, how.rounds)
            most = {what: times for what, (_, times) in READS.items()} | {REGISTRATION: 5.0}
            for what in cases:
                yield Figure(f"{what} {at}", "µs", costs[what])
            for what, times in most.items():
                yield Figure(f"{what} {at}", "× bare", ratios(costs[what], costs[BARE]), times)


def _rich(folder: str) -> Path:
    """Write a fixture: main has 40 names, and other can pay for any number of names."""
    sandbox = Sandbox()
    for number in range(40 - sandbox.accounts["main"].orders):
        sandbox.names.add(f"another-{number}.com")
    fixture = Path(folder) / "rich.yaml"
    fixture.write_text(re.sub(r"balance: *'?10000.00'?", "balance: 9000000.00", sandbox.export()))
    return fixture


def _registrations(port: int) -> Iterator[bytes]:
    """Yield registrations of names that no client has requested."""
    path = "/v3/domains/createDomain"
    for number in count():
        body = json.dumps({"domain": {"domainName": f"n{number}.com"}}).encode()
        yield written("POST", path, port, _signed(port, path, body, "other"), body)


def _signed(port: int, path: str, body: bytes = b"", account: str = "sandbox") -> dict[str, str]:
    key = f"{account}-key"
    signed = signature(f"{account}-secret", key, f"http://127.0.0.1:{port}{path}", body)
    return {"X-SVC-APIKEY": key, "X-SVC-SIGNATURE": signed, "X-Auth-Token": f"{account}-token"}


def written(method: str, path: str, port: int, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    sent = {"Host": f"127.0.0.1:{port}", **headers, **({"Content-Length": str(len(body))} if body else {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode() + body


async def _send(port: int, requests: Iterator[bytes], connections: int) -> None:
    """Send requests over so many connections; each has to succeed."""

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in requests:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            assert length, head
            assert head.split()[1] == b"200", head
            await reader.readexactly(int(length[1]))
        writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))


if __name__ == "__main__":  # a bare route on the server that a sandbox has
    flask, sandbox = Flask("bare"), Sandbox()
    flask.add_url_rule("/", view_func=lambda: {"bare": True})
    sandbox.app.wsgi_app = flask.wsgi_app  # type: ignore[method-assign]
    with sandbox.serve() as server:
        print(server.url, flush=True)
        sys.stdin.read()
