"""Adaptation of uvicorn: connections that report errors in JSON, and a server that stops quickly."""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from reseller_sandbox.server.asgi_adapter import Bridge, tcp_beneath, unsent, waker
from reseller_sandbox.server.messages import (
    ASKED_FOR_TUNNEL,
    HEAD_TOO_LONG,
    HTTP2,
    INCOMPLETE,
    MAX_EMPTY,
    MAX_HEAD,
    MAX_TARGET,
    SPOKE_HTTP2,
    SPOKE_TLS,
    TARGET_TOO_LONG,
    TOO_MANY_EMPTY_LINES,
    Unserved,
    is_tls,
    legible,
    malformed,
    without_upgrade,
)
from reseller_sandbox.server.wsgi import origin_form
from reseller_sandbox.values.clock import stopwatch

#: Seconds that a refused client may continue to send before the server drops the connection.
LINGER = 2.0

#: Seconds that a stopping server waits for long calls before it interrupts them.
LONG_GRACE = 1.0

#: Maximum bytes of one read, after which other connections have their turn. Parsing takes 0.25 ms
#: for a plain body, and 15 ms for a chunked body with one byte in each chunk. asyncio's default is 256 KiB.
READ = 16 << 10

log = logging.getLogger("reseller_sandbox")

#: Errors of the operating system if no resources are left for a new connection.
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

#: Seconds between two log entries about exhausted resources. asyncio tries again after one second.
SILENCE = 0.9

#: Number of connections that asyncio accepts in a row. asyncio reports each failure and continues.
ACCEPTED_IN_A_ROW = 64


#: Bytes searched at once for the end of a head. Most heads are shorter.
HEAD_PIECE = 4096

_HEAD_END = re.compile(rb"\n\r?\n")


class Protocol(HttpToolsProtocol):
    """HTTP connection of one client: uvicorn's parser with our limits and error responses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Use a separate logger, because uvicorn's loggers are global and another program may use them.
        self.logger = logging.Logger("uvicorn", logging.CRITICAL + 1)
        self.access_log = False
        # Disable uvicorn's own limit: its 503 is plain text, and ours must be JSON.
        self.limit_connections, self.limit_concurrency = self.limit_concurrency, None
        self.tcp: asyncio.Transport
        self.bridge = cast(Bridge, self.config.app)
        self.problem: Unserved | None = None
        self.reported = self.in_body = self.is_refused = False
        # ``head`` is the head of the request that is being read. ``is_last`` is set when the client's last
        # request is read: the server closes the connection after its response.
        self.head = bytearray()
        self.is_last = False
        # Whether the connection ends as soon as the client uses it again, after the response in progress.
        self.stale = False
        # Whether the client has ended its side of the connection. It may still read.
        self.half_closed = False
        # ``empty`` counts the bytes of empty lines before a head. ``left`` is the number of missing bytes of
        # a body whose length is known. ``idle`` counts the bytes of chunk sizes and trailers since the last
        # content of a chunked body.
        self.empty = self.left = self.idle = 0
        # Whether the client sent the current request without waiting for the response to an earlier one.
        self.is_pipelined = False
        # The request that is being answered. Pipelined requests wait for it.
        self.running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a new client. If there are too many connections, its first request gets 503."""
        super().connection_made(transport)
        self.tcp = tcp_beneath(transport)
        if hasattr(self.tcp, "max_size"):
            self.tcp.max_size = READ
        limit = self.limit_connections
        connections: set[Any] = self.connections
        is_full = limit is not None and len(connections) > limit
        self.is_refused = is_full and sum(not other.half_closed for other in connections) > cast(int, limit)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection open for the responses to the requests that are read.

        A client that has left also ends its side, and is noticed when the server writes to it. asyncio has no
        half-closed connections under TLS.
        """
        is_incomplete = self.problem is None and (self.in_body or bool(self.head))
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_incomplete or is_answered or self.transport is not self.tcp:
            return False
        self.half_closed = True
        if self.problem is None:
            self.cycle.keep_alive = False
        if self.running is not None:
            self.running.message_event.set()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end of the connection, and report an incomplete request."""
        super().connection_lost(exc)
        # uvicorn ends only the request that it read last. A pipelined request may be an earlier one.
        if self.running is not None and not self.running.response_complete:
            self.running.disconnected = True
            self.running.message_event.set()
        is_incomplete = not self.cycle.response_started if self.in_body else bool(self.head)
        if self.problem is None and is_incomplete:
            self.problem = INCOMPLETE
        self._report()

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes. Ignore all bytes after an unreadable request, and after the last request.

        The parser gets only complete heads, and no bytes beyond the end of a body.
        """
        self._unset_keepalive_if_required()
        if self.stale:
            self.is_last = True
            if self.cycle.response_complete:
                self.transport.close()
        at = 0
        while at < len(data) and self.problem is None and not self.is_last:  # Each pass reads a byte or more.
            at += self._body_received(data, at) if self.in_body else self._head_received(data, at)

    def _head_received(self, data: bytes, at: int) -> int:
        """Read a part of a request's head, or an empty line before it. Return its number of bytes."""
        if not self.head and data[at] in b"\r\n":
            self.empty += 1
            self._limit(self.empty, MAX_EMPTY, TOO_MANY_EMPTY_LINES)
            return 1
        before = len(self.head)
        piece = data[at : at + HEAD_PIECE]
        end = _HEAD_END.search(self.head[-2:] + piece)
        if end is not None:
            piece = piece[: end.end() - min(before, 2)]
        self.head += piece
        line, _, headers = bytes(self.head).partition(b"\n")
        if is_tls(line):
            self._refuse(SPOKE_TLS)
        elif line.startswith(HTTP2):
            self._refuse(SPOKE_HTTP2)
        elif len(line) > MAX_TARGET and len(max(line.split(b" "), key=len)) > MAX_TARGET:
            self._refuse(TARGET_TOO_LONG)
        elif max(len(line), len(headers)) > MAX_HEAD:
            self._refuse(HEAD_TOO_LONG)
        elif end is not None and self.is_refused:
            message = f"The server has reached its limit of {self.limit_connections} connections."
            self._refuse(Unserved(503, "too_many_connections", message))
        elif end is not None and line.startswith(b"CONNECT "):
            self._refuse(ASKED_FOR_TUNNEL)
        elif end is not None:
            # A GET has no body, so more data after its head is another request.
            self.is_pipelined = at + len(piece) < len(data) and line.startswith(b"GET ")
            super().data_received(legible(line) + b"\n" + without_upgrade(headers))
            self.is_pipelined = False
            if self.head and not self.in_body and self.problem is None:
                self._refuse(malformed("its head ends before its last header"))
        return len(piece)

    def _body_received(self, data: bytes, at: int) -> int:
        """Read a part of a request's body. Return its number of bytes."""
        end = min(at + self.left, len(data)) if self.left else data.find(b"\n", at) + 1 or len(data)
        self.idle += end - at
        super().data_received(data[at:end])
        # The parser buffers an incomplete trailer without a limit.
        self._limit(self.idle, MAX_HEAD, HEAD_TOO_LONG)
        return end - at

    def _limit(self, size: int, most: int, problem: Unserved) -> None:
        if size > most and self.problem is None:
            self._refuse(problem)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Ignore the trailers of a chunked body."""
        if not self.in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        super().on_body(body)
        self.idle = 0
        self.left = max(self.left - len(body), 0)

    def on_message_complete(self) -> None:
        """Reset the head and the counters, because the next request may begin."""
        super().on_message_complete()
        self.in_body = False
        self.is_last = not self.cycle.keep_alive
        self.head.clear()
        self.empty = self.idle = 0

    def on_headers_complete(self) -> None:
        """Start a request. Put its target and this connection into the scope's state."""
        self.left = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        line = bytes(self.head).partition(b"\n")[0]
        target = self.url if line.isascii() else line.split()[1]
        self.scope["state"].update(target=target, connection=self)
        self.url = origin_form(self.url)
        # ``Wire.invite`` sends 100 Continue. uvicorn would also send it if the application only waits for a
        # disconnect.
        self.scope["state"]["invites"], self.expect_100_continue = self.expect_100_continue, False
        super().on_headers_complete()
        self.in_body = True

    def on_response_complete(self) -> None:
        """Start the next pipelined request, or answer a request that could not be read."""
        if self.stale and (self.is_last or self.pipeline):
            self.transport.close()
            return
        self.is_pipelined = True
        super().on_response_complete()
        self.is_pipelined = False
        self._answer_problem()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running = cycle
        if not self.is_pipelined:
            super()._start_asgi_task(cycle, app)
            return

        def start() -> None:
            if not self.transport.is_closing():
                HttpToolsProtocol._start_asgi_task(self, cycle, app)

        self.bridge.in_turn(start)

    def shutdown(self) -> None:
        """Close the connection, immediately or after the current response."""
        if not self.transport.is_closing():  # Under TLS, closing twice breaks the transport.
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that the parser cannot read."""
        if self.problem is None:
            error = sys.exception()
            reason = str(error.__cause__ or error.__context__ or error) if error else msg
            self._refuse(malformed(reason))

    def _refuse(self, problem: Unserved) -> None:
        """Stop reading, and answer with ``problem`` after the responses to earlier requests."""
        self.problem = problem
        self._answer_problem()

    def _answer_problem(self) -> None:
        """Answer a request that could not be read, if earlier requests have their responses."""
        if self.problem is None or self.pipeline or self._is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or (cycle.more_body and not cycle.response_started):
            self._write_problem(self.problem)
        elif cycle.more_body:  # A part of the response is already sent, so no error can follow.
            self.transport.close()

    def _is_closing(self) -> bool:
        # Under TLS, the two transports close at different times.
        return self.transport.is_closing() or self.tcp.is_closing()

    def _report(self) -> None:
        """Report the unreadable request to the bridge, once."""
        if self.problem is not None and not self.reported:
            self.reported = True
            self.bridge.unread(bytes(self.head), self.problem)

    def write(self, raw: bytes) -> None:
        """Send bytes to the client, unless its last response is sent."""
        if not (self._is_closing() or self.reported):  # After the end, a write raises an error.
            self.transport.write(raw)

    def _write_problem(self, problem: Unserved) -> None:
        self._report()
        self.transport.write(problem.raw())
        if not self.transport.can_write_eof():  # TLS does not support EOF.
            self.transport.close()
            return
        # Closing while the client sends would reset the connection, and the client would lose the response.
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.abort)


@contextmanager
def woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake ``loop`` at each signal.

    Otherwise, Python handles a signal that arrives just before the loop waits only after that wait, which can
    take as long as an idle connection.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield  # Signals are handled in the main thread. On Windows, asyncio wakes its loop.
        return
    receiver, sender = socket.socketpair()
    with receiver, sender:
        receiver.setblocking(False)
        sender.setblocking(False)
        loop.add_reader(receiver, receiver.recv, 4096)
        before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(receiver)


class Listener(uvicorn.Server):
    """uvicorn server for ``bridge``. Any thread or signal handler can stop the server.

    ``grace`` is the time in seconds that requests in flight then have to finish. ``keep_alive`` is the
    time after which an idle connection is closed. ``backlog`` is the number of connections that may wait to
    be accepted.
    """

    def __init__(
        self, bridge: Bridge, *, grace: float, limit_connections: int | None, keep_alive: float, backlog: int
    ) -> None:
        config = uvicorn.Config(
            bridge,
            http=Protocol,
            ws="none",
            loop="asyncio",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            date_header=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limit_connections,
            timeout_keep_alive=cast(int, keep_alive),
        )
        super().__init__(config)
        self.bridge = bridge
        self.grace = grace
        self.backlog = backlog
        self.patient = True
        self._woken = asyncio.Event()
        self._wake: Callable[[], None] | None = None
        self._last_logged = -SILENCE

    def stop(self, *, patient: bool) -> None:
        """Ask the server to stop. A second call makes it stop without waiting for requests.

        If ``patient``, the server waits for delayed and dripping responses that end within the grace time.
        """
        self.force_exit = self.should_exit
        self.should_exit, self.patient = True, patient
        if self._wake is not None:
            self._wake()

    async def listen(
        self, sockets: Mapping[socket.socket, ssl.SSLContext | None], ready: Callable[[], None]
    ) -> None:
        """Serve on ``sockets`` until ``stop`` is called. Call ``ready`` when the server accepts connections.

        Sockets with a context use TLS.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._log_loop_error)
        self._wake = waker(self._woken)
        self.config.load()
        self.servers = [
            await loop.create_server(self._connection, sock=sock, ssl=context, backlog=ACCEPTED_IN_A_ROW)
            for sock, context in sockets.items()
        ]
        for sock in sockets:
            sock.listen(self.backlog)
        with woken_by_signals(loop):
            ready()
            if not self.should_exit:
                await self._woken.wait()
            await self.shutdown(list(sockets))

    def _connection(self) -> Protocol:
        return Protocol(config=self.config, server_state=self.server_state, app_state={})

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, let requests in flight finish, and drop the rest.

        It replaces uvicorn's method, which checks for the end only ten times a second.
        """
        await self._stop_accepting()
        for sock in sockets or ():
            sock.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        latest = stopwatch() + self.grace
        asyncio.get_running_loop().call_later(LONG_GRACE if self.patient else 0, self.bridge.interrupt)
        await self._until(lambda: self._finished(latest), self.grace)
        for task in list(self.server_state.tasks):
            task.cancel()
        connections: set[Any] = self.server_state.connections
        for connection in list(connections):
            connection.tcp.abort()
        await self._until(lambda: not connections, self.grace)

    async def _stop_accepting(self) -> None:
        # When the server closes, asyncio loses connections that it has accepted but not set up. So stop
        # accepting first, and wait until those are set up.
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows, where asyncio loses no connections
            for sock in (sock for server in self.servers for sock in server.sockets):
                loop.remove_reader(sock)
        for _ in range(3):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()

    def _log_loop_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an error of the event loop that belongs to no request, on one line."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED:
            if stopwatch() - self._last_logged >= SILENCE:
                self._last_logged = stopwatch()
                served = len(self.server_state.connections)
                log.error("%s: new clients wait, %s connections are open", error.strerror, served)
        elif not self.should_exit:
            trace = error if log.isEnabledFor(logging.DEBUG) else None
            log.error("%s: %r", context["message"], error, exc_info=trace)

    def _finished(self, latest: float) -> bool:
        """Whether all requests have ended. Cancel the tasks that are expected to end after ``latest``."""
        if self.force_exit:
            return True
        for task, end in list(self.bridge.held.items()):
            if not self.patient or end > latest:
                task.cancel()
        connections: set[Any] = self.server_state.connections
        return not (self.server_state.tasks or self.bridge.turns) and not any(
            unsent(connection.transport, connection.tcp) for connection in connections
        )

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not done():
                    await asyncio.sleep(0.001)
