"""What the server itself has to say to a client, where no request reaches the application."""

from __future__ import annotations

import json

from msgspec import Struct

from reseller_sandbox.server.answer import WireAnswer

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
