"""In-process replacement for a client's socket: takes bytes of requests, returns bytes of responses."""

from __future__ import annotations

from functools import partial

import httptools

from reseller_sandbox.clients.caller import FIRST, Caller, Reply, described
from reseller_sandbox.clients.fake_connection import FakeConnection, endless_silence, transmission
from reseller_sandbox.server.delivery import Again
from reseller_sandbox.server.messages import (
    HEAD_TOO_LONG,
    INCOMPLETE,
    MAX_HEAD,
    MAX_TARGET,
    TARGET_TOO_LONG,
    Unread,
    malformed,
)
from reseller_sandbox.server.wsgi import origin_form


class Socket:
    """Replacement for a socket to a sandbox in this process. It sends each complete request.

    The journal records incomplete requests and bytes that are not HTTP, in the same way as with a server.
    ``first`` is the first attempt to handle a request, ``FIRST_ON_LOOP`` for an asynchronous client.
    """

    def __init__(
        self, caller: Caller, port: int, scheme: str = "http", *, real_time: bool, first: Again = FIRST
    ) -> None:
        self._caller = caller
        self._first = first
        self._port = port
        #: ``https`` if the client started TLS. The handshake is only imitated, and nothing is encrypted.
        self.scheme = scheme
        self._real_time = real_time
        self._parser = httptools.HttpRequestParser(self)
        self._sent = bytearray()
        self._is_refused = False
        self._connection = self._silent()

    @property
    def has_ended(self) -> bool:
        """Whether the connection has ended, so that no other request is possible."""
        return self._connection.has_ended

    def sendall(self, data: bytes) -> None:
        """Parse a piece of a request. If the request is now complete, send it to the sandbox."""
        if self._connection.is_stale:
            self._is_refused = True
            self._connection.leave()
        if self._is_refused:
            return
        self._sent += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # The sandbox supports no other protocol.
            return
        except httptools.HttpParserCallbackError as error:  # The sandbox raised it, not the parser.
            raise error.__context__ or error from None
        except httptools.HttpParserError as error:
            reason = str(error.__cause__ or error.__context__ or error)
            self._refuse(Unread.of(bytes(self._sent), malformed(reason)), "A request that is not HTTP")

    def on_message_begin(self) -> None:
        """Reset the state for the next request (callback of the parser)."""
        self._connection = self._silent()
        self._target = b""
        self._body = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        """Append a piece of the request target (callback of the parser)."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header of the request (callback of the parser). Ignore the trailers of a chunked body."""
        if self._in_head:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Mark the end of the headers (callback of the parser)."""
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Append a piece of the body (callback of the parser)."""
        self._body += body

    def on_message_complete(self) -> None:
        """Send the complete request to the sandbox (callback of the parser)."""
        sent, self._sent = bytes(self._sent), bytearray()
        method = self._parser.get_method().decode()
        about = f"{method} {origin_form(self._target).partition(b'?')[0].decode('latin-1')}"
        size = sum(len(name) + len(value) + len(b": \r\n") for name, value in self._headers)
        if len(self._target) > MAX_TARGET:
            self._refuse(Unread.of(sent, TARGET_TOO_LONG), about)
        elif size > MAX_HEAD:
            self._refuse(Unread.of(sent, HEAD_TOO_LONG), about)
        else:
            body = bytes(self._body)
            parts = method, self.scheme, self._port, self._target, self._headers, body
            self._receive(self._caller.take(partial(described, *parts), self._first), about)

    def read(self, size: int, timeout: float | None) -> bytes:
        """Return the next bytes of the response, as ``FakeConnection.read`` does."""
        return self._connection.read(size, timeout)

    async def aread(self, size: int, timeout: float | None) -> bytes:
        """Return the next bytes of the response, and wait asynchronously."""
        return await self._connection.aread(size, timeout)

    def close(self) -> None:
        """Close the socket. If a request is incomplete, add it to the journal."""
        if self._sent and not self._is_refused:
            self._is_refused = True
            self._caller.refuse(Unread.of(bytes(self._sent), INCOMPLETE))
        self._connection.leave()

    def _refuse(self, lost: Unread, about: str) -> None:
        self._is_refused = True
        self._receive(self._caller.refuse(lost), about)

    def _receive(self, reply: Reply, about: str) -> None:
        self._connection = FakeConnection(transmission(reply), real_time=self._real_time, about=about)

    def _silent(self) -> FakeConnection:
        """Return a connection that sends nothing while the sandbox waits for the rest of a request."""
        return FakeConnection(endless_silence(), real_time=self._real_time, about="An incomplete request")
