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
from tests.registry import REGISTRY
from tests.waiting import PATIENCE, wait_until

HOST = b"Host: localhost\r\n"
GET = b"GET /_sandbox/health HTTP/1.1\r\n" + HOST + b"\r\n"


class Client:
    """A connection on which a test sends and receives bytes."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.socket.settimeout(PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = connected.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def head(self) -> tuple[int, dict[str, str]]:
        lines = [self._file.readline()]
        while lines[-1] not in (b"\r\n", b""):
            lines.append(self._file.readline())
        assert lines[-1], f"the connection ended after {lines}"
        headers = [line.decode("latin-1").lower().rstrip().split(": ", 1) for line in lines[1:-1]]
        return int(lines[0].split()[1]), dict(headers)

    def answer(self) -> Answer:
        status, headers = self.head()
        return Answer(status, headers, self._file.read(int(headers["content-length"])))

    def ask(self, request: bytes = GET) -> Answer:
        self.send(request)
        return self.answer()

    def piece(self) -> bytes:
        return self._file.read1()

    def rest(self) -> bytes:
        """All bytes until the server ends the connection. Raise ConnectionResetError if it does so by RST."""
        try:
            return self._file.read()
        except ssl.SSLEOFError as error:  # a RST under TLS is an end without a farewell
            raise ConnectionResetError from error

    def refusal(self) -> tuple[int, str]:
        """Status and error of the answer by which the server ends the connection."""
        answer = self.answer()
        assert answer.headers["connection"] == "close"
        assert answer.json.keys() == {"error", "message"}
        assert self.rest() == b""
        return answer.status, str(answer.error)

    def close(self) -> None:
        self._file.close()
        self.socket.close()


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
