"""Flask's test client without its short cut: an answer befalls it as it befalls a client over a socket.

What it makes of an answer that is late, cut or no HTTP is what Python's own ``http.client`` makes of it. Of a
sandbox that a server holds it is a client over a socket.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import partial
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Any

from flask import Flask
from flask.testing import EnvironBuilder, FlaskClient
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder as AnyBuilder
from werkzeug.wrappers import Request as BaseRequest

from reseller_sandbox.powers.here import Here
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.testing.caller import Caller
from reseller_sandbox.testing.line import Line, LineFile, transmission
from reseller_sandbox.v3.signing import signed_headers

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from reseller_sandbox import Sandbox
    from reseller_sandbox.powers.registry_records import AccountRecord
    from reseller_sandbox.testing.over import Over

Parts = tuple[Iterable[bytes], str, Headers]


class SignedClient(FlaskClient):
    """A Flask test client that signs v3 requests and puts the token on v2.0 ones."""

    def __init__(self, sandbox: Sandbox, account: str, timeout: float | None, real_time: bool) -> None:
        __tracebackhide__ = True
        self._way: _Within | Over
        self.account: AccountRecord = sandbox.account(account)
        if isinstance(sandbox.door, Here):
            self._way, app = _Within(sandbox, real_time), sandbox.app
            self._token_header = sandbox.world.assumptions.token_headers[0]
        else:
            from reseller_sandbox.testing.over import Over

            self._way, app = Over(sandbox), Flask("reseller_sandbox", static_folder=None)
            assumed = {one.name: one.value for one in sandbox.assumptions.list().assumptions}
            self._token_header = assumed["v2.token_headers"][0]
        super().__init__(app, app.response_class, use_cookies=False)
        self.timeout = timeout
        self._prefix = sandbox.header_prefix

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request, signed; takes what Flask's own test client takes."""
        __tracebackhide__ = True
        options = {name: kwargs.pop(name) for name in ("buffered", "follow_redirects") if name in kwargs}
        given = args[0] if args else None
        if isinstance(given, AnyBuilder):
            builder = given
        elif isinstance(given, dict | BaseRequest):
            made = given if isinstance(given, dict) else given.environ
            builder = EnvironBuilder.from_environ(made, app=self.application)
        else:
            builder = EnvironBuilder(self.application, *args, **kwargs)
        try:
            environ = builder.get_environ()
            body = environ["wsgi.input"].read()
        finally:
            if builder is not given:
                builder.close()
        target = environ["REQUEST_URI"].encode("latin-1").decode()  # WSGI has each byte as a character
        url = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}{target}"
        headers = signed_headers(self.account.key, self.account.secret, self._prefix, url, body)
        for name, value in {**headers, self._token_header: self.account.token}.items():
            environ.setdefault(environ_key(name), value)
        environ["wsgi.input"] = io.BytesIO(body)
        try:
            return super().open(builder.request_class(environ), **options)
        except (OSError, HTTPException) as broken:  # how the answer was read is of no interest
            raise broken.with_traceback(None) from None

    def run_wsgi_app(self, environ: WSGIEnvironment, buffered: bool = False) -> Parts:  # noqa: ARG002
        """Return what has come of a request; raise what ``http.client`` raises where no answer arrives."""
        return self._way.answered(environ, environ["wsgi.input"].read(), self.timeout)


class _Within:
    """The way to a sandbox in this process."""

    def __init__(self, sandbox: Sandbox, real_time: bool) -> None:
        self._caller = Caller(sandbox)
        self._real_time = real_time

    def answered(self, environ: WSGIEnvironment, body: bytes, timeout: float | None) -> Parts:
        """Return what comes of a request."""
        reply = self._caller.take(lambda: {**environ, "wsgi.input": io.BytesIO(body)})
        answer = reply.answer
        if reply.stream is not None:  # nobody waits for more: what there is, and no end
            piece = reply.stream.piece()
            reply.stream.close()
        elif not reply.is_plain:
            about = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
            line = Line(transmission(reply), real_time=self._real_time, about=about)
            socket: Any = _Socket(line, timeout)
            response = HTTPResponse(socket, method=environ["REQUEST_METHOD"])
            response.begin()
            return parts(response, _whole(response))
        else:
            piece = answer.body
        told = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
        return [piece], f"{answer.status} {answer.phrase.decode()}", Headers(told)


class _Socket:
    """What ``http.client`` takes for a socket."""

    def __init__(self, line: Line, timeout: float | None) -> None:
        self._incoming = LineFile(partial(line.read, timeout=timeout), line.leave)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return the answer, to be read."""
        return io.BufferedReader(self._incoming)


def _whole(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the body at one go: so it is noticed where a part of it is missing."""
    yield response.read()


def parts(response: HTTPResponse, body: Iterable[bytes]) -> Parts:
    """Return an answer as Flask's test client takes it."""
    return body, f"{response.status} {response.reason}", Headers(response.getheaders())
