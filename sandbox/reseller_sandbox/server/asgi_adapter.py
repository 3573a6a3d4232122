"""Adapter that lets uvicorn call the WSGI application directly on the event loop.

A call takes a few hundred microseconds, so it needs no thread. Requests take effect
in the order in which they arrive.
"""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol

from reseller_sandbox.registry.stepwise import Interrupted, interruptible
from reseller_sandbox.server.delivery import (
    HEARTBEAT,
    HEARTBEAT_BYTES,
    Again,
    CutShort,
    Delivery,
    Env,
    Pause,
    RawBytes,
    Silence,
    Stream,
    TcpReset,
    course,
)
from reseller_sandbox.server.log import LoggedRequest, Words, log_failure, masked
from reseller_sandbox.server.messages import Unread, Unserved, WireAnswer
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.server.server import LONG_CALL
from reseller_sandbox.server.wsgi import call, environment
from reseller_sandbox.values.clock import instance_mark, stopwatch

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment


if sys.platform == "linux":
    import fcntl
    import termios


Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

#: SO_LINGER with a timeout of zero: closing such a socket sends a RST. Windows uses shorts, not ints.
LINGER_NOT = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)

#: Maximum bytes of one write. A write copies its bytes, and blocks the event loop meanwhile.
PIECE = 1 << 18

#: Limits for draining an unread request body: bytes and seconds.
SPILL_BYTES = 16 << 20
SPILL_SECONDS = 2.0

#: Seconds between two attempts to start a thread, if the system allows no more threads.
THREAD_RETRY = 0.05

PLAIN = Delivery()
FAILED = Unserved(500, "internal_error", "The sandbox failed while answering; its log says where.")


class Connection(Protocol):
    """Connection of a client, as the listener sees it."""

    #: asyncio's transport, and the TCP transport below it. Without TLS, they are the same.
    transport: asyncio.Transport
    tcp: asyncio.Transport
    #: Whether the client has ended its side of the connection. It may still read.
    half_closed: bool
    #: Whether the connection ends as soon as the client uses it again, after the response in progress.
    stale: bool

    def write(self, raw: bytes) -> None:
        """Send bytes to the client, unless its last response is sent."""


class Wire:
    """Connection that carries one request: ASGI's receive and send, and the listener's connection."""

    def __init__(self, receive: Receive, send: Send, state: Mapping[str, Any]) -> None:
        self._send = send
        self._receive = receive
        self._connection: Connection = state["connection"]
        self._transport = self._connection.transport
        self._tcp = self._connection.tcp
        self._invites: bool = state["invites"]
        #: Whether a part of the request body may still arrive.
        self.unread = False

    def invite(self) -> None:
        """Send ``100 Continue`` if the client waits for this response before it sends the body."""
        if self._invites:
            self._connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def receive(self) -> Any:
        """Return the next ASGI message: a part of the body, or a disconnect."""
        message = await self._receive()
        self.unread = message.get("more_body", False)
        return message

    async def send_answer(self, answer: WireAnswer, delivery: Delivery) -> None:
        """Send ``answer`` as ``delivery`` describes. Return when the response is sent or cut."""
        self._connection.stale = delivery.stale
        begun = False
        for step in course(answer.body, delivery):
            match step:
                case bytes():
                    if not begun:
                        await self._send_head(answer.status, answer.headers)
                    begun = True
                    for start in range(0, len(step), PIECE):
                        if start:  # Let other clients have a turn, and learn whether this client has left.
                            await asyncio.sleep(0)
                        await self._send_body(step[start : start + PIECE])
                case Pause(seconds):
                    if await self._disconnect(within=seconds):
                        return
                case TcpReset() | CutShort(reset=True):
                    await self._reset()
                    return
                case RawBytes(raw):
                    self._connection.write(raw)
                    await self._close()
                    return
                case Silence(seconds):
                    await self.client_leaves(within=seconds)
                    await self._close()
                    return
                case _:
                    await self._close()
                    return
        if self.unread:
            await self._spill()
        await self._send_body(b"", more=False)

    async def follow(self, answer: WireAnswer, stream: Stream) -> None:
        """Send the head of ``answer``, then ``stream`` until it ends or the client disconnects."""
        news = asyncio.Event()
        stream.when_news(waker(news))
        headers = [header for header in answer.headers if header[0] != b"content-length"]
        await self._send_head(answer.status, headers)
        departure = asyncio.ensure_future(self.client_leaves())
        departure.add_done_callback(lambda _: news.set())
        try:
            while not departure.done():
                news.clear()
                ended, piece = stream.ended, stream.piece()
                if piece:
                    await self._send_body(piece)
                if ended:
                    break
                await asyncio.sleep(stream.pause)
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await news.wait()
                except TimeoutError:
                    await self._send_body(HEARTBEAT_BYTES)
        finally:
            departure.cancel()
        await self._send_body(b"", more=False)

    async def finish(self, last: bytes) -> None:
        """Send ``last`` as the end of a stream. If earlier bytes are unsent, drop the connection."""
        if unsent(self._transport, self._tcp):
            await self.drop()
        else:
            await self._send_body(last, more=False)

    async def drop(self) -> None:
        """Abort the connection and discard unsent data."""
        self._tcp.abort()
        await self._disconnect()

    async def client_leaves(self, within: float | None = None) -> bool:
        """Wait at most ``within`` seconds for the client to end its side. Return whether it did."""
        return self._connection.half_closed or await self._disconnect(within, or_half=True)

    async def _disconnect(self, within: float | None = None, *, or_half: bool = False) -> bool:
        """Wait at most ``within`` seconds for the end of the connection. Return whether it has ended."""
        try:
            async with asyncio.timeout(within):
                while (await self.receive())["type"] != "http.disconnect":
                    if or_half and self._connection.half_closed:
                        break
        except TimeoutError:
            return False
        return True

    async def _send_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _send_body(self, piece: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": piece, "more_body": more})

    async def _spill(self) -> None:
        """Read and discard the rest of the request body, up to a limit of bytes and time.

        A client that is cut off while it sends may never read the response.
        """
        spilled = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(SPILL_SECONDS):
                while self.unread and spilled < SPILL_BYTES:
                    spilled += len((await self.receive()).get("body", b""))

    async def _close(self) -> None:
        # Close, then wait for the disconnect: uvicorn sends a 500 response if an application returns earlier.
        if not self._transport.is_closing():  # Under TLS, closing twice breaks the transport.
            self._transport.close()
        await self._disconnect()

    async def _reset(self) -> None:
        # Wait until all data is sent, because a RST discards the data in our buffers and in the kernel's.
        sock = self._tcp.get_extra_info("socket")
        while not self._tcp.is_closing() and (unsent(self._transport, self._tcp) or unacknowledged(sock)):
            await asyncio.sleep(0.001)
        if not self._tcp.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        await self.drop()


def tcp_beneath(transport: asyncio.Transport) -> asyncio.Transport:
    """Return the TCP transport below ``transport``. Without TLS, return ``transport`` itself.

    asyncio has no public access to the TCP transport under TLS. The ``abort`` of the
    outer transport has no effect after two calls of ``close``.
    """
    protocol = getattr(transport, "_ssl_protocol", None)
    return getattr(protocol, "_transport", None) or transport


def unsent(transport: asyncio.Transport, tcp: asyncio.Transport) -> int:
    """Return the number of written bytes that are not yet in the kernel's send buffer."""
    inner = tcp.get_write_buffer_size()
    if inner or transport is tcp or tcp.is_closing():
        return inner
    return transport.get_write_buffer_size()


def unacknowledged(sock: socket.socket) -> int:
    """Return the number of bytes that the peer has not acknowledged, or 0 outside Linux."""
    if sys.platform != "linux":
        return 0
    queued = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(queued, sys.byteorder)


class Gone(Exception):
    """The request gets no response: the client disconnected, or the server stopped."""


class TooLarge(Exception):
    """The request body is longer than the limit."""


@dataclass(eq=False)
class Bridge:
    """ASGI application that serves the WSGI application ``app``.

    ``max_body`` returns the maximum length of a request body in bytes. The bridge does not
    read a longer body: it calls ``app`` with an empty body and ``Env.TOO_LARGE`` set,
    and closes the connection after the response.
    """

    app: WSGIApplication
    max_body: Callable[[str], int]
    request_log: Callable[[LoggedRequest], None] | None
    when_unread: Callable[[Unread], None]
    secrecy: Secrecy
    instance: str = field(default_factory=instance_mark)
    #: Tasks that a stopping server may cancel, each with the stopwatch time at which it should end.
    held: dict[asyncio.Task[Any], float] = field(default_factory=dict)
    #: The tasks of ``held`` that wait for a long call. ``interrupt`` cancels them.
    long_calls: set[asyncio.Task[Any]] = field(default_factory=set)
    #: Queue of ``in_turn``: functions, each of which starts a pipelined request.
    turns: deque[Callable[[], None]] = field(default_factory=deque)
    _ending: Event = field(default_factory=Event)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Read the request of ``scope``, call the application, and send the response."""
        began = stopwatch()
        wire = Wire(receive, send, scope["state"])
        environ = environment(scope)
        environ[Env.SERVED] = self.instance
        try:
            await self._read(environ, wire)
            answer = await self._answer(environ, wire)
            if Env.TOO_LARGE in environ:
                answer = answer.closing()
            if (stream := environ.get(Env.STREAM)) is not None:
                await self._follow(answer, stream, wire)
            else:
                with suppress(Gone):
                    await self._deliver(answer, environ.get(Env.DELIVERY) or PLAIN, wire)
            self._log(environ, answer, began)
        except Gone:
            if "wsgi.input" in environ:  # The server stopped after it had read the request.
                environ[Env.LOG_WORDS] = lambda: Words("stopped", {"outcome": "stopped"})
                self._log(environ, WireAnswer(0, [], b""), began)
        except Exception as error:
            self.report(error, environ)
            await wire.drop()

    def report(self, error: BaseException, environ: WSGIEnvironment) -> None:
        """Log a failed request with its error and the source line that raised the error."""
        target = masked(environ["RAW_URI"], self.secrecy)
        log_failure(f"{environ['REQUEST_METHOD']} {target}", error)

    def _log(self, environ: WSGIEnvironment, answer: WireAnswer, began: float) -> None:
        # Remove the function: it may refer to ``environ``, and the reference cycle would stay in memory.
        described: Callable[[], Words] = environ.pop(Env.LOG_WORDS, Words)
        if self.request_log is not None:
            words = described()
            status = 0 if words.is_unanswered else answer.status
            method, target = environ["REQUEST_METHOD"], masked(environ["RAW_URI"], self.secrecy)
            duration, size = stopwatch() - began, len(answer.body)
            self.request_log(LoggedRequest(method, target, status, duration, size, words))

    def in_turn(self, start: Callable[[], None]) -> None:
        """Queue ``start``. Each later round of the event loop calls one queued function.

        Pipelined requests then take turns with all other requests.
        """
        self.turns.append(start)
        if len(self.turns) == 1:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self.turns.popleft()()
        if self.turns:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def unread(self, head: bytes, problem: Unserved) -> None:
        """Report a request that did not reach ``app`` because of ``problem``. ``head`` may be incomplete."""
        lost = Unread.of(head, problem)
        try:
            self.when_unread(lost)
            if self.request_log is not None:
                target = masked(lost.target, self.secrecy) or "-"
                size = len(problem.answer().body) if problem.status else 0
                words = Words(f"{problem.error}: {problem.message}", {"outcome": problem.error})
                self.request_log(LoggedRequest(lost.method or "-", target, problem.status, 0.0, size, words))
        except Exception as error:
            self.report(error, {"REQUEST_METHOD": lost.method, "RAW_URI": lost.target})

    async def _read(self, environ: WSGIEnvironment, wire: Wire) -> None:
        """Read the body into ``environ``, or set ``Env.TOO_LARGE``. Raise ``Gone`` after a disconnect."""
        body = BytesIO()
        if "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ:
            wire.unread = True
            try:
                async with self._held(wire):
                    body = await read_body(environ, wire, self.max_body(environ["PATH_INFO"]))
            except TooLarge:
                environ[Env.TOO_LARGE] = True
            environ["CONTENT_LENGTH"] = str(len(body.getbuffer()))
        environ["wsgi.input"] = body

    async def _answer(self, environ: WSGIEnvironment, wire: Wire) -> WireAnswer:
        """Call the application until it no longer asks for another call. Return its response.

        Raise ``Gone`` if the server stops during the wait.
        """
        original = environ.copy()
        answer = self._call(environ)
        while (again := environ.get(Env.AGAIN)) is not None:
            # Do not watch for a disconnect: the request takes effect even if the client disconnects now.
            async with self._held(wire, again.after):
                await until(again)
            environ.clear()
            environ.update(original, **{Env.AGAIN: again})
            if again.when is not None and not wire.unread and await wire.client_leaves(within=0):
                environ[Env.LEFT] = True
            environ["wsgi.input"].seek(0)
            if again.aside:
                async with self._held(wire):
                    answer = await self._long_call(environ)
            else:
                answer = self._call(environ)
        return answer

    async def _long_call(self, environ: WSGIEnvironment) -> WireAnswer:
        """Call the application on a separate thread. Raise ``Gone`` if the server stops meanwhile.

        Each call has its own thread, so that no call queues behind longer ones. The threads are daemons, so
        that a process can end although some work cannot be interrupted.
        """
        answers: list[WireAnswer] = []
        ended = asyncio.Event()
        wake = waker(ended)

        def run() -> None:
            with suppress(Interrupted), interruptible(self._ending):
                answers.append(self._call(environ))
            wake()

        task = asyncio.current_task()
        assert task is not None
        self.long_calls.add(task)
        try:
            while True:
                try:
                    Thread(target=run, name=LONG_CALL, daemon=True).start()
                    break
                except RuntimeError:
                    await asyncio.sleep(THREAD_RETRY)
            await ended.wait()
        finally:
            self.long_calls.discard(task)
        if not answers:
            raise Gone
        return answers[0]

    def interrupt(self) -> None:
        """Stop long calls between two steps. Their clients get no response."""
        self._ending.set()
        for task in list(self.long_calls):
            task.cancel()

    def _call(self, environ: WSGIEnvironment) -> WireAnswer:
        try:
            return call(self.app, environ)
        except Interrupted:
            raise
        except BaseException as error:  # Catch SystemExit too: an application must not end the server.
            self.report(error, environ)
            environ.pop(Env.DELIVERY, None)
            return FAILED.answer()

    async def _deliver(self, answer: WireAnswer, delivery: Delivery, wire: Wire) -> None:
        if delivery is PLAIN and not wire.unread:
            await wire.send_answer(answer, delivery)
            return
        async with self._held(wire, delivery.lasts(answer.body)):
            await wire.send_answer(answer, delivery)

    async def _follow(self, answer: WireAnswer, stream: Stream, wire: Wire) -> None:
        """Send ``stream`` until it ends, the client disconnects or the server stops."""
        try:
            with self._cancellable(math.inf):
                await wire.follow(answer, stream)
        except asyncio.CancelledError:
            await wire.finish(stream.end())
        finally:
            stream.close()

    @asynccontextmanager
    async def _held(self, wire: Wire, seconds: float = 0.0) -> AsyncIterator[None]:
        """Run a block, which should take ``seconds``. A server that stops may cancel the block.

        If the server cancels the block, drop the connection and raise ``Gone``.
        """
        try:
            with self._cancellable(seconds):
                yield
        except asyncio.CancelledError:
            await wire.drop()
            raise Gone from None

    @contextmanager
    def _cancellable(self, seconds: float) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self.held[task] = stopwatch() + seconds
        try:
            yield
        finally:
            del self.held[task]


async def until(again: Again) -> None:
    """Wait until ``again.when`` calls back. If ``again.when`` is None, wait ``again.after`` seconds."""
    if again.when is None:
        await asyncio.sleep(again.after)
        return
    free = asyncio.Event()
    again.when(waker(free))
    await free.wait()


def waker(event: asyncio.Event) -> Callable[[], None]:
    """Return a function that sets ``event``. Any thread may call it, even after the loop has ended."""
    loop = asyncio.get_running_loop()

    def wake() -> None:
        with suppress(RuntimeError):  # If the loop has ended, nothing waits for the event.
            loop.call_soon_threadsafe(event.set)

    return wake


async def read_body(environ: WSGIEnvironment, wire: Wire, limit: int) -> BytesIO:
    """Return the request body as a file.

    Raise ``TooLarge`` if it is longer than ``limit`` bytes, and ``Gone`` if the client disconnects.
    If the announced length is too large, a client that waits for ``100 Continue`` gets the
    refusal instead.
    """
    if int(environ.get("CONTENT_LENGTH", 0)) > limit:
        raise TooLarge
    wire.invite()
    body, more = BytesIO(), True
    while more:
        message = await wire.receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body.write(message["body"])
        if body.tell() > limit:
            raise TooLarge
        more = message["more_body"]
    body.seek(0)
    return body
