"""A test of ten calls by a client of this process, beside the same answers given at once by its transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import requests
from requests.adapters import BaseAdapter

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.testing import SandboxAdapter, SandboxTransport
from reseller_sandbox.v3.signing import signed_headers

API = "https://api.example.test"
ROUNDS = 200

#: A name checked, registered, looked at, edited, renewed, and the money for it.
CALLS = (
    ("POST", "/v3/domains/checkAvailability", b'{"domainNames": ["ten-calls.com"]}'),
    ("GET", "/v3/balance", b""),
    ("POST", "/v3/domains/createDomain", b'{"domain": {"domainName": "ten-calls.com"}}'),
    ("GET", "/v3/domains/getDomain/ten-calls.com", b""),
    ("POST", "/v3/domains/setNameservers/ten-calls.com", b'{"nameservers": ["ns1.a.net", "ns2.a.net"]}'),
    ("POST", "/v3/domains/lock/ten-calls.com", b""),
    ("POST", "/v3/domains/unlock/ten-calls.com", b""),
    ("POST", "/v3/domains/renewDomain/ten-calls.com", b""),
    ("GET", "/v3/domains/getDomain/ten-calls.com", b""),
    ("GET", "/v3/balance", b""),
)

Send = Callable[[str, str, dict[str, str], bytes], int]


class AtOnce(httpx.BaseTransport):
    """Gives the answers that ``transport`` has given, without any other work than httpx's own."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.transport = transport
        self.known: dict[tuple[str, str], tuple[int, list[tuple[bytes, bytes]], bytes]] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = request.method, request.url.path
        if asked not in self.known:
            found = self.transport.handle_request(request)
            self.known[asked] = found.status_code, found.headers.raw, found.read()
        status, headers, body = self.known[asked]
        return httpx.Response(status, headers=headers, stream=httpx.ByteStream(body))


class AtOnceAdapter(BaseAdapter):
    """The same for requests and ``adapter``."""

    def __init__(self, adapter: BaseAdapter) -> None:
        super().__init__()
        self.adapter = adapter
        self.known: dict[tuple[str, str], requests.Response] = {}

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override]
        asked = str(request.method), str(request.url)
        if asked not in self.known:
            self.known[asked] = self.adapter.send(request, **options)
            assert self.known[asked].content
        return self.known[asked]

    def close(self) -> None:
        pass


def by_httpx(transport: httpx.BaseTransport) -> Send:
    """How to send with a client that has this transport."""
    client = httpx.Client(transport=transport, base_url=API)
    return lambda method, path, headers, body: (
        client.request(method, path, headers=headers, content=body).status_code
    )


def by_requests(adapter: BaseAdapter) -> Send:
    """How to send with a session that has this adapter."""
    session = requests.Session()
    session.trust_env = False
    session.mount(API, adapter)
    return lambda method, path, headers, body: (
        session.request(method, API + path, headers=headers, data=body).status_code
    )


def milliseconds(sandbox: Sandbox, ways: dict[str, Send], rounds: int = ROUNDS) -> dict[str, float]:
    """How long a test takes: a world as it began, and the calls, each at its best in many rounds."""
    signed = [
        (method, path, signed_headers("sandbox-key", "sandbox-secret", "X-SVC-", API + path, body), body)
        for method, path, body in CALLS
    ]
    best = {way: [math.inf] * (len(CALLS) + 1) for way in ways}
    for _ in range(rounds):
        for way, send in ways.items():
            began = stopwatch()
            sandbox.engine.start_over()
            taken = [stopwatch() - began]
            for call in signed:
                began = stopwatch()
                status = send(*call)
                taken.append(stopwatch() - began)
                assert status == 200
            best[way] = list(map(min, best[way], taken))
    return {way: sum(each) * 1e3 for way, each in best.items()}


def run() -> Iterator[str]:
    """The times, and what is left of them beyond the libraries' own."""
    sandbox = Sandbox()
    transport, adapter = SandboxTransport(sandbox), SandboxAdapter(sandbox)
    ways = {
        "httpx, answered at once": by_httpx(AtOnce(transport)),
        "httpx, in process": by_httpx(transport),
        "requests, answered at once": by_requests(AtOnceAdapter(adapter)),
        "requests, in process": by_requests(adapter),
    }
    taken = milliseconds(sandbox, ways)
    for name, least in taken.items():
        yield f"{name:<28} {least:5.2f} ms"
    for library in ("httpx", "requests"):
        beyond = taken[f"{library}, in process"] - taken[f"{library}, answered at once"]
        yield f"{library}: {beyond:.2f} ms beyond its own time"
