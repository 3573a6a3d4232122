"""A socket of a client within this process: the bytes of requests in, the bytes of answers out."""

from __future__ import annotations

from functools import partial

import httptools

from reseller_sandbox.clients.caller import Caller, Reply, described
from reseller_sandbox.clients.fake_connection import Line, silence, transmission
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
    """A client's socket to a sandbox: it makes a request as soon as all of it is written.

    A client that closes it while a request is incomplete, or writes something other than HTTP, is recorded as
    a server records it.
    """

    def __init__(self, caller: Caller, port: int, scheme: str = "http", *, real_time: bool) -> None:
        self._caller = caller
        self._port = port
        #: ``https`` once a client believes that it has shaken hands; nothing is encrypted.
        self.scheme = scheme
        self._real_time = real_time
        self._parser = httptools.HttpRequestParser(self)
        self._sent = bytearray()
        self._is_refused = False
        self._line = self._silent()

    @property
    def has_ended(self) -> bool:
        """Whether no other request can be made on it."""
        return self._line.has_ended

    def sendall(self, data: bytes) -> None:
        """Take a piece of a request; make the request if it is complete."""
        if self._is_refused:
            return
        self._sent += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # there is no other protocol here
            return
        except httptools.HttpParserError as error:
            reason = str(error.__cause__ or error.__context__ or error)
            self._refuse(Unread.of(bytes(self._sent), malformed(reason)), "A request that is not HTTP")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._line = self._silent()
        self._target = b""
        self._body = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that trail a chunked body are ignored."""
        if self._in_head:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Begin the body."""
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """Make the request."""
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
            asked = method, self.scheme, self._port, self._target, self._headers, body
            self._hear(self._caller.take(partial(described, *asked)), about)

    def read(self, size: int, timeout: float | None) -> bytes:
        """Return the next bytes of the answer, as ``Line.read`` does."""
        return self._line.read(size, timeout)

    async def aread(self, size: int, timeout: float | None) -> bytes:
        """Do the same, and let others have their turn meanwhile."""
        return await self._line.aread(size, timeout)

    def close(self) -> None:
        """Leave, perhaps in the middle of a request."""
        if self._sent and not self._is_refused:
            self._is_refused = True
            self._caller.refuse(Unread.of(bytes(self._sent), INCOMPLETE))
        self._line.leave()

    def _refuse(self, lost: Unread, about: str) -> None:
        self._is_refused = True
        self._hear(self._caller.refuse(lost), about)

    def _hear(self, reply: Reply, about: str) -> None:
        self._line = Line(transmission(reply), real_time=self._real_time, about=about)

    def _silent(self) -> Line:
        """Return the line while a request is incomplete: the sandbox waits, too."""
        return Line(silence(), real_time=self._real_time, about="A request that is not whole")
