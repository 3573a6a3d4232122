"""Content-Encoding of request bodies and of responses."""

from __future__ import annotations

import zlib

from werkzeug.http import parse_accept_header

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.web.headers import header_value

#: The WSGI key of the request header Content-Encoding.
ENCODING = "HTTP_CONTENT_ENCODING"

_GZIP, _PLAIN = ("gzip", "x-gzip"), ("", "identity")

#: The format of zlib for gzip, and the longest name of an encoding in a message.
_WITH_GZIP_HEADER = 31
_LONGEST = 60


def decoded(body: bytes, encoding: str, limit: int) -> bytes:
    """Return the decoded ``body``, or more than ``limit`` bytes of it if it is longer.

    Raise ``unsupported_encoding``.
    """
    name = encoding.strip().lower()
    if name in _PLAIN:
        return body
    if name not in _GZIP:
        raise _unsupported(f"{header_value(encoding)[:_LONGEST]!r} is not supported")
    reader = zlib.decompressobj(_WITH_GZIP_HEADER)
    try:
        content = reader.decompress(body, limit + 1)
    except zlib.error:
        raise _unsupported("the body is not gzip") from None
    if len(content) <= limit and (not reader.eof or reader.unused_data):
        raise _unsupported("the gzip of the body is incomplete, or more data follows")
    return content


def _unsupported(problem: str) -> Refused:
    return Refused(r.UNSUPPORTED_ENCODING, problem=problem)


def accepts_gzip(accepted: str) -> bool:
    """Whether a client with this header Accept-Encoding reads gzip, and prefers nothing else to it."""
    return parse_accept_header(accepted).best_match(("gzip", "identity")) == "gzip"
