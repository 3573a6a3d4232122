"""In-process socket of a client: it parses the bytes of requests and returns the bytes of responses."""

from __future__ import annotations

from functools import partial

import httptools

from reseller_sandbox.clients.caller import Caller, Reply, described
from reseller_sandbox.clients.fake_connection import Line, endless_silence, transmission
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
    """Socket of a client to a sandbox in this process. It sends each request as soon as it is complete.

    The journal records incomplete requests and bytes that are not HTTP, in the same way as with a server.
    """

    def __init__(self, caller: Caller, port: int, scheme: str = "http", *, real_time: bool) -> None:
        self._caller = caller
        self._port = port
        #: ``https`` after the client's TLS handshake, which is only imitated: nothing is encrypted.
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
        """Take a piece of a request, and send the request if it is complete."""
        if self._is_refused:
            return
        self._sent += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # The sandbox supports no other protocol.
            return
        except httptools.HttpParserError as error:
            reason = str(error.__cause__ or error.__context__ or error)
            self._refuse(Unread.of(bytes(self._sent), malformed(reason)), "A request that is not HTTP")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._connection = self._silent()
        self._target = b""
        self._body = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Ignore the trailers of a chunked body."""
        if self._in_head:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Begin the body."""
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """Send the complete request to the sandbox."""
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
            self._receive(self._caller.take(partial(described, *parts)), about)

    def read(self, size: int, timeout: float | None) -> bytes:
        """Return the next bytes of the response. See ``Line.read``."""
        return self._connection.read(size, timeout)

    async def aread(self, size: int, timeout: float | None) -> bytes:
        """Return the next bytes of the response, and wait asynchronously."""
        return await self._connection.aread(size, timeout)

    def close(self) -> None:
        """Close the socket, and record an incomplete request."""
        if self._sent and not self._is_refused:
            self._is_refused = True
            self._caller.refuse(Unread.of(bytes(self._sent), INCOMPLETE))
        self._connection.leave()

    def _refuse(self, lost: Unread, about: str) -> None:
        self._is_refused = True
        self._receive(self._caller.refuse(lost), about)

    def _receive(self, reply: Reply, about: str) -> None:
        self._connection = Line(transmission(reply), real_time=self._real_time, about=about)

    def _silent(self) -> Line:
        """Return a connection without bytes, because the sandbox waits for the rest of the request."""
        return Line(endless_silence(), real_time=self._real_time, about="An incomplete request")
