"""No client delays other clients by the amount that it sends, or by not reading."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.server.conftest import GET, HOST, Served, wait_until

CONNECTIONS, PIPELINED = 20, 45


@pytest.mark.parametrize("line", [b"\n", b"\r\n"])
def test_empty_lines_before_a_request_are_limited(served: Served, line: bytes) -> None:
    """A few before each request are ignored."""
    few, client = line * (1024 // len(line)), served.dial()
    client.send((few + GET) * 2 + line * 1025 + GET)
    assert client.answer().status == client.answer().status == 200
    refused = client.answer()
    assert (refused.status, refused.headers["connection"]) == (400, "close")
    assert "more than 1024 bytes of empty lines come before the request line" in refused.message
    assert [entry.status for entry in served.entries(1)] == [400]


def test_pipelined_requests_take_turns_with_those_of_other_clients(served: Served) -> None:
    many, other = [served.dial() for _ in range(CONNECTIONS)], served.dial()
    request = served.signed("GET", "/v3/domains?perPage=100")
    for client in many:
        client.send(request * PIPELINED)
    wait_until(lambda: served.sandbox.journal.count() >= CONNECTIONS)
    before = served.sandbox.journal.count()
    for _ in range(10):
        assert other.ask().status == 200
    assert served.sandbox.journal.count() - before < 25 * CONNECTIONS  # two of each
    for client in many:
        assert [client.answer().status for _ in range(PIPELINED)] == [200] * PIPELINED


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let the threads of the client and of the server take turns more often than every 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_small_chunks_are_read_in_turns_with_the_requests_of_other_clients(
    served: Served, quick_switches: None
) -> None:
    """The event loop reads 16 KiB a round, of 1.8 MB."""
    client, other, is_answered = served.dial(), served.dial(), threading.Event()
    head = b"POST /_sandbox/history/load HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"

    def send() -> None:
        client.send(head + b"1\r\n \r\n" * 300_000 + b"0\r\n\r\n")
        client.answer()
        is_answered.set()

    thread = threading.Thread(target=send)
    thread.start()
    answers = 0
    while not is_answered.is_set():
        assert other.ask().status == 200
        answers += 1
    thread.join()
    assert answers > 15


def test_a_follower_that_does_not_read_gets_the_latest_and_the_number_of_missed(served: Served) -> None:
    client, path = served.sandbox.client(), f"/V3.0/customer/{'1' * 15_000}"
    follower = served.dial()
    follower.send(b"GET /_sandbox/journal/follow HTTP/1.1\r\n" + HOST + b"\r\n")
    assert follower.head()[0] == 200
    for _ in range(1400):
        client.get(path)
    pieces = [b"", follower.piece()]
    while b'"id":"r1400"' not in pieces[-2] + pieces[-1]:
        pieces.append(follower.socket.recv(1 << 20))
    came = b"".join(pieces)
    missed = [int(count) for count in re.findall(rb'event: missed\r?\ndata: {"missed":(\d+)}', came)]
    received = len(set(re.findall(rb"\bid: (\S+)", came)))
    assert missed
    assert received + missed[-1] == 1400
    assert received >= 1000


def test_a_follower_gets_a_backlog_in_pieces_of_64_kib(served: Served) -> None:
    client = served.sandbox.client()
    for number in range(300):
        client.get(f"/V3.0/customer/{'1' * 1_000}?number={number}")
    follower, received, sizes = served.dial(), b"", list[int]()
    follower.send(b"GET /_sandbox/journal/follow?since=r1 HTTP/1.1\r\n" + HOST + b"\r\n")
    assert follower.head()[0] == 200
    while b'"id":"r300"' not in received[-4000:]:
        received += follower.piece()
    while b"\r\n" in received:
        size, _, rest = received.partition(b"\r\n")
        sizes.append(int(size, 16))
        received = rest[sizes[-1] + 2 :]
    assert 4 <= len(sizes) <= 12, sizes
    assert max(sizes) < 70_000, sizes
