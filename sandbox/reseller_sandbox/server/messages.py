"""Messages as bytes: answers, refusals of the server itself, and heads that the parser would refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus

from msgspec import Struct
from msgspec.structs import replace

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


#: The longest request target and the longest head of a request, in bytes.
MAX_TARGET = 16 << 10
MAX_HEAD = 64 << 10


class Unserved(Struct, frozen=True):
    """A reason not to serve, answered with a JSON body; ``error`` names it, ``message`` explains it."""

    status: int
    error: str
    message: str

    def answer(self) -> WireAnswer:
        """Return the answer that says so."""
        body = json.dumps({"error": self.error, "message": self.message}).encode()
        length = str(len(body)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        return WireAnswer(self.status, headers, body)

    def raw(self) -> bytes:
        """Return that answer as HTTP, with the word that the connection will be closed."""
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


#: How many bytes of empty lines may come before a request line.
MAX_EMPTY = 1 << 10


def malformed(reason: str) -> Unserved:
    """Return the problem of bytes that are something other than HTTP."""
    return Unserved(400, "malformed_request", f"This is not an HTTP request: {reason}.")


TOO_MANY_EMPTY_LINES = malformed(f"more than {MAX_EMPTY} bytes of empty lines come before the request line")

_RAW = re.compile(rb"[\x80-\xff]")
#: The name of a header that is read over in its changed form.
_UPGRADE = re.compile(rb"^upgrade(?=:)", re.IGNORECASE | re.MULTILINE)
_REQUEST_LINE = re.compile(r"(?P<method>[A-Za-z-]{1,20})(?: +(?P<target>.*?))?? *(?:HTTP/[0-9.]*)?$")
#: What a TLS client says first.
_TLS = b"\x16\x03"


class Unread(Struct, frozen=True):
    """A request that did not reach the application, and the ``problem`` that kept it from that.

    ``method``, ``target`` and ``headers`` are what can be told of it: empty where nothing came, or nothing
    that looks like one. A line that is no header is a name without a value.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    problem: Unserved

    @classmethod
    def of(cls, head: bytes, problem: Unserved) -> Unread:
        """Take apart a ``head`` that may break off anywhere."""
        first, *lines = head.decode("latin-1").splitlines() or [""]
        found = _REQUEST_LINE.match(first)
        if found is None:
            return cls("", "", (), problem)
        return cls(found["method"], found["target"] or "", tuple(_headers(lines)), problem)


def _headers(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, mark, value = line.partition(":")
        if line.strip():
            yield (name.strip(), value.strip()) if mark else (line.split()[0], "")


def legible(line: bytes) -> bytes:
    """Return a request line with the bytes percent-encoded that clients send and the parser refuses."""
    return line if line.isascii() else _RAW.sub(lambda raw: b"%%%02X" % raw[0][0], line)


def without_upgrade(headers: bytes) -> bytes:
    """Return the headers of a request without the wish to go on in another protocol.

    The parser would take no body after it.
    """
    return _UPGRADE.sub(b"upgrade_", headers)


def is_tls(head: bytes | bytearray) -> bool:
    """Whether somebody speaks TLS here, as far as the bytes that have come tell."""
    return head[: len(_TLS)] == _TLS[: max(len(head), 1)]
