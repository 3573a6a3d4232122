"""Requests to a sandbox in this process, without a socket: what its clients of every library stand on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reseller_sandbox.server.answer import WireAnswer
from reseller_sandbox.server.delivery import (
    ENV_AGAIN,
    ENV_DELIVERY,
    ENV_SAID,
    ENV_SERVED,
    ENV_STREAM,
    Again,
    Delivery,
    Stream,
)
from reseller_sandbox.server.heads import Unread, legible
from reseller_sandbox.server.problem import HEAD_TOO_LONG, MAX_HEAD, MAX_TARGET, TARGET_TOO_LONG, malformed
from reseller_sandbox.server.wsgi import call, environment, origin_form
from reseller_sandbox.web.app import UNREAD
from reseller_sandbox.web.pipeline import ENV_WORLD

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from reseller_sandbox import Sandbox

Headers = Sequence[tuple[bytes, bytes]]

#: The port of a URL that has none.
PORTS = {"http": 80, "https": 443}

#: The methods that every server knows.
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})

#: What some clients send in headers and no server takes.
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")

#: A thread calls that has the time to wait for its turn.
FIRST = Again(aside=True)


@dataclass(slots=True)
class WholeRequest:
    """A whole request: ``target`` and the headers that are ``sent`` are as they would be written.

    ``headers`` are the same with names in lower case, ``named`` the last of each name.
    """

    method: str
    scheme: str
    port: int
    target: bytes
    sent: Headers
    body: bytes = b""
    headers: Headers = field(init=False)
    named: Mapping[bytes, bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.headers = [(name.lower(), value) for name, value in self.sent]
        self.named = dict(self.headers)

    @property
    def declared(self) -> int | None:
        """The length that its headers give its body, in bytes; None where it is sent in chunks."""
        return None if b"transfer-encoding" in self.named else int(self.named.get(b"content-length", b"0"))

    @property
    def head(self) -> bytes:
        """Its request line and headers as they are sent."""
        lines = [b"%s %s HTTP/1.1" % (self.method.encode(), self.target)]
        return b"\r\n".join([*lines, *(b"%s: %s" % header for header in self.sent), b"", b""])

    def __str__(self) -> str:
        """Return the method and the path."""
        return f"{self.method} {origin_form(self.target).partition(b'?')[0].decode('latin-1')}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes of a request: an answer, and what is to become of that on its way.

    With ``again`` there is no answer yet: that is to be called for it, ``after`` so many seconds. A
    ``stream`` follows the head of the answer. ``last`` is whether the connection ends after it.
    """

    answer: WireAnswer
    last: bool
    delivery: Delivery | None = None
    stream: Stream | None = None
    again: Callable[[], Reply] | None = None
    after: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether the answer arrives at once, and whole, and the connection goes on."""
        return not self.last and self.delivery is None and self.again is None and self.stream is None


class Caller:
    """Makes requests to ``sandbox``; those to a fork reach its world, whatever account's they are.

    There the credentials that the world has inherited count as well as its own.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._app = sandbox.app
        self._world = "" if sandbox.world is sandbox.engine.default else sandbox.world.name

    def call(self, request: WholeRequest) -> Reply:
        """Return the reply to a request."""
        if (lost := _unreadable(request)) is not None:
            return self.refuse(lost)
        return self.take(partial(_environment, request))

    def take(self, described: Callable[[], WSGIEnvironment], again: Again = FIRST) -> Reply:
        """Return the reply to a request that each call of ``described`` describes anew, as WSGI has it."""
        environ = described()
        environ[ENV_SERVED], environ[ENV_AGAIN] = True, again
        if self._world:
            environ[ENV_WORLD] = self._world
        made = call(self._app, environ)
        environ.pop(ENV_SAID, None)  # or else each keeps the other, and the world, for the collector
        answer = WireAnswer(made.status, [(name.lower(), value) for name, value in made.headers], made.body)
        said = [value for name, value in answer.headers if name == b"connection"]
        last = b"close" in b",".join([environ.get("HTTP_CONNECTION", "").encode(), *said]).lower()
        if last:
            answer = answer.closing()
        later: Again | None = environ.get(ENV_AGAIN)
        if later is not None and later is not again:  # a user's own route leaves it as it came
            retake = partial(self.take, described, replace(later, aside=True))
            return Reply(answer, last, again=retake, after=later.after)
        return Reply(answer, last, environ.get(ENV_DELIVERY), environ.get(ENV_STREAM))

    def refuse(self, lost: Unread) -> Reply:
        """Return the reply to a request that a server cannot read, of which it keeps account all the same."""
        self._app.extensions[UNREAD](lost)
        return Reply(lost.problem.answer().closing(), last=True)


def _environment(request: WholeRequest) -> WSGIEnvironment:
    """Return the WSGI environment of a request."""
    one = request
    environ = described(one.method, one.scheme, one.port, one.target, one.headers, one.body)
    if request.declared != 0:
        environ["CONTENT_LENGTH"] = str(len(request.body))
    return environ


def described(
    method: str,
    scheme: str,
    port: int | str,
    target: bytes,
    headers: Headers,
    body: bytes,
    version: str = "1.1",
) -> WSGIEnvironment:
    """Return the WSGI environment of a request without a socket; the names of headers are in lower case."""
    path, _, query = origin_form(target).partition(b"?")
    environ = environment(
        {
            "method": method,
            "scheme": scheme,
            "http_version": version,
            "raw_path": path,
            "query_string": query,
            "headers": headers,
            "server": ("sandbox", port),
            "client": ("127.0.0.1", 0),
            "state": {"target": target},
        }
    )
    environ["wsgi.input"] = BytesIO(body)
    return environ


def _unreadable(request: WholeRequest) -> Unread | None:
    """Return what a server has of a request that a client sends and a server does not read, if it is such."""
    if len(request.target) > MAX_TARGET:
        return Unread.of(request.head, TARGET_TOO_LONG)
    size = sum([len(name) + len(value) + len(b": \r\n") for name, value in request.headers])
    if size > MAX_HEAD:
        return Unread.of(request.head, HEAD_TOO_LONG)
    if request.method in METHODS and not _CONTROL.search(b"".join([value for _, value in request.headers])):
        return None
    return malformed_in(request.head)


def malformed_in(head: bytes) -> Unread | None:
    """Return what a server has read of ``head`` until it sees that this is no HTTP, if it is none."""
    read, reason = legible(head)
    return Unread.of(read, malformed(reason)) if reason else None
