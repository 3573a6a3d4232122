"""Connections of mutated requests: each gets its answers in time, whatever the bytes are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from tests.server.conftest import GET, HOST, Client, Served
from tests.server.test_requests import numbered
from tests.waiting import PATIENCE

#: Seconds within which a server ends a connection after the client has sent all its requests.
IN_TIME = PATIENCE / 4

POST = b"POST /V2.0/contact HTTP/1.1\r\n" + HOST

SEEDS = [
    GET,
    GET.replace(b"1.1", b"1.0"),
    b"GET /\r\n\r\na\n\n\n",
    b"GET /_sandbox/health HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n" + GET,
    b"HEAD /_sandbox/health HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n" + HOST + b"\r\n",
    POST + b"Content-Length: 11\r\n\r\n" + b'{"a":[[1]]}',
    POST.replace(b"1.1", b"1.0") + b"Connection: close\r\nContent-Length: 2\r\n\r\n" + b"{}\n\n\n\n{}",
    POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    POST + b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n{\n\n\r\n1\r\n}\r\n0\r\nX-T: 1\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]

PIECES = [
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\n\n\n", b"\0", b"\x7f", b"\xff"),
    *(b" ", b"\t", b":", b"%", b" HTTP/1.0", b" HTTP/0.9", b" HTTP/2.0"),
    *(b"0\r\n\r\n", b"0\r\n", b"ffffffff\r\n", b"-1", b"99999999999999999999"),
    *(b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"Upgrade: websocket\r\n"),
    *(b"Content-Length: 0\r\n", b"Content-Length: 5\r\n", b"Content-Length:\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"Expect: 100-continue\r\n"),
    *(b" folded\r\n", b"\r\nGET / HTTP/1.1\r\n"),
]


def mutated(random: Random) -> list[bytes]:
    """One to three requests with some mistakes, in one to four packets."""
    sent = bytearray(b"".join(random.choices([*SEEDS, numbered(1)], k=random.randint(1, 3))))
    for _ in range(random.choice((0, 1, 1, 2, 3, 8))):
        at = random.randrange(len(sent) + 1)
        length = random.choice((0, 0, 1, 1, 2, 8, 40))
        other = random.choice(SEEDS)
        start = random.randrange(len(other))
        put = (random.choice(PIECES), b"", sent[at : at + length], other[start : start + length])
        sent[at : at + length] = random.choice(put) * random.choice((1, 1, 1, 2, 5))
    cuts = sorted(random.choices(range(len(sent) + 1), k=random.choice((0, 0, 0, 1, 3))))
    return [bytes(sent[start:end]) for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]


def answers(client: Client, packets: list[bytes]) -> bytes:
    """Everything that the server answers."""
    client.socket.settimeout(IN_TIME)
    try:
        for packet in packets:
            client.send(packet)
        client.end()
        return client.rest()
    except TimeoutError:
        pytest.fail(f"no end of the answer within {IN_TIME} s: {packets}")
    except OSError:  # the server closed the connection while the client was still sending
        return b""


def statuses(raw: bytes) -> Iterator[int]:
    for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", raw):
        yield int(status)


@pytest.mark.parametrize(
    ("tls", "count"),
    [
        (False, 400),
        (True, 100),
        pytest.param(False, 8000, marks=pytest.mark.slow),
        pytest.param(True, 2000, marks=pytest.mark.slow),
    ],
)
def test_mutated_requests_are_answered_in_time(
    served: Served, tls: bool, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    random = Random(count)
    for _ in range(count):
        packets = mutated(random)
        with closing(served.dial(tls=tls)) as client:
            raw = answers(client, packets)
        assert not [status for status in statuses(raw) if status >= 500 and status != 505], packets
    assert served.dial().ask(GET).status == 200
    assert not caplog.records
