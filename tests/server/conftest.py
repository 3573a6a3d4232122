"""Servers of the tests' registry, and clients that see every byte."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, signature
from tests.connection import Connection
from tests.registry import REGISTRY
from tests.waiting import PATIENCE, wait_until

HOST = b"Host: localhost\r\n"
GET = b"GET /_sandbox/health HTTP/1.1\r\n" + HOST + b"\r\n"


class Client(Connection):
    """A connection that asks for the health of the server by default."""

    def ask(self, request: bytes = GET) -> Answer:
        self.send(request)
        return self.answer()


@dataclass
class Served:
    """A sandbox, its server, and connections to both of its ports."""

    sandbox: Sandbox
    server: Any
    stack: ExitStack

    def dial(self, *, tls: bool = False) -> Client:
        connected = self.connected(self.server.tls_port if tls else self.server.port)
        if tls:
            trust = ssl.create_default_context(cafile=self.server.authority)
            connected = trust.wrap_socket(connected, server_hostname="localhost", suppress_ragged_eofs=False)
        return self.client(connected)

    def connected(self, port: int) -> socket.socket:
        return socket.create_connection((self.server.host, port), timeout=PATIENCE)

    def client(self, connected: socket.socket) -> Client:
        client = Client(connected)
        self.stack.callback(client.close)
        return client

    def signed(self, method: str, target: str | bytes, body: bytes = b"", *, chunks: int = 0) -> bytes:
        """A signed request of ``main``. Its body goes in chunks of so many bytes, or as a whole."""
        account, raw = self.sandbox.accounts["main"], target if isinstance(target, bytes) else target.encode()
        words = signature(account.secret, account.key, b"http://localhost" + raw, body)
        own = f"X-SVC-APIKEY: {account.key}\r\nX-SVC-SIGNATURE: {words}\r\n".encode()
        head = method.encode() + b" " + raw + b" HTTP/1.1\r\n" + HOST + own
        if not chunks:
            return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        pieces = [body[at : at + chunks] for at in range(0, len(body), chunks)]
        coded = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n\r\n"

    def entries(self, count: int) -> list[Any]:
        wait_until(lambda: self.sandbox.journal.list().matching >= count)
        return list(self.sandbox.journal)


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Serves a sandbox with the settings given, with HTTPS on a second port if wanted."""
    with ExitStack() as stack:

        def start(*, tls: bool = False, host: str = "127.0.0.1", **settings: Any) -> Served:
            sandbox = Sandbox(REGISTRY, **settings)
            return Served(sandbox, stack.enter_context(sandbox.serve(host, tls=tls)), stack)

        yield start


@pytest.fixture
def served(sandbox: Sandbox) -> Iterator[Served]:
    """A server with HTTP and HTTPS."""
    with ExitStack() as stack:
        yield Served(sandbox, stack.enter_context(sandbox.serve(tls=True)), stack)
