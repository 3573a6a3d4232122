"""The client's end of a connection within this process: bytes of requests and answers, and pauses.

Time passes only in the reckoning: a client with a timeout that is shorter than what it would have to
wait is told so at once, and any other has its bytes at once.
"""

from __future__ import annotations

import errno
import inspect
import io
import math
import os
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from reseller_sandbox.clients.caller import Reply
from reseller_sandbox.server.delivery import (
    HEARTBEAT,
    HEARTBEAT_BYTES,
    CutShort,
    Delivery,
    Pause,
    RawBytes,
    Silence,
    Stream,
    TcpReset,
    course,
)
from reseller_sandbox.server.messages import WireAnswer

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: How often a stream that waits for news is looked at, in seconds.
LOOK = 0.005

#: The longest that is slept at a stretch, in seconds: the system's own limits are different ones.
LONGEST = 3600.0


class EndlessWait(RuntimeError):
    """A client without a timeout waits for what never comes; ``about`` is its request."""

    def __init__(self, about: object) -> None:
        super().__init__(
            f"{about} is never answered, and its client waits without a timeout: over a socket it would wait "
            "for ever. Give the client a timeout, or the fault an end; real_time=True waits in earnest."
        )


Coming: TypeAlias = Generator[bytes | Pause, None, None]


def silence() -> Coming:
    """Yield that nothing comes."""
    yield Pause(math.inf)


def transmission(reply: Reply) -> Coming:
    """Yield what comes on a connection as the reply to a request; it ends when the connection does.

    Raise ConnectionResetError where the connection is reset. A request that was to take effect later does so
    even if the client has left by then.
    """
    while (again := reply.again) is not None:
        try:
            yield Pause(reply.after)
        finally:
            reply = again()
    head, answer = reply.answer.head, reply.answer
    if reply.stream is not None:
        yield from _followed(answer, reply.stream)
    else:
        for step in course(answer.body, reply.delivery or Delivery()):
            match step:
                case bytes():
                    yield head + step
                    head = b""
                case Pause():
                    yield step
                case TcpReset() | CutShort(reset=True):
                    raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
                case RawBytes(raw):
                    yield raw
                    return
                case Silence(seconds):
                    yield Pause(math.inf if seconds is None else seconds)
                    return
                case _:
                    return
    if not reply.last:
        yield Pause(math.inf)


def _followed(answer: WireAnswer, stream: Stream) -> Coming:
    """Yield an answer that goes on, in chunks; it is looked at for as long as the client does."""
    headers = [header for header in answer.headers if header[0] != b"content-length"]
    try:
        yield replace(answer, headers=[*headers, (b"transfer-encoding", b"chunked")]).head
        silent = 0.0
        while True:
            ended, piece = stream.ended, stream.piece()
            if not piece and silent >= HEARTBEAT:
                piece = HEARTBEAT_BYTES
            if piece:
                yield b"%x\r\n%b\r\n" % (len(piece), piece)
                silent = 0.0
            if ended:
                break
            yield Pause(LOOK, real=True)
            silent += LOOK
        yield b"0\r\n\r\n"
    finally:
        stream.close()


class Line:
    """A connection on which ``coming`` comes; with ``real_time`` its pauses are waited for.

    ``about`` says what was asked, for ``EndlessWait``.
    """

    def __init__(self, coming: Coming, *, real_time: bool = False, about: object = "") -> None:
        self._coming = coming
        self._real_time = real_time
        self._about = about
        self._received = bytearray()

    @property
    def has_ended(self) -> bool:
        """Whether nothing more can come."""
        return inspect.getgeneratorstate(self._coming) == inspect.GEN_CLOSED

    def read(self, size: int, timeout: float | None) -> bytes:
        """Return up to ``size`` bytes as soon as there are any, and none where the connection has ended.

        Raise what a socket raises: TimeoutError after ``timeout`` seconds, ConnectionResetError; and
        ``EndlessWait`` where that would wait for ever.
        """
        steps = self._steps(size, timeout)
        while True:
            try:
                time.sleep(next(steps))
            except StopIteration as end:
                return bytes(end.value)

    async def aread(self, size: int, timeout: float | None) -> bytes:
        """Do as ``read`` does, and let others have their turn while it waits."""
        steps = self._steps(size, timeout)
        while True:
            try:
                seconds = next(steps)
            except StopIteration as end:
                return bytes(end.value)
            import anyio  # which httpx brings for its asynchronous client

            await anyio.sleep(seconds)

    def leave(self) -> None:
        """Go away, whatever may still come."""
        self._coming.close()

    def _steps(self, size: int, timeout: float | None) -> Generator[float, None, bytes]:
        """Yield the seconds to wait for in earnest; return what has come then."""
        left = math.inf if timeout is None else timeout
        while not self._received:
            coming = next(self._coming, None)
            if coming is None:
                return b""
            if isinstance(coming, bytes):
                self._received += coming
                continue
            pause, earnest = coming.seconds, coming.real or self._real_time
            if timeout is not None and pause and pause >= left:
                if earnest:
                    yield left
                self.leave()
                raise TimeoutError("timed out")
            if pause == math.inf and not earnest:
                raise EndlessWait(self._about)
            if earnest:
                while pause > 0:
                    yield min(pause, LONGEST)
                    pause -= LONGEST
            left -= coming.seconds
        piece = bytes(self._received[:size])
        del self._received[:size]
        return piece


class LineFile(io.RawIOBase):
    """The bytes that ``read`` returns, as a file; ``done`` is called when it is closed."""

    def __init__(self, read: Callable[[int], bytes], done: Callable[[], None]) -> None:
        self._read = read
        self._done = done

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read as much as has come by now, and as fits."""
        view = memoryview(buffer)
        piece = self._read(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Read no more."""
        if not self.closed:
            super().close()
            self._done()
