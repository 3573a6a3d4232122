"""In-process imitation of a TCP connection: yields pauses and the bytes of responses.

Pauses are only counted, not waited for. If a pause is longer than the client's timeout, the client gets its
timeout error immediately. Otherwise it gets its bytes immediately. In an event loop, a pause lasts until the
deadlines within it have passed, so that a deadline of the caller (``asyncio.timeout``) ends the wait.
"""

from __future__ import annotations

import errno
import inspect
import io
import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
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

#: Interval in seconds at which a streamed response is polled for new bytes.
POLL = 0.005

#: Maximum length of one sleep in seconds. Longer sleeps exceed the limit of some operating systems.
LONGEST = 3600.0


class EndlessWait(RuntimeError):
    """A client without a timeout waits for a response that never comes.

    ``about`` describes the request.
    """

    def __init__(self, about: object) -> None:
        super().__init__(
            f"{about} gets no answer, and its client has no timeout. Over a socket, the client would wait "
            "indefinitely. Set a timeout in the client, or an end of the fault. With real_time=True, the "
            "client really waits."
        )


class Hold(Struct, frozen=True):
    """A wait of ``POLL`` seconds until the next look at a request that the application holds.

    It takes real time, which does not count against the client's timeout.
    """


class Stale(Struct, frozen=True):
    """A mark before a response: the connection ends as soon as the client uses it again."""


Transmission: TypeAlias = Generator[bytes | Pause | Hold | Stale, None, None]


def endless_silence() -> Transmission:
    """Yield one pause without an end: the server sends nothing."""
    yield Pause(math.inf)


def transmission(reply: Reply) -> Transmission:
    """Yield the bytes of a reply and the pauses between them, until the connection closes.

    Raise ConnectionResetError if the connection is reset. A delayed request takes effect even if the client
    closes the connection earlier.
    """
    while (again := reply.again) is not None:
        if reply.when is not None:
            yield from _held(reply.when, again)
            reply = again()
            continue
        try:
            yield Pause(reply.after)
        finally:
            reply = again()
    head, answer = reply.answer.head, reply.answer
    if reply.stream is not None:
        yield from _followed(answer, reply.stream)
    else:
        delivery = reply.delivery or Delivery()
        if delivery.stale:
            yield Stale()
        for step in course(answer.body, delivery):
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


def _held(when: Callable[[Callable[[], None]], None], again: Callable[..., Reply]) -> Iterator[Hold]:
    """Yield until the application can handle a request that it holds.

    If the client leaves before, the request still takes effect, on the thread that ends the hold.
    """
    ended = Event()
    when(ended.set)
    try:
        while not ended.is_set():
            yield Hold()
    except GeneratorExit:
        when(lambda: _finish(again(has_left=True)))
        raise


def _finish(reply: Reply) -> None:
    """Let a request take effect whose client has left."""
    while reply.again is not None:
        reply = reply.again(has_left=True)


def _followed(answer: WireAnswer, stream: Stream) -> Transmission:
    """Yield a streamed response in chunks, until the stream ends or the client closes it."""
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
            yield Pause(POLL, real=True)
            silent += POLL
        yield b"0\r\n\r\n"
    finally:
        stream.close()


class FakeConnection:
    """Connection whose bytes and pauses come from ``incoming``. With ``real_time``, pauses really last.

    ``about`` names the request in the message of ``EndlessWait``.
    """

    def __init__(self, incoming: Transmission, *, real_time: bool = False, about: object = "") -> None:
        self._incoming = incoming
        self._real_time = real_time
        self._about = about
        self._received = bytearray()
        #: Whether the connection ends as soon as the client uses it again.
        self.is_stale = False

    @property
    def has_ended(self) -> bool:
        """Whether the connection is closed, so that no more bytes come."""
        return inspect.getgeneratorstate(self._incoming) == inspect.GEN_CLOSED

    def read(self, size: int, timeout: float | None) -> bytes:
        """Return up to ``size`` available bytes, or none if the connection has ended.

        Raise the errors of a socket: TimeoutError after ``timeout`` seconds, and ConnectionResetError. Raise
        ``EndlessWait`` if the read would wait indefinitely.
        """
        steps = self._steps(size, timeout)
        while True:
            try:
                time.sleep(next(steps))
            except StopIteration as end:
                return bytes(end.value)

    async def aread(self, size: int, timeout: float | None) -> bytes:
        """Return up to ``size`` bytes, as ``read`` does, but wait asynchronously."""
        import anyio  # Only httpx calls this method, and httpx requires anyio.

        steps = self._steps(size, timeout, next_deadline)
        while True:
            try:
                seconds = next(steps)
            except StopIteration as end:
                return bytes(end.value)

            await anyio.sleep(seconds)

    def leave(self) -> None:
        """Close the connection and discard further bytes."""
        self._incoming.close()

    def _steps(
        self, size: int, timeout: float | None, deadline: Callable[[], float] = lambda: math.inf
    ) -> Generator[float, None, bytes]:
        """Yield each number of seconds that the caller must really wait. Return the received bytes.

        ``deadline`` returns the seconds until the next deadline in the caller's event loop.
        """
        left = math.inf if timeout is None else timeout
        while not self._received:
            incoming = next(self._incoming, None)
            if incoming is None:
                return b""
            if isinstance(incoming, bytes):
                self._received += incoming
                continue
            if isinstance(incoming, Hold):
                yield POLL
                continue
            if isinstance(incoming, Stale):
                self.is_stale = True
                continue
            pause, is_real = incoming.seconds, incoming.real or self._real_time
            if not is_real:
                waited = yield from _wait_for_deadlines(min(pause, left), deadline)
                pause, left = pause - waited, left - waited
            if timeout is not None and pause and pause >= left:
                if is_real:
                    yield left
                self.leave()
                raise TimeoutError("timed out")
            if pause == math.inf and not is_real:
                raise EndlessWait(self._about)
            if is_real:
                while pause > 0:
                    yield min(pause, LONGEST)
                    pause -= LONGEST
            left -= incoming.seconds if is_real else pause
        piece = bytes(self._received[:size])
        del self._received[:size]
        return piece


def _wait_for_deadlines(seconds: float, deadline: Callable[[], float]) -> Generator[float, None, float]:
    """Yield real waits until no deadline is within the next ``seconds``. Return the seconds waited."""
    waited = 0.0
    while (soon := deadline()) < seconds - waited:
        # Wait a little longer, so that the event loop has handled the deadline.
        yield soon + POLL
        waited += soon + POLL
    return min(waited, seconds)


def next_deadline() -> float:
    """Return the seconds until the next deadline in the running event loop.

    A deadline is a timer that is not a sleep. It can belong to any task, because a task can wait for others.
    If the loop hides its timers, return 0, so that pauses really last.
    """
    import asyncio  # Import late, because most tests do not need asyncio.

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        import anyio

        return max(anyio.current_effective_deadline() - anyio.current_time(), 0.0)
    timers = getattr(loop, "_scheduled", None)
    if timers is None:
        return 0.0
    wakes = asyncio.futures._set_result_unless_cancelled  # type: ignore[attr-defined]
    times = [timer.when() for timer in timers if not timer.cancelled() and timer._callback is not wakes]
    return max(min(times, default=math.inf) - loop.time(), 0.0)


class ResponseFile(io.RawIOBase):
    """File object over ``read``, a function that returns bytes. Closing it calls ``done``."""

    def __init__(self, read: Callable[[int], bytes], done: Callable[[], None]) -> None:
        self._read = read
        self._done = done

    def readable(self) -> bool:
        """Return True, as ``io.RawIOBase`` requires of a readable file."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read bytes into ``buffer``, and return their number."""
        view = memoryview(buffer)
        piece = self._read(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the file and call ``done``."""
        if not self.closed:
            super().close()
            self._done()
