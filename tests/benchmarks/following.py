"""Requests beside many who follow the journal over sockets: alone, followed by none it concerns, by all."""

from __future__ import annotations

import socket
from statistics import median, quantiles

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from tests.benchmarks.measuring import Figure, How, Told
from tests.clients import Api, Socket

FOLLOWERS, REQUESTS = 400, 600


def run(how: How) -> Told:
    """The median and the 99th percentile of a request's time."""
    count, requests = (10, 50) if how.tiny else (FOLLOWERS, REQUESTS)
    for what, query, followers in (
        ("alone", "", 0),
        (f"beside {count} followers of another account", "?account=other", count),
        (f"beside {count} followers of everything", "", count),
    ):
        taken = zip(*(_taken(query, followers, requests) for _ in range(how.rounds)), strict=True)
        for about, values in zip(("", ", the slowest in 100"), taken, strict=False):
            yield Figure(f"{what}{about}", "µs", values)


def _taken(query: str, count: int, requests: int) -> tuple[float, float]:
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
        for _ in range(requests):
            began = stopwatch()
            assert api.get("/v3/balance").status == 200
            times.append((stopwatch() - began) * 1e6)
        client.close()
    for one in followers:
        one.close()
    return median(times), quantiles(times, n=100)[-1]
