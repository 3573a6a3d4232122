"""Nobody holds up the others by how much is sent at once, or by not reading."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.server.server import Server
from tests.clients import Socket

CONNECTIONS, PIPELINED = 20, 20

REQUEST = b"GET /many HTTP/1.1\r\nHost: toy\r\n\r\n"


def connected(port: int) -> socket.socket:
    """A connection whose client waits for half a minute at most."""
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def everything(client: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    return b"".join(iter(lambda: client.recv(1 << 16), b""))


@pytest.mark.parametrize("line", [b"\n", b"\r\n"])
def test_empty_lines_before_a_request_are_limited(line: bytes) -> None:
    """A few are passed over, before each request; more are refused in words, and stand in the journal."""
    sandbox = Sandbox()
    request = b"GET /_sandbox/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    few = line * (1024 // len(line))
    with sandbox.serve() as server:
        with connected(server.port) as client:
            client.sendall((few + request) * 2 + line * 1025 + request)
            first, second, refused = re.split(rb"HTTP/1.1 (?=\d)", everything(client))[1:]
        assert first.startswith(b"200")
        assert second.startswith(b"200")
        assert refused.startswith(b"400")
        assert b"more than 1024 bytes of empty lines come before the request line" in refused
    assert sandbox.journal.find().requests[-1].status == 400


def test_pipelined_requests_take_turns_with_those_of_others() -> None:
    """However many connections send them."""
    called: Counter[str] = Counter()

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        called[environ["PATH_INFO"]] += 1
        time.sleep(0.001)
        start_response("200 OK", [])
        return [b"fine"]

    with ExitStack() as stack, Server(app) as server:
        many = [stack.enter_context(connected(server.port)) for _ in range(CONNECTIONS)]
        other = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for client in many:
            client.sendall(REQUEST * PIPELINED)
        while called["/many"] < CONNECTIONS:
            time.sleep(0.001)
        before = called["/many"]
        for _ in range(10):
            other.request("GET", "/other")
            assert other.getresponse().read() == b"fine"
        assert called["/many"] - before < 5 * CONNECTIONS
        for client in many:
            came = b""
            while came.count(b"fine") < PIPELINED:
                came += client.recv(1 << 16)
        other.close()
    assert called["/many"] == CONNECTIONS * PIPELINED


def test_small_chunks_are_read_in_turns_with_the_requests_of_others() -> None:
    """A body of a hundred thousand chunks of one byte does not wait in one piece."""
    answered: list[float] = []
    head = b"POST /_sandbox/history/load HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Sandbox().serve() as server, connected(server.port) as client:
        other, sent = Socket(server.url), threading.Event()

        def send() -> None:
            client.sendall(head + b"1\r\n \r\n" * 100_000 + b"0\r\n\r\n")
            client.recv(1 << 16)
            sent.set()

        threading.Thread(target=send).start()
        while not sent.is_set():
            assert other("GET", "/_sandbox/health", [], b"").status == 200
            answered.append(time.monotonic())
        other.close()
    assert len(answered) > 15, "a round of the event loop reads 16 KiB, of 600 KB"


def test_a_follower_that_does_not_read_keeps_little() -> None:
    """When it reads again, it is sent what came last, and the number of those that it has missed."""
    sandbox = Sandbox()
    client, path = sandbox.client(), f"/v3/domains/getDomain/{'a' * 15_000}.com"
    with sandbox.serve() as server, connected(server.port) as follower:
        follower.sendall(b"GET /_sandbox/journal/follow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert follower.recv(17) == b"HTTP/1.1 200 OK\r\n"
        for _ in range(1500):
            client.get(path)
        came = b""
        while b'"id":"r1500"' not in came[-200_000:]:
            came += follower.recv(1 << 20)
    missed = [int(count) for count in re.findall(rb'event: missed\r?\ndata: {"missed":(\d+)}', came)]
    got = len(set(re.findall(rb"\bid: (\S+)", came)))
    assert missed
    assert got + missed[-1] == 1500
    assert got >= 1000
