"""Clients that see what becomes of a connection, and a server whose faults they meet."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import sleep
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.server.server import Server
from tests.clients import Answer, encoded, signature

PATIENCE = 60  # Seconds until a test that waits in vain gives up.

#: Makes the body of a createDomain.
Register = Callable[..., dict[str, Any]]


@dataclass
class Connection:
    """A connection on which one request was sent, and the bytes that come back."""

    socket: socket.socket

    def piece(self) -> bytes:
        """What comes next. A reset under TLS is an end that nobody has said farewell before."""
        try:
            return self.socket.recv(65536)
        except ssl.SSLEOFError as error:
            raise ConnectionResetError from error

    def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers, byte by byte, so that the body stays where it is."""
        seen = b""
        while not seen.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            assert byte, f"the connection ended after {seen!r}"
            seen += byte
        first, *lines = seen.decode("latin-1").split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines if line)

    def rest(self) -> bytes:
        """All that comes until the connection ends; raises ConnectionResetError if that is by a reset."""
        seen = b""
        while piece := self.piece():
            seen += piece
        return seen

    def answer(self) -> Answer:
        """A whole answer."""
        status, headers = self.head()
        body = b""
        while len(body) < int(headers["content-length"]):
            piece = self.piece()
            assert piece, f"the connection ended after {body!r}"
            body += piece
        return Answer(status, headers, body)

    def silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long, not even an end."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)
        return False


class Dialler:
    """The account ``main`` of a sandbox on a port; every request has a connection of its own.

    ``authority`` is the file by which an https address is trusted.
    """

    def __init__(
        self, sandbox: Sandbox, url: str, account: str = "main", authority: str | None = None
    ) -> None:
        self._trust = ssl.create_default_context(cafile=authority) if authority else None
        self.sandbox = sandbox
        self.url = url
        self.account = sandbox.account(account)
        self._open: list[socket.socket] = []

    def send(self, method: str, target: str, body: Any = None) -> Connection:
        """Send a request and wait for nothing."""
        raw, own = encoded(body), self.account
        signed = signature(own.secret, own.key, self.url + target, raw)
        lines = [
            f"{method} {target} HTTP/1.1",
            f"Host: {urlsplit(self.url).netloc}",
            f"X-SVC-APIKEY: {own.key}",
            f"X-SVC-SIGNATURE: {signed}",
            f"X-Auth-Token: {own.token}",
            "Content-Type: application/json",
            f"Content-Length: {len(raw)}",
        ]
        parts = urlsplit(self.url)
        sock = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        if self._trust is not None:
            host = str(parts.hostname)
            sock = self._trust.wrap_socket(sock, server_hostname=host, suppress_ragged_eofs=False)
        self._open.append(sock)
        sock.sendall("\r\n".join([*lines, "", ""]).encode() + raw)
        return Connection(sock)

    def get(self, target: str) -> Answer:
        """The answer to a GET."""
        return self.send("GET", target).answer()

    def post(self, target: str, body: Any = None) -> Answer:
        """The answer to a POST."""
        return self.send("POST", target, body).answer()

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request to the control interface, which must be done; answers its JSON."""
        answer = self.send(method, f"/_sandbox{path}", body).answer()
        assert answer.status in (200, 201), answer.raw
        return json.loads(answer.raw)

    def close(self) -> None:
        """Close every connection."""
        for sock in self._open:
            sock.close()


class Held:
    """What a server holds up: the time for which it does goes by when a test says so."""

    def __init__(self, server: Server) -> None:
        assert server._listener is not None
        self._bridge = server._listener.bridge

    def begun(self) -> None:
        """Wait until the server holds something up."""
        while not self._bridge.held:
            sleep(0.001)

    def over(self, seconds: float) -> None:
        """Have so many seconds go by at once, for what is held up by now."""
        self.begun()
        loop = next(iter(self._bridge.held)).get_loop()
        time = loop.time
        loop.call_soon_threadsafe(setattr, loop, "time", lambda: time() + seconds)


@pytest.fixture
def held(_server: tuple[Sandbox, Server]) -> Held:
    """What the server of ``served`` holds up."""
    return Held(_server[1])


@pytest.fixture
def dial(served: Sandbox, url: str) -> Iterator[Dialler]:
    """The account ``main`` over real sockets; all connections close at the end."""
    dialler = Dialler(served, url)
    yield dialler
    dialler.close()


@pytest.fixture
def register() -> Register:
    """Makes the body of a createDomain."""
    return lambda name, **more: {"domain": {"domainName": name}, **more}


def balance(sandbox: Sandbox) -> str:
    """The balance of ``main`` as text."""
    return str(sandbox.account().balance)


def charges(sandbox: Sandbox, name: str) -> list[tuple[str, str]]:
    """The causes and amounts of what a name has cost."""
    ledger = sandbox.world.state.ledger
    entries = [ledger[number] for number in sorted(ledger)]
    return [(entry.cause, str(entry.amount)) for entry in entries if entry.name == name]
