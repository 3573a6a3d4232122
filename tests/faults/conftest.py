"""Clients that see what happens to a connection, and the money that requests cost."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, encoded, signature
from tests.waiting import PATIENCE


@dataclass
class Connection:
    socket: socket.socket

    def piece(self) -> bytes:
        """The next bytes. A reset under TLS is an end without a farewell."""
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
        """All bytes until the connection ends. Raise ConnectionResetError if it ends by a reset."""
        seen = b""
        while piece := self.piece():
            seen += piece
        return seen

    def answer(self) -> Answer:
        status, headers = self.head()
        body = b""
        while len(body) < int(headers["content-length"]):
            piece = self.piece()
            assert piece, f"the connection ended after {body!r}"
            body += piece
        return Answer(status, headers, body)

    def silent(self, seconds: float) -> bool:
        """Whether no byte and no end comes for so long."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)
        return False


class Dialler:
    """The account ``main`` of a sandbox on a port. Each request has a separate connection.

    ``authority`` is the file by which an https address is trusted.
    """

    def __init__(self, sandbox: Sandbox, url: str, authority: str | None = None) -> None:
        self._trust = ssl.create_default_context(cafile=authority) if authority else None
        self.url = url
        self.account = sandbox.accounts["main"]
        self._open: list[socket.socket] = []

    def send(self, method: str, target: str, body: Any = None) -> Connection:
        """Send a signed request, and do not wait for the answer."""
        raw, own = encoded(body), self.account
        signed = signature(own.secret, own.key, self.url + target, raw)
        keys = [f"X-SVC-APIKEY: {own.key}", f"X-SVC-SIGNATURE: {signed}", f"X-Auth-Token: {own.token}"]
        about = ["Content-Type: application/json", f"Content-Length: {len(raw)}"]
        return self.send_plain(method, target, [*keys, *about], raw)

    def send_plain(self, method: str, target: str, headers: list[str], raw: bytes = b"") -> Connection:
        """Send a request with these headers and a Host."""
        parts = urlsplit(self.url)
        lines = [f"{method} {target} HTTP/1.1", f"Host: {parts.netloc}", *headers, "", ""]
        sock = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        if self._trust is not None:
            host = str(parts.hostname)
            sock = self._trust.wrap_socket(sock, server_hostname=host, suppress_ragged_eofs=False)
        self._open.append(sock)
        sock.sendall("\r\n".join(lines).encode() + raw)
        return Connection(sock)

    def get(self, target: str) -> Answer:
        return self.send("GET", target).answer()

    def close(self) -> None:
        for sock in self._open:
            sock.close()


@pytest.fixture
def dial(served: Sandbox, url: str) -> Iterator[Dialler]:
    """The account ``main`` of ``served``."""
    dialler = Dialler(served, url)
    yield dialler
    dialler.close()


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def register(name: str, **more: Any) -> dict[str, Any]:
    return {"domain": {"domainName": name}, **more}


def create(client: Any, name: str, **more: Any) -> Any:
    return client.post("/v3/domains/createDomain", json=register(name, **more))


def balance(sandbox: Sandbox) -> str:
    return str(sandbox.accounts["main"].balance)


def charges(sandbox: Sandbox, name: str) -> list[tuple[str, str]]:
    """The causes and amounts of the money that a name has cost."""
    return [(entry.cause, str(entry.amount)) for entry in sandbox.ledger.list(domain=name).entries]
