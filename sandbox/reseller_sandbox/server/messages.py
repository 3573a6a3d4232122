"""HTTP messages as bytes: responses, errors of the server itself, and request heads for the parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus

from msgspec import Struct
from msgspec.structs import replace

_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}


class WireAnswer(Struct, frozen=True):
    """HTTP response: status, headers and complete body."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def phrase(self) -> bytes:
        """Reason phrase of the status, such as ``Not Found``."""
        return _PHRASES.get(self.status, b"")

    @property
    def head(self) -> bytes:
        """Status line and headers as bytes."""
        lines = [b"HTTP/1.1 %d %s" % (self.status, self.phrase)]
        lines += [b"%s: %s" % header for header in self.headers]
        return b"\r\n".join([*lines, b"", b""])

    def closing(self) -> WireAnswer:
        """Return the same response with ``Connection: close``."""
        others = [header for header in self.headers if header[0].lower() != b"connection"]
        return replace(self, headers=[*others, (b"connection", b"close")])


#: The longest request target and the longest head of a request, in bytes.
MAX_TARGET = 16 << 10
MAX_HEAD = 64 << 10


class Unserved(Struct, frozen=True):
    """Error that the server answers without the application, as JSON with ``error`` and ``message``."""

    status: int
    error: str
    message: str

    def answer(self) -> WireAnswer:
        """Return the response with this error."""
        body = json.dumps({"error": self.error, "message": self.message}).encode()
        length = str(len(body)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        return WireAnswer(self.status, headers, body)

    def raw(self) -> bytes:
        """Return the bytes of the response, with ``Connection: close``."""
        answer = self.answer().closing()
        return answer.head + answer.body


TARGET_TOO_LONG = Unserved(414, "uri_too_long", f"The request target is longer than {MAX_TARGET} bytes.")
HEAD_TOO_LONG = Unserved(
    431, "headers_too_large", f"The request's headers or trailers are longer than {MAX_HEAD} bytes together."
)
INCOMPLETE = Unserved(0, "incomplete_request", "The connection ended before the request did.")
SPOKE_TLS = Unserved(
    400,
    "malformed_request",
    "This is TLS, and the server speaks plain HTTP: use http:// in place of https://.",
)

SPOKE_PLAIN = Unserved(
    400,
    "malformed_request",
    "This is plain HTTP, and the server speaks TLS here: use https:// in place of http://.",
)

SPOKE_HTTP2 = Unserved(
    400,
    "malformed_request",
    "This is HTTP/2 without negotiation (prior knowledge), and the server speaks HTTP/1.1: use HTTP/1.1.",
)

ASKED_FOR_TUNNEL = Unserved(
    400,
    "malformed_request",
    "CONNECT asks a proxy for a tunnel, and the server is not a proxy for HTTPS: use the server's address as "
    "the URL of the API.",
)


#: Maximum bytes of empty lines before a request line.
MAX_EMPTY = 1 << 10


def malformed(reason: str) -> Unserved:
    """Return the error for bytes that are not HTTP."""
    return Unserved(400, "malformed_request", f"This is not an HTTP request: {reason}.")


TOO_MANY_EMPTY_LINES = malformed(f"more than {MAX_EMPTY} bytes of empty lines come before the request line")

_RAW = re.compile(rb"[\x80-\xff]")
#: The name of the Upgrade header, for ``without_upgrade``.
_UPGRADE = re.compile(rb"^upgrade(?=:)", re.IGNORECASE | re.MULTILINE)
_REQUEST_LINE = re.compile(r"(?P<method>[A-Za-z-]{1,20})(?: +(?P<target>.*?))?? *(?:HTTP/[0-9.]*)?$")
#: The first bytes that a TLS client and an HTTP/2 client send.
_TLS = b"\x16\x03"
HTTP2 = b"PRI * HTTP/2"


class Unread(Struct, frozen=True):
    """Request that did not reach the application because of ``problem``.

    ``method``, ``target`` and ``headers`` are empty if they are missing or unreadable. A line that is not a
    header is stored as a name without a value.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    problem: Unserved

    @classmethod
    def of(cls, head: bytes, problem: Unserved) -> Unread:
        """Return the request that begins with ``head``, which may be incomplete."""
        first, *lines = head.decode("latin-1").splitlines() or [""]
        match = _REQUEST_LINE.match(first)
        if match is None:
            return cls("", "", (), problem)
        return cls(match["method"], match["target"] or "", tuple(_headers(lines)), problem)


def _headers(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, mark, value = line.partition(":")
        if line.strip():
            yield (name.strip(), value.strip()) if mark else (line.split()[0], "")


def legible(line: bytes) -> bytes:
    """Return a request line with its non-ASCII bytes percent-encoded, because the parser refuses them."""
    return line if line.isascii() else _RAW.sub(lambda raw: b"%%%02X" % raw[0][0], line)


def without_upgrade(headers: bytes) -> bytes:
    """Return request headers with ``Upgrade`` renamed, so that the parser ignores it.

    After an ``Upgrade`` header, the parser does not read a body.
    """
    return _UPGRADE.sub(b"upgrade_", headers)


def is_tls(head: bytes | bytearray) -> bool:
    """Whether the received bytes are the beginning of a TLS connection."""
    return head[: len(_TLS)] == _TLS[: max(len(head), 1)]
