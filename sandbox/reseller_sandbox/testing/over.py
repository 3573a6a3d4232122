"""The way of Flask's test client over a socket, to the sandbox that a server holds."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from string import punctuation
from typing import TYPE_CHECKING
from urllib.parse import quote

from werkzeug.datastructures import EnvironHeaders, Headers

from reseller_sandbox.remote import There
from reseller_sandbox.testing.elsewhere import elsewhere
from reseller_sandbox.testing.with_flask import Parts, parts

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from reseller_sandbox import Sandbox


class Over:
    """The way over a socket to the sandbox that a server holds; without a timeout, with the sandbox's own."""

    def __init__(self, sandbox: Sandbox) -> None:
        assert isinstance(sandbox.door, There)
        self._door, self._there = sandbox.door, elsewhere(sandbox)

    def answered(self, environ: WSGIEnvironment, body: bytes, timeout: float | None) -> Parts:
        """Return what comes of a request; what breaks its body off is raised where that is read."""
        assert self._there is not None
        target = quote(environ["REQUEST_URI"].encode("latin-1"), safe=punctuation).encode()
        headers = Headers(EnvironHeaders(environ))
        if body and "Transfer-Encoding" not in headers:
            headers["Content-Length"] = str(len(body))
        connection = self._door.connection()
        connection.timeout = connection.timeout if timeout is None else timeout
        try:
            there = self._there.target(target).decode()
            connection.putrequest(environ["REQUEST_METHOD"], there, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders(body, encode_chunked="Transfer-Encoding" in headers)
            response = connection.getresponse()
            try:
                return parts(response, [response.read()])
            except (OSError, HTTPException) as broken:
                return parts(response, _broken(broken))
        finally:
            connection.close()


def _broken(problem: Exception) -> Iterator[bytes]:
    """Raise, as soon as the body is read, what has become of that."""
    raise problem
    yield b""
