"""A toy application, servers for it, and clients that see every byte."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
import trustme

from reseller_sandbox.server.server import Server

PATIENCE = 60  # Seconds until a test that waits in vain gives up.

Environ = dict[str, Any]
Serve = Callable[..., Server]
Dial = Callable[[Any], "Client"]


@dataclass
class Toy:
    """A WSGI application that answers what ``answer`` says, and keeps what it was asked."""

    answer: Callable[[dict[str, Any]], tuple[str, bytes]] = lambda environ: ("200 OK", b"fine")
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        environ["toy.body"] = environ["wsgi.input"].read()
        self.asked.append(environ)
        status, body = self.answer(environ)
        start_response(status, [("Content-Type", "text/plain")])
        return [body]


class Client:
    """A connection on which a test sends and receives bytes."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.socket.settimeout(PATIENCE)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def get(self, target: bytes = b"/") -> None:
        self.send(b"GET " + target + b" HTTP/1.1\r\nHost: toy\r\n\r\n")

    def read_until(self, mark: bytes) -> bytes:
        """All that comes up to and with ``mark``."""
        seen = b""
        while not seen.endswith(mark):
            piece = self.socket.recv(1)
            assert piece, f"the connection ended after {seen!r}"
            seen += piece
        return seen

    def read_head(self) -> tuple[int, dict[str, str]]:
        """Status and headers of one answer."""
        lines = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:] if line)

    def read_answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one answer that has a length."""
        status, headers = self.read_head()
        body = b""
        while len(body) < int(headers["content-length"]):
            body += self.socket.recv(1)
        return status, headers, body

    def read_all(self) -> bytes:
        """All that comes until the server ends the connection; ConnectionResetError if it does so by RST."""
        seen = b""
        while piece := self.socket.recv(65536):
            seen += piece
        return seen

    def beneath_tls(self) -> Client:
        """The same connection without its TLS. (Python's own TLS reads a RST as the end of the file.)"""
        return Client(socket.socket(fileno=self.socket.detach()))


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Starts a server with the arguments given; all of them stop at the end."""
    with ExitStack() as stack:
        yield lambda app, **options: stack.enter_context(Server(app, port=0, **options))


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def certfile(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture
def dial(authority: trustme.CA) -> Iterator[Callable[[Server], Client]]:
    """Connects to a server, through TLS if it has that; all connections close at the end."""
    clients: list[Client] = []
    trust = ssl.create_default_context()
    authority.configure_trust(trust)

    def connect(server: Server) -> Client:
        sock = socket.create_connection((server.host, server.tls_port or server.port), timeout=PATIENCE)
        if server.certfile:
            sock = trust.wrap_socket(sock, server_hostname="127.0.0.1")
        clients.append(Client(sock))
        return clients[-1]

    yield connect
    for client in clients:
        client.socket.close()
