"""Requests to a sandbox without a socket: the base of the clients of every library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Protocol

from flask import Flask
from msgspec.structs import replace

from reseller_sandbox.control.contract import Assumptions
from reseller_sandbox.control.records import Accounts
from reseller_sandbox.control.resource import Transport
from reseller_sandbox.remote import HttpTransport
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
from reseller_sandbox.server.messages import Unread, WireAnswer
from reseller_sandbox.server.wsgi import call, environment, origin_form
from reseller_sandbox.web.context import ENV_WORLD
from reseller_sandbox.web.pipeline import TAKES_UNREAD
from reseller_sandbox.worlds import Engine, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


#: The port of a URL that has none.
PORTS = {"http": 80, "https": 443}

#: The application may wait, because it is called on a thread of the client.
FIRST = Again(aside=True)


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a request: an answer, and its delivery to the client.

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


class AnySandbox(Protocol):
    """The parts of a ``Sandbox`` that its clients use; the first three exist only in this process."""

    app: Flask
    world: World
    engine: Engine
    transport: Transport
    header_prefix: str
    accounts: Accounts
    assumptions: Assumptions


class Caller:
    """Makes requests to ``sandbox``; those to a fork reach its world, whatever account's they are.

    There the credentials that the world has inherited count as well as its own.
    """

    def __init__(self, sandbox: AnySandbox) -> None:
        self._app = sandbox.app
        self._world = "" if sandbox.world is sandbox.engine.default else sandbox.world.name

    def take(self, described: Callable[[], WSGIEnvironment], again: Again = FIRST) -> Reply:
        """Return the reply to a request that each call of ``described`` describes anew, as WSGI has it."""
        environ = described()
        environ[ENV_SERVED], environ[ENV_AGAIN] = True, again
        if self._world:
            environ[ENV_WORLD] = self._world
        made = call(self._app, environ)
        environ.pop(ENV_SAID, None)  # it refers to the environment, and the cycle would keep the world
        answer = replace(made, headers=[(name.lower(), value) for name, value in made.headers])
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
        """Return the reply to a request that a server cannot read, which the journal has all the same."""
        self._app.extensions[TAKES_UNREAD](lost)
        return Reply(lost.problem.answer().closing(), last=True)


def described(
    method: str,
    scheme: str,
    port: int | str,
    target: bytes,
    headers: Sequence[tuple[bytes, bytes]],
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
    if "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ:
        environ["CONTENT_LENGTH"] = str(len(body))
    environ["wsgi.input"] = BytesIO(body)
    return environ


def server_of(sandbox: AnySandbox) -> HttpTransport | None:
    """Return the way to the server that holds a sandbox; None for a sandbox in this process."""
    return sandbox.transport if isinstance(sandbox.transport, HttpTransport) else None
