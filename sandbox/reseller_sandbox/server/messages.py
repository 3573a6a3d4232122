"""Messages as bytes: answers, refusals of the server itself, and heads that the parser would refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from io import BytesIO

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


def plain_end(data: bytes, start: int) -> int:
    """Return where the head at ``start`` is over, if it is there and the parser takes it as it is; else 0.

    Its end is not looked for where an empty line begins, nor further on than a head may reach: of many such
    lines in one piece, each would be looked through to its end.
    """
    at = -1 if data[start] in b"\r\n" else data.find(b"\n\r\n", start, start + MAX_HEAD)
    head = data[start : at + 3]
    if at < 0 or not head.isascii():
        return 0
    in_need = b"\n\n" in head or head.find(b"\n") > MAX_TARGET or b"\n" + _UPGRADE in head.lower()
    return 0 if in_need else at + 3


def legible(head: bytes) -> tuple[bytes, str]:
    """Return the lines of ``head`` up to one at which the parser fails, and what it says of that."""
    import httptools  # for those who get such a head

    parser, read = httptools.HttpRequestParser(None), b""
    for line in BytesIO(head):
        given = without_upgrade(line)[0] if read else escaped(line)
        read += line
        try:
            parser.feed_data(given)
        except httptools.HttpParserError as error:
            return read, str(error.__cause__ or error.__context__ or error)
        except httptools.HttpParserUpgrade:  # after CONNECT
            break
    return read, ""


def escaped(line: bytes) -> bytes:
    """Return a request line with the bytes percent-encoded that clients send and the parser refuses."""
    return line if line.isascii() else _RAW.sub(lambda raw: b"%%%02X" % raw[0][0], line)


#: The header by which a client asks to go on in another protocol, and what the parser is told in its place:
#: it would take no body after it, and no further request.
_UPGRADE, _PASSED_OVER = b"upgrade:", b"upgrade_"


def without_upgrade(line: bytes) -> tuple[bytes, bytes]:
    """Return a header's ``line`` without the wish to upgrade, and what of it to keep until there is more."""
    name = line[: len(_UPGRADE)].lower()
    if name == _UPGRADE:
        return _PASSED_OVER + line[len(_UPGRADE) - 1 :], b""
    return (b"", line) if _UPGRADE.startswith(name) else (line, b"")


def raw_target(line: bytes, target: bytes) -> bytes:
    """Return the target as it was sent in a request ``line``; ``target`` is what the parser made of it."""
    return target if line.isascii() else line.split()[1]


def is_tls(head: bytes | bytearray) -> bool:
    """Whether somebody speaks TLS here, as far as the bytes that have come tell."""
    return head[: len(_TLS)] == _TLS[: max(len(head), 1)]
