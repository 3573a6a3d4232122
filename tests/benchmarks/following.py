"""Requests beside many who follow the journal over sockets: alone, followed by none it concerns, by all."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from statistics import median, quantiles

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from tests.clients import Api, Socket

FOLLOWERS, REQUESTS = 400, 600


def run() -> Iterator[str]:
    """The median and the 99th percentile of a request's time."""
    yield _told("alone", "", 0)
    yield _told(f"beside {FOLLOWERS} followers of another account", "?account=other", FOLLOWERS)
    yield _told(f"beside {FOLLOWERS} followers of everything", "", FOLLOWERS)


def _told(what: str, query: str, count: int) -> str:
    sandbox = Sandbox()
    account = sandbox.account()
    with sandbox.serve() as server:
        head = f"GET /_sandbox/journal/follow{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        followers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        for one in followers:
            one.sendall(head)
        for one in followers:
            one.recv(4096)  # the head of the answer
        client = Socket(server.url)
        api = Api(client, server.url, account.key, account.secret)
        times = []
        for _ in range(REQUESTS):
            began = stopwatch()
            assert api.get("/v3/balance").status == 200
            times.append((stopwatch() - began) * 1e6)
        client.close()
        began = stopwatch()
    stopped = stopwatch() - began
    for one in followers:
        one.close()
    slowest = quantiles(times, n=100)[-1]
    return f"{what}: {median(times):6.0f} µs, 99th {slowest:7.0f} µs; stopped in {stopped * 1000:.0f} ms"
