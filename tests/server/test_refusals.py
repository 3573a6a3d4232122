"""Requests that a server does not accept: they end in an answer in JSON, and cost no memory and no log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.server.conftest import GET, HOST, Client, Served
from tests.server.test_requests import MAX_HEAD, MAX_TARGET, numbered
from tests.waiting import wait_until

POST = b"POST /v3/domains/createDomain HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
MEGABYTES = b"a" * (5 << 20)
MANY = b"X-Many: 1234567890\r\n" * 5000

MALFORMED = [
    b"nonsense\r\n\r\n",
    b"BREW /pot HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
    POST + b"Content-Length: x\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nnot a chunk",
]

#: What is too long in a head, and in the trailers and extensions of a body in chunks.
TOO_LONG = [
    (b"GET /" + b"a" * MAX_TARGET, 414),
    (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * (MAX_HEAD + 1), 431),
    (b"GET / HTTP/1.1\r\n" + MANY, 431),
    (CHUNKED + b"0\r\nX-Long: " + b"a" * (MAX_HEAD + 1) + b"\r\n\r\n", 431),
    (CHUNKED + b"0\r\n" + MANY, 431),
    (CHUNKED + b"0\r\n" + MEGABYTES, 431),
    (CHUNKED + b"3;extension=" + MEGABYTES, 431),
]


@pytest.fixture(autouse=True)
def _nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_a_malformed_request_is_refused_after_the_responses_to_earlier_requests(
    served: Served, subtests
) -> None:
    served.sandbox.faults.add("latency", seconds=0.02, match={"path": "/v3/marker"})
    delayed = served.signed("GET", "/v3/marker")
    for number, sent in enumerate(MALFORMED):
        for first in (b"", numbered(1), delayed):
            with subtests.test(sent=sent, first=first):
                client = served.dial(tls=number % 2 == 1)
                client.send(first + sent)
                assert not first or client.answer().headers["x-sandbox-request"]
                assert client.refusal() == (400, "malformed_request")


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        (b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", "tunnel"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"),
        (b"\x16\x03\x01\x02\x00\x01", "TLS"),
    ],
)
def test_a_client_of_another_protocol_is_named(served: Served, sent: bytes, named: str) -> None:
    answer = served.dial().ask(sent)
    assert (answer.status, answer.error) == (400, "malformed_request")
    assert named in answer.message
    assert named in str(served.entries(1)[0].answer.body)


def test_too_long_heads_and_trailers_are_refused_before_their_end_arrives(served: Served, subtests) -> None:
    for sent, status in TOO_LONG:
        with subtests.test(sent=sent[:150]):
            client = served.dial()
            client.send(sent[:20])
            client.send(sent[20:])
            assert client.refusal()[0] == status
    client = served.dial()
    client.send(b"GET /" + b"a" * MAX_TARGET + b" HTTP/1.1\r\n" + HOST + b"\r\n")
    assert client.refusal() == (414, "uri_too_long")


def send_endlessly(client: Client) -> None:
    while True:
        client.send(b"x" * 65536)


def test_a_body_that_is_too_large_is_refused_and_not_read(serve: Callable[..., Served]) -> None:
    served = serve(max_body=100)
    assert served.dial().ask(served.signed("POST", "/v3/balance", b"x" * 100)).error == "method_not_allowed"
    for size in (101, 5 << 20):
        for chunks in (0, 10_000):
            client = served.dial()
            answer = client.ask(served.signed("POST", "/v3/domains/createDomain", b"x" * size, chunks=chunks))
            assert (answer.status, answer.headers["connection"]) == (413, "close")
            assert "100 bytes" in answer.message
    client = served.dial()
    client.send(CHUNKED + b"40\r\n" + b" " * 0x40 + b"\r\n30\r\n" + b" " * 0x30 + b"\r\n")
    assert client.answer().error == "body_too_large", "before the body ends"
    waiting = POST + b"Content-Length: 101\r\nExpect: 100-continue\r\n\r\n"
    assert served.dial().ask(waiting).error == "body_too_large"
    served.sandbox.faults.add("latency", seconds=0.02, when={"phase": "after"})
    assert served.dial().ask(waiting).error == "body_too_large", "and no 100 Continue before it"
    client = served.dial()
    assert client.ask(POST + b"Content-Length: 99999999999\r\n\r\n").error == "body_too_large"
    with pytest.raises(OSError):  # the server ends the connection
        send_endlessly(client)
    assert {entry.request.body for entry in served.sandbox.journal if entry.status == 413} == {None}


def is_served(served: Served) -> bool:
    with closing(served.dial()) as client:
        return client.ask(GET).status == 200


def test_a_closed_connection_no_longer_counts_towards_the_connection_limit(
    serve: Callable[..., Served], subtests
) -> None:
    served = serve(max_connections=1)
    for rule in (
        {"kind": "hang"},
        {"kind": "latency", "seconds": 600},
        {"kind": "latency", "seconds": 600, "when": {"phase": "after"}},
        {"kind": "drip", "size": 1, "pause": 600},
    ):
        with subtests.test(rule=rule), served.sandbox.faults.add(**rule) as placed:
            client = served.dial()
            client.send(served.signed("GET", "/v3/balance"))
            wait_until(lambda: placed.applied)
            with closing(served.dial()) as refused:
                refused.send(GET)
                assert refused.refusal() == (503, "too_many_connections")
            client.close()
            wait_until(lambda: is_served(served))
