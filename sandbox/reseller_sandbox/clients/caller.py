"""Sends requests to a sandbox without a socket, for the adapters of all client libraries."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flask import Flask
from msgspec.structs import replace

from reseller_sandbox.control.contract import Assumptions
from reseller_sandbox.control.local_transport import InheritedWorld, LocalTransport
from reseller_sandbox.control.records import Accounts
from reseller_sandbox.control.resource import Resource, Transport
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.server.delivery import Again, Delivery, Env, Stream
from reseller_sandbox.server.messages import Unread, WireAnswer
from reseller_sandbox.server.wsgi import call, environment, origin_form
from reseller_sandbox.settings import Settings
from reseller_sandbox.web.context import ENV_WORLD
from reseller_sandbox.web.interfaces import PublicInterface
from reseller_sandbox.web.pipeline import TAKES_UNREAD
from reseller_sandbox.worlds import Engine, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


#: The default ports of URLs.
PORTS = {"http": 80, "https": 443}

#: The first attempt to handle a request. It may block (``aside``), because it runs on a thread of the client.
FIRST = Again(aside=True)

#: The first attempt to handle a request of an asynchronous client. It must not block the event loop.
FIRST_ON_LOOP = Again()


@dataclass(frozen=True, slots=True)
class Reply:
    """Response to a request, and how it is delivered to the client.

    If ``again`` is set, there is no response yet: call ``again`` for it, ``after`` this many seconds, or when
    ``when`` calls its callback. Call it with ``has_left=True`` if the client has left. If ``stream`` is set,
    it follows the head of the response. If ``last`` is true, the connection ends after the response.
    """

    answer: WireAnswer
    last: bool
    delivery: Delivery | None = None
    stream: Stream | None = None
    again: Callable[..., Reply] | None = None
    after: float = 0.0
    when: Callable[[Callable[[], None]], None] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the response arrives immediately and completely, and the connection stays open."""
        return not self.last and self.delivery is None and self.again is None and self.stream is None


class Detour(NamedTuple):
    """A client library's method that reaches the network, and its replacement in an interception.

    ``url_of`` returns the URL from the arguments of a call, the first of which is the object. ``call`` takes
    the transport to the sandbox, and the same arguments.
    """

    owner: type
    name: str
    url_of: Callable[..., str]
    call: Callable[..., Any]


class AnySandbox(Protocol):
    """Attributes of a ``Sandbox`` that its clients and replays use.

    The first four exist only in this process.
    """

    app: Flask
    world: World
    engine: Engine
    settings: Settings
    transport: Transport
    header_prefix: str
    interfaces: tuple[PublicInterface, ...]
    accounts: Accounts
    assumptions: Assumptions

    @property
    def url(self) -> str:
        """URL of the sandbox's world."""

    def resources(self) -> Mapping[str, type[Resource]]:
        """Return the classes of the sandbox's resources, by name."""


class Caller:
    """Sends requests to a sandbox in this process, without a socket.

    Requests to a fork reach its world, for every account. A fork accepts its own credentials and those that
    it inherited.
    """

    def __init__(self, sandbox: AnySandbox) -> None:
        assert isinstance(sandbox.transport, LocalTransport)
        # Do not refer to the world itself: a connection would keep it in memory.
        self._process, self._name = sandbox.transport.process, sandbox.transport.name
        self._app = sandbox.app
        self._world = "" if sandbox.world is sandbox.engine.default else sandbox.world.name

    def take(
        self, described: Callable[[], WSGIEnvironment], again: Again = FIRST, has_left: bool = False
    ) -> Reply:
        """Send a request and return the reply. Each call of ``described`` makes a new WSGI environment.

        ``has_left`` is whether the client has left before the response. Raise ``InheritedWorld`` in a forked
        process.
        """
        if self._process != os.getpid():
            raise InheritedWorld(self._name)
        environ = described()
        if has_left:
            environ[Env.LEFT] = True
        environ[Env.SERVED], environ[Env.AGAIN] = "", again
        if self._world:
            environ[ENV_WORLD] = self._world
        response = call(self._app, environ)
        # Remove a reference cycle, which would keep the world in memory.
        environ.pop(Env.LOG_WORDS, None)
        answer = replace(response, headers=[(name.lower(), value) for name, value in response.headers])
        options = [value for name, value in answer.headers if name == b"connection"]
        last = b"close" in b",".join([environ.get("HTTP_CONNECTION", "").encode(), *options]).lower()
        if last:
            answer = answer.closing()
        later: Again | None = environ.get(Env.AGAIN)
        if later is not None:
            retake = partial(self.take, described, replace(later, aside=True))
            return Reply(answer, last, again=retake, after=later.after, when=later.when)
        return Reply(answer, last, environ.get(Env.DELIVERY), environ.get(Env.STREAM))

    def refuse(self, lost: Unread) -> Reply:
        """Add an unreadable request to the journal, and return the reply to it."""
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
    """Return the WSGI environment of a request without a socket. Header names must be in lower case."""
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
    """Return the transport to a sandbox's server, or None for a sandbox in this process."""
    return sandbox.transport if isinstance(sandbox.transport, HttpTransport) else None
