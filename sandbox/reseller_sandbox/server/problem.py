"""What the server itself has to say to a client, where no request reaches the application."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from reseller_sandbox.server.wire import Answer


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason not to serve, answered with a JSON body; ``error`` names it, ``message`` explains it."""

    status: int
    error: str
    message: str

    def answer(self) -> Answer:
        """The answer that says so."""
        body = json.dumps({"error": self.error, "message": self.message}).encode()
        length = str(len(body)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        return Answer(self.status, headers, body)

    def raw(self) -> bytes:
        """That answer as HTTP, with the word that the connection will be closed."""
        answer = self.answer().closing()
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        lines += [b"%s: %s" % header for header in answer.headers]
        return b"\r\n".join([*lines, b"", answer.body])
