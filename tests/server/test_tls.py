"""TLS beside plain HTTP, and what those are told who speak one of the two on the port of the other."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from queue import Queue

import pytest

from reseller_sandbox.server.problem import SPOKE_PLAIN, SPOKE_TLS
from reseller_sandbox.server.server import CannotListen, LoggedRequest, Server, bound
from tests.server.conftest import PATIENCE, Client, Dial, Serve, Toy

Plain = Callable[[Server, int | None], Client]
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.fixture
def plain() -> Iterator[Callable[[Server, int | None], Client]]:
    """Connects without TLS to one of the ports; all connections close at the end."""
    with ExitStack() as stack:
        yield lambda server, port: Client(
            stack.enter_context(socket.create_connection((server.host, port), timeout=PATIENCE))
        )


def test_both_ports_serve_one_application(serve: Serve, dial: Dial, certfile: str, plain: Plain) -> None:
    """Each in its own scheme, which is what the application is told."""
    app = Toy()
    server = serve(app, certfile=certfile, tls_port=0)
    assert (server.url, server.tls_url) == (
        f"http://127.0.0.1:{server.port}",
        f"https://127.0.0.1:{server.tls_port}",
    )
    clients = [plain(server, server.port), dial(server)]
    for client in clients:
        client.get()
        assert client.read_answer()[2] == b"fine"
    assert [one["wsgi.url_scheme"] for one in app.asked] == ["http", "https"]
    server.stop()
    assert [client.read_all() for client in clients] == [b"", b""]


def test_a_second_port_that_is_taken_gives_the_first_one_free(certfile: str) -> None:
    """It is known before anything listens."""
    with bound("127.0.0.1", 0) as taken, bound("127.0.0.1", 0) as other:
        first = other.getsockname()[1]
        other.close()
        with pytest.raises(CannotListen, match="in use"):
            Server(Toy(), port=first, certfile=certfile, tls_port=taken.getsockname()[1])
        bound("127.0.0.1", first).close()


@pytest.mark.parametrize("both", [True, False], ids=["beside", "alone"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_plain_http_to_tls_is_told_so(
    serve: Serve, certfile: str, method: str, both: bool, plain: Plain
) -> None:
    """In plain HTTP, with 400, and in the log; the application sees nothing of it."""
    app, lines = Toy(), Queue[LoggedRequest]()
    server = serve(app, certfile=certfile, tls_port=0 if both else None, log=lines.put)
    client = plain(server, server.tls_port)
    client.send(f"{method} /path HTTP/1.1\r\nHost: toy\r\nContent-Length: 3\r\n\r\nabc".encode())
    status, headers, body = client.read_answer()
    assert (status, headers["connection"], body) == (400, "close", SPOKE_PLAIN.answer().body)
    client.send(b"and more")
    line = lines.get(timeout=PATIENCE)
    assert (line.method, line.target, line.status) == (method, "/path", 400)
    assert "use https://" in line.note
    assert not app.asked


@pytest.mark.parametrize("sent", [b"G", b"\r\n\r\n", b"\x80\x2e\x01", b"nonsense", b"\x00"])
def test_whatever_is_no_tls_is_told_so(serve: Serve, certfile: str, sent: bytes, plain: Plain) -> None:
    """As soon as its first byte says so."""
    server = serve(Toy(), certfile=certfile)
    client = plain(server, server.tls_port)
    client.send(sent)
    assert client.read_answer()[0] == 400


def test_a_greeting_that_comes_byte_by_byte_is_waited_for(
    serve: Serve, dial: Dial, certfile: str, plain: Plain
) -> None:
    """Half a TLS greeting is not taken for something else, and holds up nobody."""
    server = serve(Toy(), certfile=certfile)
    slow = plain(server, server.tls_port)
    for number in range(len(HELLO)):
        slow.send(HELLO[number : number + 1])
    client = dial(server)
    client.get()
    assert client.read_answer()[2] == b"fine"
    slow.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        slow.socket.recv(1)


def test_tls_to_the_plain_port_is_told_so(serve: Serve, certfile: str, plain: Plain) -> None:
    """In the log as well, where somebody will look who sees nothing but a failed handshake."""
    lines = Queue[LoggedRequest]()
    server = serve(Toy(), certfile=certfile, tls_port=0, log=lines.put)
    client = plain(server, server.port)
    client.send(HELLO)
    assert client.read_answer()[2] == SPOKE_TLS.answer().body
    assert "use http://" in lines.get(timeout=PATIENCE).note


def test_a_client_that_does_not_know_the_authority_is_told_of(
    serve: Serve, certfile: str, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log: its owner sees no more of it than that it failed."""
    server = serve(Toy(), certfile=certfile)
    stranger = ssl.create_default_context()
    with (
        socket.create_connection((server.host, server.port)) as sock,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        stranger.wrap_socket(sock, server_hostname="127.0.0.1")
    server.stop()
    assert [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING] == [
        "A client has left: it does not know the authority that signed the certificate."
    ]
