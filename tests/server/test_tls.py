"""HTTPS beside HTTP, and the answers to clients that speak either on the port of the other."""

from __future__ import annotations

import ssl
from contextlib import closing

import pytest

from tests.server.conftest import Served

HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def test_both_ports_serve_the_same_worlds(served: Served) -> None:
    host, server = "127.0.0.1", served.server
    assert (server.url, server.tls_url) == (
        f"http://{host}:{server.port}",
        f"https://{host}:{server.tls_port}",
    )
    for tls in (False, True):
        answer = served.dial(tls=tls).ask(served.signed("GET", "/v3/balance"))
        assert answer.status == 200
        assert answer.headers["x-sandbox-request"] == f"r{tls + 1}"


def test_plain_http_on_the_tls_port_is_answered_and_journaled(served: Served, subtests) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        with subtests.test(method):
            client = served.client(served.connected(served.server.tls_port))
            client.send(f"{method} /path HTTP/1.1\r\nHost: toy\r\nContent-Length: 3\r\n\r\nabc".encode())
            answer = client.answer()
            assert (answer.status, answer.headers["connection"]) == (400, "close")
            assert "use https://" in answer.message
            client.send(b"and more")
            (*_, entry) = served.sandbox.journal
            assert (entry.request.method, entry.request.target, entry.status) == (method, "/path", 400)
            assert "use https://" in str(entry.refusal)
    for sent in (b"G", b"\r\n\r\n", b"\x80\x2e\x01", b"nonsense", b"\x00"):
        with subtests.test(sent=sent):
            client = served.client(served.connected(served.server.tls_port))
            client.send(sent)
            assert client.answer().status == 400


def test_a_slow_tls_handshake_does_not_delay_other_clients(served: Served) -> None:
    slow = served.connected(served.server.tls_port)
    for number in range(len(HELLO)):
        slow.sendall(HELLO[number : number + 1])
    assert served.dial(tls=True).ask().status == 200
    slow.settimeout(0.05)
    with closing(slow), pytest.raises(TimeoutError):
        slow.recv(1)


def test_a_client_that_does_not_trust_the_authority_is_logged(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """The client itself may show nothing but a failed handshake."""
    with served.connected(served.server.tls_port) as sock, pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(sock, server_hostname="127.0.0.1")
    served.server.stop()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "A client disconnected: it does not trust the authority of the certificate.")
    ]
