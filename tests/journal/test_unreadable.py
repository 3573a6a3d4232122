"""A request that the server cannot read has an entry with all that could be read."""

from __future__ import annotations

import socket

import pytest

from reseller_sandbox import Sandbox
from tests.persistence.serving import wait_until
from tests.registry import REGISTRY

A, HOST = b"GET /a HTTP/1.1\r\n", b"Host: toy\r\n"
POST = b"POST /a HTTP/1.1\r\n" + HOST

#: The bytes of a request, and the status, the method and the target in its entry.
UNREADABLE = {
    "no http": (b"nonsense\r\n\r\n", 400, "nonsense", ""),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "", ""),
    "a space in the target": (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a b"),
    "a control character": (b"GET /a\x01b HTTP/1.1\r\n" + HOST + b"\r\n", 400, "GET", "/a%01b"),
    "a header without a colon": (A + b"X-Token tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a header with a space": (A + b"X-Token : tell-nobody\r\n\r\n", 400, "GET", "/a"),
    "a bad length": (POST + b"Content-Length: x\r\n\r\n", 400, "POST", "/a"),
    "a bad chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\nno", 400, "POST", "/a"),
    "a long target": (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 414, "GET", "/" + "a" * 20_000),
    "a long head": (A + b"X-Long: " + b"a" * 100_000, 431, "GET", "/a"),
    "half a head": (A + b"Host", 0, "GET", "/a"),
    "half a body": (POST + b"Content-Length: 9\r\n\r\nhalf", 0, "POST", "/a"),
}


def latest(sandbox: Sandbox, number: int) -> list[str]:
    """Wait until the journal has so many requests, and return the names of all."""
    wait_until(lambda: sandbox.journal.count() >= number)
    return [entry.id for entry in sandbox.journal.find().requests]


def test_an_unreadable_request_has_an_answer_and_an_entry(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    with sandbox.serve() as server:
        for number, (case, (sent, status, method, target)) in enumerate(UNREADABLE.items(), start=1):
            with subtests.test(case), socket.create_connection((server.host, server.port), 60) as client:
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(65536)
                assert not status or answer.startswith(b"HTTP/1.1 %d " % status)
                assert case != "tls" or b"use http://" in answer
                entry = sandbox.journal[latest(sandbox, number)[-1]]
                assert (entry.status, entry.request.method, entry.request.target) == (status, method, target)
                error = entry.answer.body["error"] if status else "incomplete_request"
                assert (entry.operation, entry.outcome) == ("-", error)
                assert sandbox.journal.find(outcome=error, limit=1).requests[0].id == entry.id
                assert "tell-nobody" not in str(entry)
                assert entry.refusal
                assert not status or entry.answer.body["message"] in entry.refusal.message


def test_a_request_above_the_limit_of_connections_has_an_entry() -> None:
    sandbox = Sandbox(REGISTRY, max_connections=1)
    with sandbox.serve() as server:
        address = (server.host, server.port)
        with socket.create_connection(address, 60), socket.create_connection(address, 60) as client:
            client.sendall(A + HOST + b"\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 503 ")
        (name,) = latest(sandbox, 1)
    assert (sandbox.journal[name].status, sandbox.journal[name].request.target) == (503, "/a")


def test_an_unreadable_request_after_a_readable_request_has_its_own_headers(sandbox: Sandbox) -> None:
    """A connection without a request has no entry."""
    with sandbox.serve() as server:
        socket.create_connection((server.host, server.port), 60).close()
        with socket.create_connection((server.host, server.port), 60) as client:
            client.sendall(
                b"GET /v3/balance HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nX-Own: 1\r\nbad\r\n\r\n"
            )
            while client.recv(65536):
                pass
        latest(sandbox, 2)
    first, second = sandbox.journal.find().requests
    assert (first.operation, second.operation) == ("v3.balance", "-")
    assert dict(second.request.headers) == {"X-Own": "1", "bad": ""}
