"""One connection as uvicorn speaks HTTP on it, with JSON for what it would answer by itself."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from reseller_sandbox.server.bridge import origin_form
from reseller_sandbox.server.problem import Problem
from reseller_sandbox.server.wire import Receive, Send, tcp_beneath

#: The longest request target and the longest head of a request, in bytes.
MAX_TARGET = 16 << 10
MAX_HEAD = 64 << 10

#: For how many seconds a client that was refused may go on sending before the connection is dropped.
LINGER = 2.0

TARGET_TOO_LONG = Problem(414, "uri_too_long", f"The request target is longer than {MAX_TARGET} bytes.")
HEAD_TOO_LONG = Problem(
    431, "headers_too_large", f"The request's headers or trailers are longer than {MAX_HEAD} bytes together."
)


class Refused(Exception):
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
        self.problem: Problem | None = None
        self.in_head = self.in_body = False
        # Bytes that came and completed nothing; those of complete trailers; pieces of the body so far.
        self.trickled = self.trailing = self.body_pieces = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self.tcp = tcp_beneath(transport)
        if self.limit_connections is not None and len(self.connections) > self.limit_connections:
            self.app = self._overloaded

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the client was refused already."""
        if self.problem is not None:
            return
        before, in_head, in_body, pieces = self.cycle, self.in_head, self.in_body, self.body_pieces
        idle = before is None or not before.more_body
        super().data_received(data)
        # The parser keeps a header or a trailer to itself until it is complete, which may be never.
        if self.in_head and (in_head or (idle and self.cycle is before)):
            self.trickled += len(data)
        elif in_body and self.in_body:
            self.trickled = self.trickled + len(data) if pieces == self.body_pieces else 0
        if self.trickled > MAX_HEAD and self.problem is None:
            self.problem = HEAD_TOO_LONG
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """The first byte of a request is there."""
        super().on_message_begin()
        self.in_head = True
        self.trickled = self.trailing = 0

    def on_url(self, url: bytes) -> None:
        """A piece of the request target is there."""
        super().on_url(url)
        if len(self.url) > MAX_TARGET:
            self._refuse(TARGET_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is there; those that trail a chunked body are read over, and limited as the head is."""
        if self.in_head:
            super().on_header(name, value)
            return
        self.trailing += len(name) + len(value)
        if self.trailing > MAX_HEAD:
            self._refuse(HEAD_TOO_LONG)

    def on_body(self, body: bytes) -> None:
        """A piece of the body is there."""
        super().on_body(body)
        self.body_pieces += 1

    def on_message_complete(self) -> None:
        """The whole request is there."""
        super().on_message_complete()
        self.in_body = False

    def on_headers_complete(self) -> None:
        """The head of a request is there: hand it on, with the way to the socket in the scope's state."""
        self.in_head, self.in_body = False, True
        if sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD:
            self._refuse(HEAD_TOO_LONG)
        self.scope["state"].update(target=self.url, transport=self.transport, tcp=self.tcp)
        self.url = origin_form(self.url)
        super().on_headers_complete()
        if self.parser.should_upgrade():
            # It is answered as if it had not asked, but the parser will read no further request.
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """An answer is out; the next may be one to what could not be read."""
        super().on_response_complete()
        self._answer_problem()

    def shutdown(self) -> None:
        """The server is to stop: close, or do so after the answer that is under way."""
        if not self.transport.is_closing():  # Under TLS, closing twice breaks the transport.
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, as soon as the requests before it are answered."""
        if self.problem is None:
            error = sys.exception()
            reason = str(error.__cause__ or error.__context__ or error) if error else msg
            self.problem = Problem(400, "malformed_request", f"This is not an HTTP request: {reason}.")
        self._answer_problem()

    def _refuse(self, problem: Problem) -> NoReturn:
        self.problem = problem
        raise Refused(problem.error)

    def _answer_problem(self) -> None:
        """Answer what could not be read, if there was such a thing and its turn has come."""
        if self.problem is None or self.pipeline or self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or (cycle.more_body and not cycle.response_started):
            self._write_problem(self.problem)
        elif cycle.more_body:  # Half of its answer is out.
            self.transport.close()

    def _write_problem(self, problem: Problem) -> None:
        self.transport.write(problem.raw())
        if not self.transport.can_write_eof():  # TLS has no such thing.
            self.transport.close()
            return
        # Closing while the client is sending would reset the connection, and the answer be lost.
        self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.abort)

    async def _overloaded(self, _scope: Any, _receive: Receive, send: Send) -> None:
        limit = self.limit_connections
        message = f"There are more than {limit} connections, which is what this server was told to take."
        answer = Problem(503, "too_many_connections", message).answer().closing()
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body})
