"""What an answer costs beside a bare Flask route: over one connection, in turn, on the same server."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from flask import Flask

from reseller_sandbox import Sandbox
from reseller_sandbox.server.server import Server
from reseller_sandbox.v3.signing import signed_headers

REQUESTS = 1500
PATHS = {
    "v3 getDomain": "/v3/domains/getDomain/active-example.com",
    "v3 list of 40 names": "/v3/domains",
    "v2.0 domain info": "/V2.0/domain/active-example.com",
    "v2.0 domain check": "/V2.0/domain/free-example.com/check",
}


def microseconds(port: int, path: str, headers: dict[str, str]) -> float:
    """The median time of a request on a connection that is kept."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    for _ in range(REQUESTS):
        began = perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        times.append(perf_counter() - began)
        assert answer.status == 200
    connection.close()
    return median(times) * 1e6


def credentials(url: str, path: str) -> dict[str, str]:
    """Whatever ``path`` asks for."""
    signed = signed_headers("sandbox-key", "sandbox-secret", "X-SVC-", f"{url}{path}", b"")
    return {**signed, "X-Auth-Token": "sandbox-token"}


def run() -> Iterator[str]:
    """The times, and their ratios to the bare route's."""
    bare = Flask("bare")
    bare.add_url_rule("/", view_func=lambda: {"bare": True})
    with Server(bare, port=0) as plain, Sandbox().serve() as server:
        for what, path in PATHS.items():
            floor = microseconds(plain.port, "/", {})
            taken = microseconds(server.port, path, credentials(server.url, path))
            yield f"{what:<20} {taken:6.0f} µs, a bare route {floor:4.0f} µs: {taken / floor:.1f} ×"
