"""Flask's test client for a sandbox, with the responses and errors of a real connection.

Python's ``http.client`` reads responses that are late, cut or not HTTP, and all responses of a server.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http.client import HTTPException, HTTPResponse
from string import punctuation
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.datastructures import EnvironHeaders, Headers

from reseller_sandbox.clients.caller import AnySandbox, Caller, server_of
from reseller_sandbox.clients.fake_connection import FakeConnection, ResponseFile, transmission
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.web.interfaces import UnsignedRequest

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from reseller_sandbox.control.records import AccountRecord

Parts = tuple[Iterable[bytes], str, Headers]


class SignedClient(FlaskClient):
    """Flask test client that signs each request as one account, for every API interface."""

    def __init__(self, sandbox: AnySandbox, account: str, timeout: float | None, real_time: bool) -> None:
        __tracebackhide__ = True
        self.account: AccountRecord = sandbox.accounts[account]
        server = server_of(sandbox)
        if server is None:
            self._send: Callable[..., Parts] = partial(_send_here, Caller(sandbox), real_time)
            app, self._assumed = sandbox.app, sandbox.world.assumptions
        else:
            self._send = partial(_send_to_server, server)
            app = Flask("reseller_sandbox", static_folder=None)
            values = {entry.name: entry.value for entry in sandbox.assumptions.list().assumptions}
            self._assumed = Assumptions().with_values(values)
        super().__init__(app, app.response_class, use_cookies=False)
        self.timeout = timeout
        self._prefix = sandbox.header_prefix
        self._interfaces = sandbox.interfaces

    def open(self, *args: object, **kwargs: Any) -> Any:
        """Sign and send a request. The parameters are those of Flask's test client."""
        __tracebackhide__ = True
        try:
            return super().open(*args, **kwargs)
        except (OSError, HTTPException) as broken:  # Hide internal frames from the traceback.
            raise broken.with_traceback(None) from None

    def run_wsgi_app(self, environ: WSGIEnvironment, buffered: bool = False) -> Parts:  # noqa: ARG002
        """Return the response to a request. If none arrives, raise the error of ``http.client``."""
        body = environ["wsgi.input"].read()
        target = environ["REQUEST_URI"].encode("latin-1").decode()  # WSGI stores each byte as a character.
        base = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}"
        unsigned = UnsignedRequest(self.account, self._assumed, self._prefix, base, target, body)
        for interface in self._interfaces:
            for name, value in interface.sign(unsigned).headers.items():
                environ.setdefault(environ_key(name), value)
        environ["wsgi.input"] = io.BytesIO(body)  # Rewind the body, because a redirect sends it again.
        return self._send(environ, body, self.timeout)


def _send_here(
    caller: Caller, real_time: bool, environ: WSGIEnvironment, body: bytes, timeout: float | None
) -> Parts:
    """Return the response of a sandbox in this process."""
    reply = caller.take(lambda: {**environ, "wsgi.input": io.BytesIO(body)})
    answer = reply.answer
    if reply.stream is not None:  # The test client cannot wait for a stream.
        piece = reply.stream.piece()
        reply.stream.close()
    elif not reply.is_plain:
        about = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
        line = FakeConnection(transmission(reply), real_time=real_time, about=about)
        file = io.BufferedReader(ResponseFile(partial(line.read, timeout=timeout), line.leave))
        socket: Any = SimpleNamespace(makefile=lambda _mode: file)
        response = HTTPResponse(socket, method=environ["REQUEST_METHOD"])
        response.begin()
        return _parts(response)
    else:
        piece = answer.body
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
    return [piece], f"{answer.status} {answer.phrase.decode()}", Headers(headers)


def _send_to_server(
    transport: HttpTransport, environ: WSGIEnvironment, body: bytes, timeout: float | None
) -> Parts:
    """Return the response of a sandbox's server. The default timeout is that of ``transport``."""
    target = quote(environ["REQUEST_URI"].encode("latin-1"), safe=punctuation)
    headers = Headers(EnvironHeaders(environ))
    if body and "Transfer-Encoding" not in headers:
        headers["Content-Length"] = str(len(body))
    connection = transport.connection()
    connection.timeout = connection.timeout if timeout is None else timeout
    try:
        method, path = environ["REQUEST_METHOD"], transport.prefix + target
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body, encode_chunked="Transfer-Encoding" in headers)
        return _parts(connection.getresponse())
    finally:
        connection.close()


def _parts(response: HTTPResponse) -> Parts:
    """Return a response in the form that Flask's test client expects.

    An error within the body is raised when the client reads the body.
    """
    try:
        body: Iterable[bytes] = [response.read()]
    except Exception as broken:
        body = _broken(broken)
    return body, f"{response.status} {response.reason}", Headers(response.getheaders())


def _broken(problem: Exception) -> Iterator[bytes]:
    raise problem
    yield b""
