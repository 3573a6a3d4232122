"""An answer as it is to be sent, and what stands in for news where a stream has none."""

from __future__ import annotations

from http import HTTPStatus

from msgspec import Struct
from msgspec.structs import replace

#: After how many seconds without news a follower is told that the server is still there.
HEARTBEAT = 15.0
HEARTBEAT_BYTES = b": here\n\n"

_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}


class WireAnswer(Struct, frozen=True):
    """A whole answer."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def phrase(self) -> bytes:
        """The words that go with its status."""
        return _PHRASES.get(self.status, b"")

    @property
    def head(self) -> bytes:
        """Its status line and headers as they are sent."""
        lines = [b"HTTP/1.1 %d %s" % (self.status, self.phrase)]
        lines += [b"%s: %s" % header for header in self.headers]
        return b"\r\n".join([*lines, b"", b""])

    def closing(self) -> WireAnswer:
        """Return the same answer, after which the connection ends."""
        others = [header for header in self.headers if header[0].lower() != b"connection"]
        return replace(self, headers=[*others, (b"connection", b"close")])
