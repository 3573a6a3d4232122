"""uvicorn as it is used here: connections that answer in JSON, and a server that stops quickly."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.server.bridge import Bridge, Receive, Send, tcp_beneath, unsent
from reseller_sandbox.server.messages import (
    HEAD_TOO_LONG,
    INCOMPLETE,
    MAX_EMPTY,
    MAX_HEAD,
    MAX_TARGET,
    SPOKE_TLS,
    TARGET_TOO_LONG,
    TOO_MANY_EMPTY_LINES,
    Unserved,
    escaped,
    is_tls,
    legible,
    malformed,
    plain_end,
    raw_target,
    without_upgrade,
)
from reseller_sandbox.server.wsgi import origin_form

#: For how many seconds a client that was refused may go on sending before the connection is dropped.
LINGER = 2.0

#: How many bytes are read from a connection before others have their turn: a quarter of a millisecond's work
#: where they are one body, 15 ms where they are chunks of one byte. asyncio reads 256 KiB.
READ = 16 << 10

log = logging.getLogger("reseller_sandbox")

#: What the machine says when it has nothing left to make a connection of.
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

#: For how many seconds it is not said again. asyncio tries again after one.
SILENCE = 0.9

#: How many connections asyncio accepts in a row. It does not stop at one that fails: each tells of it.
ACCEPTED_IN_A_ROW = 64

#: How long an unused connection is kept, in seconds: a client's pool should be the first to give it up.
KEEP_ALIVE = 75


class ParsingEnded(Exception):
    """Raised in a callback of the parser to end the parsing."""


class Protocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # uvicorn's loggers are the whole process's, which may be somebody else's; so they are not touched.
        self.logger = logging.Logger("uvicorn", logging.CRITICAL + 1)
        self.access_log = False
        # Its own answer to too many connections is not JSON, so it is not to give any.
        self.limit_connections, self.limit_concurrency = self.limit_concurrency, None
        self.tcp: asyncio.Transport
        self.bridge = cast(Bridge, self.config.app)
        self.problem: Unserved | None = None
        self.reported = False
        self.in_head = self.in_body = self.upgraded = False
        # The head of the request that is being read, and where in it the first line is over.
        self.head, self.headers_at = bytearray(), 0
        # The beginning of a header's line that the parser has not been given yet.
        self.kept = b""
        # Bytes of the body to come where its length is known; of those that came and completed nothing; of
        # complete trailers; pieces of the body so far.
        self.left = self.trickled = self.trailing = self.body_pieces = 0
        # Bytes of empty lines that came before the request line.
        self.empty = 0
        # Whether the request that starts is one of several that were sent without waiting for answers.
        self.is_pipelined = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new client in, or prepare to tell it that there are too many."""
        super().connection_made(transport)
        self.tcp = tcp_beneath(transport)
        if hasattr(self.tcp, "max_size"):
            self.tcp.max_size = READ
        if self.limit_connections is not None and len(self.connections) > self.limit_connections:
            self.app = self._overloaded

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection has ended, perhaps before its request did."""
        super().connection_lost(exc)
        if self.problem is None and (self.in_head or (self.in_body and not self.cycle.response_started)):
            self.problem = INCOMPLETE
        self._report()

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the client was refused already.

        The parser gets it in pieces that end where the next request may begin: only in a request's first
        line are there bytes to be escaped for it. A head that it takes as it is comes in one piece.
        """
        at = 0
        while at < len(data) and self.problem is None and not self.upgraded:
            if not self.in_body and not self.head and (end := plain_end(data, at)):
                # More than a head that announces no body: others follow it.
                self.is_pipelined = end < len(data) and data.startswith(b"GET ", at)
                self._whole_head_received(data[at:end])
                self.is_pipelined = False
            else:
                end = min(at + self.left, len(data)) if self.left else data.find(b"\n", at) + 1 or len(data)
                (self._body_received if self.in_body else self._head_received)(data[at:end])
            at = end

    def _whole_head_received(self, head: bytes) -> None:
        self.head += head
        self.headers_at = head.find(b"\n") + 1
        super().data_received(head)

    def _head_received(self, piece: bytes) -> None:
        first = not self.headers_at
        begins = self.head.endswith(b"\n") or self.kept
        self.head += piece
        if first:
            piece = escaped(piece)
        elif begins:
            piece, self.kept = without_upgrade(self.kept + piece)
        super().data_received(piece)
        if first and not self.in_head:  # an empty line before it
            self.empty += len(self.head)
            self.head.clear()
            self._limit(self.empty, MAX_EMPTY, TOO_MANY_EMPTY_LINES)
        elif first and piece.endswith(b"\n"):
            self.headers_at = len(self.head)
        self._limit(len(self.head) - self.headers_at)

    def _body_received(self, piece: bytes) -> None:
        pieces = self.body_pieces
        super().data_received(piece)
        # The parser keeps a trailer to itself until it is complete, which may be never.
        whole = self.body_pieces > pieces or piece.endswith(b"\n")
        self.trickled = 0 if whole else self.trickled + len(piece)
        self._limit(self.trickled)

    def _limit(self, size: int, most: int = MAX_HEAD, problem: Unserved = HEAD_TOO_LONG) -> None:
        if size > most and self.problem is None:
            self.problem = problem
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self.in_head = True
        self.left = self.trickled = self.trailing = self.empty = 0

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request target."""
        super().on_url(url)
        if len(self.url) > MAX_TARGET:
            self._refuse(TARGET_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that trail a chunked body are read over, and limited as the head is."""
        if self.in_head:
            super().on_header(name, value)
            return
        self.trailing += len(name) + len(value)
        if self.trailing > MAX_HEAD:
            self._refuse(HEAD_TOO_LONG)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        super().on_body(body)
        self.body_pieces += 1
        self.left = max(self.left - len(body), 0)

    def on_message_complete(self) -> None:
        """Note that the whole request is there."""
        super().on_message_complete()
        self.in_body = False
        self.head.clear()
        self.headers_at = 0
        # After CONNECT the parser will read no further request.
        self.upgraded = self.parser.should_upgrade()

    def on_headers_complete(self) -> None:
        """Hand on the head of a request, with the way to the socket in the scope's state."""
        self.in_head, self.in_body = False, True
        self.left = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        head = bytes(self.head)
        target = raw_target(head[: self.headers_at], self.url)
        self.scope["state"].update(head=head, target=target, transport=self.transport, tcp=self.tcp)
        self.url = origin_form(self.url)
        # uvicorn would send 100 Continue before a delayed refusal, because the wire waits for a disconnect.
        self.scope["state"]["invites"], self.expect_100_continue = self.expect_100_continue, False
        super().on_headers_complete()
        if self.parser.should_upgrade():
            # It is answered as if it had not asked.
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Go on to the next request; it may be one that could not be read."""
        self.is_pipelined = True
        super().on_response_complete()
        self.is_pipelined = False
        self._answer_problem()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if not self.is_pipelined:
            super()._start_asgi_task(cycle, app)
            return

        def start() -> None:
            if not self.transport.is_closing():
                HttpToolsProtocol._start_asgi_task(self, cycle, app)

        self.bridge.in_turn(start)

    def shutdown(self) -> None:
        """Close the connection, at once or after the answer that is under way."""
        if not self.transport.is_closing():  # Under TLS, closing twice breaks the transport.
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, as soon as the requests before it are answered."""
        if self.problem is None:
            error = sys.exception()
            reason = str(error.__cause__ or error.__context__ or error) if error else msg
            del self.head[len(legible(bytes(self.head))[0]) :]
            self.problem = SPOKE_TLS if is_tls(self.head) else malformed(reason)
        self._answer_problem()

    def _refuse(self, problem: Unserved) -> NoReturn:
        self.problem = problem
        raise ParsingEnded(problem.error)

    def _answer_problem(self) -> None:
        """Answer what could not be read, if there was such a thing and its turn has come."""
        if self.problem is None or self.pipeline or self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or (cycle.more_body and not cycle.response_started):
            self._write_problem(self.problem)
        elif cycle.more_body:  # Half of its answer is out.
            self.transport.close()

    def _report(self) -> None:
        """Say once, to whoever keeps account of requests, that one could not be read."""
        if self.problem is not None and not self.reported:
            self.reported = True
            self.bridge.unread(bytes(self.head), self.problem)

    def _write_problem(self, problem: Unserved) -> None:
        self._report()
        self.transport.write(problem.raw())
        if not self.transport.can_write_eof():  # TLS has no such thing.
            self.transport.close()
            return
        # Closing while the client is sending would reset the connection, and the answer be lost.
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.abort)

    async def _overloaded(self, scope: Any, _receive: Receive, send: Send) -> None:
        limit = self.limit_connections
        message = f"There are more than {limit} connections, which is what this server was told to take."
        problem = Unserved(503, "too_many_connections", message)
        self.bridge.unread(scope["state"]["head"], problem)
        answer = problem.answer().closing()
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body})


class Listener(uvicorn.Server):
    """Serves ``bridge`` until it is asked to stop, from whichever thread or signal handler.

    ``grace`` is how many seconds it then lets the requests in flight take, ``backlog`` how many
    connections may wait to be accepted.
    """

    def __init__(self, bridge: Bridge, *, grace: float, limit_connections: int | None, backlog: int) -> None:
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
            timeout_keep_alive=KEEP_ALIVE,
        )
        super().__init__(config)
        self.bridge = bridge
        self.grace = grace
        self.backlog = backlog
        self.patient = True
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._complained = -SILENCE

    def stop(self, *, patient: bool) -> None:
        """Ask it to stop. If ``patient``, it waits for delayed and dripping answers, if the grace suffices.

        Asked a second time it waits for nothing.
        """
        self.force_exit = self.should_exit
        self.should_exit, self.patient = True, patient
        if self._loop is not None:
            with suppress(RuntimeError):  # It has stopped, and its loop is closed.
                self._loop.call_soon_threadsafe(self._woken.set)

    async def listen(
        self, sockets: Mapping[socket.socket, ssl.SSLContext | None], ready: Callable[[], None]
    ) -> None:
        """Serve on ``sockets``, calling ``ready`` once it does, until asked to stop.

        Those with a context speak TLS.
        """
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._complain)
        self.config.load()
        self.servers = [
            await self._loop.create_server(
                self._connection, sock=sock, ssl=context, backlog=ACCEPTED_IN_A_ROW
            )
            for sock, context in sockets.items()
        ]
        for sock in sockets:
            sock.listen(self.backlog)
        ready()
        if not self.should_exit:
            await self._woken.wait()
        await self.shutdown(list(sockets))

    def _connection(self) -> Protocol:
        return Protocol(config=self.config, server_state=self.server_state, app_state={})

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, let what is in flight finish, and drop the rest.

        uvicorn's own looks only ten times a second whether it is done.
        """
        await self._stop_accepting()
        for sock in sockets or ():
            sock.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        latest = stopwatch() + self.grace
        await self._until(lambda: self._finished(latest), self.grace)
        for task in list(self.server_state.tasks):
            task.cancel()
        connections: set[Any] = self.server_state.connections
        for connection in list(connections):
            connection.tcp.abort()
        await self._until(lambda: not connections, self.grace)

    async def _stop_accepting(self) -> None:
        # asyncio would lose track of a connection that it has accepted but not set up when the server
        # closes; so let it accept no more, and get done with those.
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows has another way to accept, and not this gap.
            for sock in (sock for server in self.servers for sock in server.sockets):
                loop.remove_reader(sock)
        for _ in range(3):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()

    def _complain(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say in the log, on one line, what went wrong outside any request."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in EXHAUSTED:
            if stopwatch() - self._complained >= SILENCE:
                self._complained = stopwatch()
                served = len(self.server_state.connections)
                log.error("%s: with %s connections served, others have to wait", error.strerror, served)
        elif not self.should_exit:
            trace = error if log.isEnabledFor(logging.DEBUG) else None
            log.error("%s: %r", context["message"], error, exc_info=trace)

    def _finished(self, latest: float) -> bool:
        """Whether nothing is left that is worth waiting for, which only what ends by ``latest`` is."""
        if self.force_exit:
            return True
        for task, over in list(self.bridge.held.items()):
            if not self.patient or over > latest:
                task.cancel()
        connections: set[Any] = self.server_state.connections
        return not (self.server_state.tasks or self.bridge.turns) and not any(
            unsent(one.transport, one.tcp) for one in connections
        )

    async def _until(self, done: Callable[[], bool], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not done():
                    await asyncio.sleep(0.001)
