"""uvicorn as it is used here: connections that answer in JSON, and a server that stops quickly."""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.server.asgi_adapter import Bridge, Receive, Send, tcp_beneath, unsent, waker
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
    is_tls,
    legible,
    malformed,
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


#: How much of what came is looked through for the end of a head at once: more than most heads have.
HEAD_PIECE = 4096

_HEAD_END = re.compile(rb"\n\r?\n")


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
        self.reported = self.in_body = False
        # The head of the request that is being read.
        self.head = bytearray()
        # Bytes of empty lines before the head; bytes of the body to come, where its length is known; bytes of
        # a body in chunks that came after the last byte of the body itself.
        self.empty = self.left = self.idle = 0
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
        is_incomplete = not self.cycle.response_started if self.in_body else bool(self.head)
        if self.problem is None and is_incomplete:
            self.problem = INCOMPLETE
        self._report()

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the client was refused already.

        The parser gets a head when it is whole, and of a body no more than may belong to it.
        """
        self._unset_keepalive_if_required()
        at = 0
        while at < len(data) and self.problem is None:
            at = self._body_received(data, at) if self.in_body else self._head_received(data, at)

    def _head_received(self, data: bytes, at: int) -> int:
        """Take a piece of a head, or an empty line before it; return where the rest of ``data`` begins."""
        if not self.head and data[at] in b"\r\n":
            self.empty += 1
            self._limit(self.empty, MAX_EMPTY, TOO_MANY_EMPTY_LINES)
            return at + 1
        before = len(self.head)
        self.head += data[at : at + HEAD_PIECE]
        end = _HEAD_END.search(self.head, max(before - 2, 0))
        if end is not None:
            del self.head[end.end() :]
        at += len(self.head) - before
        line, _, headers = bytes(self.head).partition(b"\n")
        if is_tls(line):
            self._refuse(SPOKE_TLS)
        elif len(line) > MAX_TARGET and len(max(line.split(b" "), key=len)) > MAX_TARGET:
            self._refuse(TARGET_TOO_LONG)
        elif max(len(line), len(headers)) > MAX_HEAD:
            self._refuse(HEAD_TOO_LONG)
        elif end is not None:
            # After a head that announces no body, others follow.
            self.is_pipelined = at < len(data) and line.startswith(b"GET ")
            super().data_received(legible(line) + b"\n" + without_upgrade(headers))
            self.is_pipelined = False
        return at

    def _body_received(self, data: bytes, at: int) -> int:
        """Take a piece of a body; return where the rest of ``data`` begins."""
        end = min(at + self.left, len(data)) if self.left else data.find(b"\n", at) + 1 or len(data)
        self.idle += end - at
        super().data_received(data[at:end])
        # The parser keeps a trailer to itself until it is complete, which may be never.
        self._limit(self.idle, MAX_HEAD, HEAD_TOO_LONG)
        return end

    def _limit(self, size: int, most: int, problem: Unserved) -> None:
        if size > most and self.problem is None:
            self._refuse(problem)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that trail a body in chunks are read over."""
        if not self.in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        super().on_body(body)
        self.idle = 0
        self.left = max(self.left - len(body), 0)

    def on_message_complete(self) -> None:
        """Note that the whole request is there."""
        super().on_message_complete()
        self.in_body = False
        self.head.clear()
        self.empty = self.idle = 0

    def on_headers_complete(self) -> None:
        """Hand on the head of a request, with the way to the socket in the scope's state."""
        self.left = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        head = bytes(self.head)
        line = head.partition(b"\n")[0]
        target = self.url if line.isascii() else line.split()[1]
        self.scope["state"].update(head=head, target=target, transport=self.transport, tcp=self.tcp)
        self.url = origin_form(self.url)
        # uvicorn would send 100 Continue before a delayed refusal, because the wire waits for a disconnect.
        self.scope["state"]["invites"], self.expect_100_continue = self.expect_100_continue, False
        super().on_headers_complete()
        self.in_body = True

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
        """Refuse what the parser cannot read."""
        if self.problem is None:
            error = sys.exception()
            reason = str(error.__cause__ or error.__context__ or error) if error else msg
            self._refuse(malformed(reason))

    def _refuse(self, problem: Unserved) -> None:
        """Answer with ``problem``, as soon as the requests before it are answered, and read no more."""
        self.problem = problem
        self._answer_problem()

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
        self._woken = asyncio.Event()
        self._wake: Callable[[], None] | None = None
        self._complained = -SILENCE

    def stop(self, *, patient: bool) -> None:
        """Ask it to stop. If ``patient``, it waits for delayed and dripping answers, if the grace suffices.

        Asked a second time it waits for nothing.
        """
        self.force_exit = self.should_exit
        self.should_exit, self.patient = True, patient
        if self._wake is not None:
            self._wake()

    async def listen(
        self, sockets: Mapping[socket.socket, ssl.SSLContext | None], ready: Callable[[], None]
    ) -> None:
        """Serve on ``sockets``, calling ``ready`` once it does, until asked to stop.

        Those with a context speak TLS.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._complain)
        self._wake = waker(self._woken)
        self.config.load()
        self.servers = [
            await loop.create_server(self._connection, sock=sock, ssl=context, backlog=ACCEPTED_IN_A_ROW)
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
