"""A head is read alike whether it comes whole, which is the quick way, or a line at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reseller_sandbox.server.bridge import Bridge
from reseller_sandbox.server.heads import plain_end
from reseller_sandbox.server.listener import Listener
from reseller_sandbox.server.problem import MAX_HEAD, MAX_TARGET
from tests.server.conftest import Toy
from tests.thorough import tries

FIRST = st.sampled_from(
    [
        b"GET /a?b=c HTTP/1.1",
        b"GET /caf\xc3\xa9 HTTP/1.1",
        b"POST http://toy/a HTTP/1.1",
        b"CONNECT toy:80 HTTP/1.1",
        b"nonsense",
        b"",
        b"GET /" + b"x" * MAX_TARGET + b" HTTP/1.1",
    ]
)
LINES = st.sampled_from(
    [
        b"Host: toy",
        b"Connection: upgrade",
        b"UPGRADE: websocket",
        b"Content-Length: 3",
        b"Transfer-Encoding: chunked",
        b"X-Name: caf\xc3\xa9",
        b"X-Long: " + b"y" * (MAX_HEAD // 2),
        b"no header",
        b"a b: c",
        b" folded",
        b"X-Empty:",
    ]
)
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n"])


@st.composite
def sent(draw: st.DrawFn) -> bytes:
    """One request or two, well formed or otherwise."""
    written = b""
    for _ in range(draw(st.integers(1, 2))):
        for line in (draw(FIRST), *draw(st.lists(LINES, max_size=4)), b""):
            written += line + draw(ENDS)
        written += draw(st.sampled_from([b"", b"abc", b"0\r\n\r\n"]))
    return written


class Nowhere(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = write_eof = close

    def can_write_eof(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Nothing comes by itself."""

    resume_reading = pause_reading


async def made_of(pieces: Sequence[bytes]) -> tuple[bytes, Any, Any]:
    """What a server answers, hands on and gives account of, where bytes come in these pieces."""
    app, unread, transport = Toy(), list[Any](), Nowhere()
    listener = Listener(Bridge(app, 1 << 20, None, unread.append), grace=1, limit_connections=None, backlog=1)
    listener.config.load()
    connection = listener._connection()
    connection.connection_made(transport)
    for piece in pieces:
        if not transport.closed:
            connection.data_received(piece)
        for _ in range(5):
            await asyncio.sleep(0)
    connection.connection_lost(None)
    for task in list(listener.server_state.tasks):
        task.cancel()
    asked = [{key: value for key, value in one.items() if isinstance(value, str)} for one in app.asked]
    return transport.written, asked, unread


def lines_of(data: bytes, cuts: Sequence[bool]) -> Iterator[bytes]:
    """The same bytes in pieces that end where lines do: at the n-th where ``cuts`` says so."""
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    chosen = [at for at, cut in zip(ends, cuts, strict=False) if cut]
    for start, end in pairwise([0, *chosen, len(data)]):
        yield data[start:end]


@settings(max_examples=tries(40), deadline=None)
@example(b"GET / HTTP/1.1\r\nHost: toy\r\nno header\r\nX-Later: 1\r\n\r\n", [True] * 9)
@example(b"CONNECT toy:80 HTTP/1.1\r\nHost: toy\r\n\r\n", [True] * 9)
@given(sent(), st.lists(st.booleans(), min_size=15, max_size=15))
def test_pieces_make_no_difference(data: bytes, cuts: list[bool]) -> None:
    """To what is answered, to what the application is asked, and to the account of what was not read."""

    async def both() -> tuple[Any, Any]:
        return await made_of([data]), await made_of(list(lines_of(data, cuts)))

    whole, cut = asyncio.run(both())
    assert whole == cut


def test_only_an_ordinary_head_is_read_in_one_piece() -> None:
    head = b"GET / HTTP/1.1\r\nHost: toy\r\n\r\n"
    assert plain_end(b"..." + head + b"body", 3) == len(head) + 3
    for other in (
        head[:-2],
        b"\r\n" + head,
        head.replace(b"\r\n\r\n", b"\n\nGET / HTTP/1.1\r\n\r\n"),
        head.replace(b"toy", b"caf\xc3\xa9"),
        head.replace(b"Host", b"Upgrade"),
        head.replace(b"toy", b"y" * MAX_HEAD),
        head.replace(b" /", b" /" + b"x" * MAX_TARGET),
    ):
        assert not plain_end(other, 0)


class Searched(bytes):
    """Bytes that count how many of them have been looked through."""

    seen = 0

    def find(self, sought: Any, start: Any = 0, end: Any = None, /) -> int:
        found = super().find(sought, start, end)
        until = min(len(self), len(self) if end is None else end)
        self.seen += max((found if found >= 0 else until) - start, 0)
        return found


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b"GET / HTTP/1.1\n\n", b"x: y\n"])
def test_a_piece_of_many_lines_is_not_looked_through_for_each(line: bytes) -> None:
    """However many there are, what a line costs is bounded: nobody can hold up the others with them."""
    data = Searched(line * (5 * MAX_HEAD // len(line)))
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    assert not any(plain_end(data, at) for at in ends[:100])
    assert data.seen <= 100 * MAX_HEAD
