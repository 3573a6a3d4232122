"""The class ``Sandbox``: all resources of one world, in this process or on a server."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, Unpack
from urllib.parse import quote, urlsplit

from flask import Flask

from reseller_sandbox import replaying
from reseller_sandbox.app_factory import assemble, open_worlds, server_of
from reseller_sandbox.clients.caller import PORTS
from reseller_sandbox.clients.decorating import Decorated, DecoratingContext, decorated
from reseller_sandbox.clients.interception import Others, intercepting
from reseller_sandbox.clients.with_flask import SignedClient
from reseller_sandbox.config_sources import variables
from reseller_sandbox.control.catalogue import Resources
from reseller_sandbox.control.failure_report import failure_report, idle_faults
from reseller_sandbox.control.hints import meant
from reseller_sandbox.control.local_transport import InheritedWorld, LocalTransport
from reseller_sandbox.control.resource import Transport
from reseller_sandbox.control.worlds import (
    CheckpointRecord,
    Difference,
    ForkOptions,
    LoadResult,
    RewindResult,
    WorldTime,
    fork_world,
)
from reseller_sandbox.recording.document import RecordedWorld
from reseller_sandbox.refusals import UNKNOWN_WORLD, Refused
from reseller_sandbox.registry.model import DEFAULT
from reseller_sandbox.remote import AUTHORITY, URL, WORLD, HttpTransport, credentials_of
from reseller_sandbox.server.tls import Tls
from reseller_sandbox.settings import DEFAULT_URL, BadSetting, ServerSettings, Settings, configured
from reseller_sandbox.values.text_checks import did_you_mean
from reseller_sandbox.web.interfaces import PublicInterface, public_interfaces
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.timeline import AT
from reseller_sandbox.worlds.world_dump import ReplayResult, WorldDump

if TYPE_CHECKING:
    from reseller_sandbox.server.server import Server

#: Account whose credentials a program gets. In a world without this account, the first account is used.
MAIN = "main"


class RunningServer(NamedTuple):
    """Address of a server that was running before ``serve``. Without TLS, ``tls_url`` is empty."""

    host: str
    port: int
    url: str
    tls_port: int | None
    tls_url: str
    authority: str | None


class _Port:
    """Server of a sandbox on a local port. The first use of ``url`` starts it, ``close`` stops it."""

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._stack, self._lock, self._url = ExitStack(), Lock(), ""
        self._process = os.getpid()

    @property
    def url(self) -> str:
        """URL of the server, which the first use starts. Raise ``CannotListen``.

        Raise ``InheritedWorld`` in a forked process if the server did not run before the fork.
        """
        with self._lock:
            if not self._url and self._process != os.getpid():
                raise InheritedWorld(DEFAULT)
            if not self._url:
                server = self._stack.enter_context(server_of(self._app, self._settings, "127.0.0.1", 0))
                self._url = self._stack.enter_context(server).url
            return self._url

    def close(self) -> None:
        """Stop the server."""
        with self._lock:
            self._stack.close()
            self._url = ""


#: Attributes that only a sandbox in this process has.
_OWN = ("app", "settings", "world", "engine")


class Sandbox(Resources):
    """The reseller API in this process, with its own world.

    >>> sandbox = Sandbox()
    >>> sandbox.client().get("/v3/balance").json[0]["balance"]
    '10000.00'

    The constructor takes the fields of ``Settings``. For an invalid setting, it raises ``BadSetting``, which
    is its only exception. The clock stands still, unless you or the fixture set ``frozen`` to False.
    """

    #: Clients sign requests with this prefix of the header names, and with these interfaces.
    header_prefix = Settings.header_prefix
    interfaces: tuple[PublicInterface, ...]

    #: Name of the fork that ``close`` deletes. Empty if this world is not a fork.
    _fork = ""

    @configured(Settings)
    def __init__(self, settings: Settings) -> None:
        self._hold(settings, open_worlds(settings, frozen=True, open_recording=open_recording))

    def _hold(self, settings: Settings, worlds: Engine) -> None:
        """Set the engine and its worlds, and create the Flask application that serves them."""
        self.settings = settings
        self.header_prefix = settings.header_prefix
        self.interfaces = public_interfaces(tuple(settings.interfaces))
        self.engine = worlds
        self.app: Flask = assemble(worlds, settings, self.resources())
        self._port = _Port(self.app, settings)
        self._enter(LocalTransport(worlds, worlds.default))

    @classmethod
    def over(cls, worlds: Engine, settings: Settings) -> Self:
        """Return the sandbox of an engine's default world."""
        sandbox = cls.__new__(cls)
        sandbox._hold(settings, worlds)
        return sandbox

    @classmethod
    def through(cls, transport: Transport, header_prefix: str = header_prefix) -> Self:
        """Return the sandbox of the world that ``transport`` reaches."""
        sandbox = cls.__new__(cls)
        sandbox.header_prefix = header_prefix
        sandbox.interfaces = public_interfaces()
        sandbox._enter(transport)
        return sandbox

    def __repr__(self) -> str:
        """Return the world's name, and the address of its server if it has one."""
        return f"<Sandbox: {self.transport}>"

    if not TYPE_CHECKING:  # because with __getattr__, a type checker accepts any attribute

        def __getattr__(self, name: str) -> object:
            """Raise AttributeError with the reason or a suggestion.

            Some attributes exist only for a sandbox in this process.
            """
            __tracebackhide__ = True
            if name in _OWN:
                raise AttributeError(f"{name} exists only for a sandbox in this process, not for a server")
            if name.startswith("__"):  # Python itself looks up such names, for example in ``copy``.
                raise AttributeError(name)
            hint = did_you_mean(meant(name, own=(*self.resources(), *_OWN)))
            raise AttributeError(f"a sandbox has no {name!r}{hint}")

    def _enter(self, transport: Transport) -> None:
        """Create the resources, which act on the world that ``transport`` reaches."""
        self.transport, self._process = transport, os.getpid()
        self.reach(transport)
        if isinstance(transport, LocalTransport):
            self.world: World = transport.world

    def fork(self, **options: Unpack[ForkOptions]) -> Self:
        """Fork the world, and return a sandbox of the new world with its own credentials.

        By default, the new world is a copy of this one. For the parameters, see ``Worlds.fork``. The new
        world is deleted when you call ``close`` or leave the ``with`` block.
        """
        __tracebackhide__ = True
        if isinstance(self.transport, LocalTransport):  # Create no record of the new world, for speed.
            transport: Transport = fork_world(self.transport, options)
        else:
            transport = self.transport.entering(self.worlds.fork(**options).name)
        fork = copy(self)
        fork._enter(transport)
        fork._fork = transport.name
        return fork

    def at(self, point: str) -> Self:
        """Return a read-only sandbox of this world at a point of its past.

        For the names of points, see ``History.diff``. In every interface, you can also write the point after
        the world's name: ``default@before:r3`` is the world ``default`` before the request ``r3``. Operations
        refuse with ``unknown_world`` if the point is unknown, or if they would change the past.
        """
        past = copy(self)
        past._fork = ""
        past._enter(self.transport.entering(f"{self.transport.name}{AT}{point}"))
        return past

    def close(self) -> None:
        """Delete this world if it is a fork, and close the connection to a server.

        A fork that was already deleted is not an error. In a process that was forked from the one that
        created this sandbox, do nothing, because the sandbox belongs to the other process.
        """
        if self._process != os.getpid():
            return
        forked, self._fork = self._fork, ""
        try:
            if forked and isinstance(self.transport, LocalTransport):
                if not self.transport.is_outdated:
                    self.transport.worlds.drop(forked)  # Create no list of worlds, for speed.
            elif forked:
                self.worlds.remove(forked)
        except Refused as refused:
            if refused.rule is not UNKNOWN_WORLD:
                raise
        finally:
            if (
                not forked
                and isinstance(self.transport, LocalTransport)
                and self.world is self.engine.default
            ):
                self._port.close()
            self.transport.close()

    @property
    def url(self) -> str:
        """URL of this world for programs of any kind, such as a browser or a client in another language.

        Append the path of the API to this URL. If the sandbox is in this process, the first use of ``url``
        starts a server on a free port of this machine. This server also serves the forks of the sandbox. It
        stops when you ``close`` the sandbox.
        """
        if isinstance(self.transport, HttpTransport):
            return self.transport.world_url
        is_default = self.world is self.engine.default
        return self._port.url + ("" if is_default else f"/_worlds/{quote(self.transport.name, safe='')}")

    @property
    def env(self) -> dict[str, str]:
        """Environment variables for a program that uses this world.

        ``RESELLER_SANDBOX_URL`` is the ``url``, and ``RESELLER_SANDBOX_WORLD`` is the name of the world.
        ``RESELLER_SANDBOX_KEY``, ``_SECRET`` and ``_TOKEN`` are the credentials of the account ``main``.
        Without an account ``main``, they are those of the first account. Variables with the name of an
        account at the end have the credentials of this account: ``RESELLER_SANDBOX_KEY_OTHER`` is the key of
        the account ``other``. If there is a control token or a file of a trusted authority, the variables
        include it.
        """
        accounts = self.accounts.list().accounts
        environment = {URL: self.url, WORLD: self.transport.name}
        for account in sorted(accounts, key=lambda each: each.name != MAIN)[:1]:
            environment |= credentials_of(account)
        for account in accounts:
            environment |= credentials_of(account, f"_{re.sub('[^A-Z0-9]', '_', account.name.upper())}")
        there = self.transport if isinstance(self.transport, HttpTransport) else None
        token = there.token if there is not None else self.settings.control_token
        if token is not None:
            environment[variables()["control_token"]] = token
        if there is not None and there.authority is not None:
            environment[AUTHORITY] = there.authority
        return environment

    def assert_all_faults_applied(self) -> None:
        """Raise AssertionError if a fault of this world was never applied. The message lists such faults."""
        __tracebackhide__ = True
        if lines := list(idle_faults(self)):
            raise AssertionError("\n".join(lines))

    def snapshot(self, name: str) -> CheckpointRecord:
        """Save the current state under a name, so that you can ``restore`` it."""
        return self.snapshots.add(name)

    def restore(self, name: str) -> RewindResult:
        """Go back to a snapshot. The later history becomes a branch, which the result names."""
        return self.snapshots.restore(name)

    def rewind(self, request: str, *, side: Literal["before", "after"] = "before") -> RewindResult:
        """Go back to the state before a request, or after it.

        The later history becomes a branch, which the result names."""
        return self.history.rewind(request, side=side)

    def reset(self, *, original: bool = False) -> WorldTime:
        """Restart the world from its initial state.

        With ``original``, restart from the state before any fixture was loaded.
        """
        return self.history.reset(original=original)

    def diff(
        self, earlier: str = "start", later: str = "now", *, limit: int = 100, start: int = 0
    ) -> Difference:
        """Return the differences between two points in the world's past. See ``History.diff``."""
        return self.history.diff(earlier, later, limit=limit, start=start)

    def export(self) -> str:
        """Return the whole world as a fixture in YAML."""
        return self.history.export().fixture

    def load(self, fixture: str | Mapping[str, object] | Path) -> LoadResult:
        """Restart the world from a fixture.

        Pass the fixture as YAML, as an object, or as the path of a file.
        """
        return self.history.load(fixture)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception):
            self._add_report(error)
        self.close()

    def _add_report(self, error: Exception) -> None:
        """Add the failure report of a world in this process to an exception."""
        if isinstance(self.transport, LocalTransport) and not self.transport.is_outdated:
            error.add_note(f"reseller sandbox: {self.transport}\n{failure_report(self, self.transport.name)}")

    def client(
        self, account: str = "main", *, timeout: float | None = None, real_time: bool = False
    ) -> SignedClient:
        """Return a Flask test client that sends the credentials of ``account``.

        A connection fault raises the exception that Python's ``http.client`` raises over a socket.
        ``timeout`` is in seconds and applies to the simulated delay, without real waiting. If you set
        ``real_time``, the client really waits for delays, as clients of a server do.
        """
        __tracebackhide__ = True
        return SignedClient(self, account, timeout, real_time)

    def intercept(
        self, *urls: str, others: Others = "network", real_time: bool = False
    ) -> DecoratingContext[Self]:
        """During the context, send requests for ``urls`` to this sandbox, in every supported library.

        >>> with sandbox.intercept("https://api.example.test"):
        ...     httpx.get("https://api.example.test/v3/balance")

        The libraries are aiohttp, httpx, httpx2, requests and urllib3. ``urls`` are the addresses that your
        clients use. Clients need no change, even if you created them before the context. A URL is a scheme, a
        host and an optional port. If several contexts are active for the same URL, the innermost context of
        the thread or task decides. A thread or task without its own context uses the latest context of the
        others. ``others`` is the rule for requests to other URLs. With ``network``, they go to the network.
        With ``refuse``, they raise ``NetworkRefused``, and the Python libraries of this process cannot
        connect to other machines. For faults and ``real_time``, see ``SandboxTransport``. An invalid argument
        is refused with ``invalid_parameter``. The context is also a decorator, as ``intercept`` of this
        module is.
        """

        @contextmanager
        def context() -> Iterator[Self]:
            with intercepting(self, urls, others, real_time):
                yield self

        return DecoratingContext(context)

    @contextmanager
    def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        tls: bool = False,
        tls_port: int = 0,
        tls_names: Sequence[str] = (),
    ) -> Iterator[Server | RunningServer]:
        """Serve this sandbox on a real port during the context. Yield the server.

        The server has a ``url``. With ``tls``, the server also has a ``tls_url``. Its certificate is valid
        for this machine and for ``tls_names``. For clients to trust the certificate, pass them the server's
        file ``authority``.

        Raise ``CannotListen`` if the port is not available. If other machines can reach the address, the
        sandbox needs the setting ``control_token`` or ``control_open``. Without one of them, this method
        raises ``BadSetting``.

        If the sandbox is already on a server, yield the address of that server. In this case, raise
        ``BadSetting`` for ``port``, ``tls_port`` and ``tls_names``, and for ``tls`` if the server has no TLS.
        """
        if isinstance(self.transport, HttpTransport):
            yield _running(self.transport, has_port=bool(port or tls_port or tls_names), tls=tls)
            return
        options = Tls(tls_port, names=ServerSettings(tls_names=tls_names).tls_names) if tls else None
        with server_of(self.app, self.settings, host, port, options) as server, server:
            yield server


def _running(transport: HttpTransport, *, has_port: bool, tls: bool) -> RunningServer:
    is_secure = transport.url.startswith("https:")
    if has_port:
        raise BadSetting(
            f"port, tls_port and tls_names cannot be set: the server at {transport.url} runs already"
        )
    if tls and not is_secure:
        raise BadSetting(
            f"serve(tls=True) needs a server with TLS: connect to its https URL, not {transport.url}"
        )
    parts = urlsplit(transport.url)
    port = parts.port or PORTS[parts.scheme]
    return RunningServer(
        parts.hostname or "",
        port,
        transport.url,
        port if is_secure else None,
        transport.url if is_secure else "",
        transport.authority,
    )


def intercept(
    *urls: str, others: Others = "network", real_time: bool = False, **settings: Any
) -> Callable[[Decorated], Decorated]:
    """Return a decorator. In a decorated function, requests to ``urls`` go to a sandbox.

    >>> @reseller_sandbox.intercept("https://api.example.test")
    ... def test_an_order(reseller_sandbox):
    ...     ...

    If the function has the pytest fixture ``reseller_sandbox``, the requests go to the world of this fixture.
    Without the fixture, each call of the function creates a new ``Sandbox`` with these ``settings``.

    The function can be asynchronous. It can be a generator, such as a pytest fixture or the function of a
    context manager: requests are intercepted from its first value to its end. In a class, each method whose
    name begins with ``test`` is decorated. Of a ``unittest.TestCase``, ``setUp`` and ``tearDown`` are
    intercepted, too. Anything else raises TypeError. Put this decorator below ``@pytest.fixture``. For the
    other parameters, see ``Sandbox.intercept``.
    """
    if any(map(callable, urls)):
        raise TypeError('intercept needs a URL: @intercept("https://api.example.test")')

    @contextmanager
    def context(options: Mapping[str, object]) -> Iterator[None]:
        with ExitStack() as stack:
            sandbox = options.get("reseller_sandbox")
            if not isinstance(sandbox, Sandbox):
                sandbox = stack.enter_context(Sandbox(**settings))
            stack.enter_context(sandbox.intercept(*urls, others=others, real_time=real_time))
            yield

    return partial(decorated, make=context)


def connect(
    url: str = DEFAULT_URL,
    *,
    world: str = "",
    control_token: str | None = None,
    timeout: float = 60.0,
    authority: str | None = None,
    header_prefix: str = Settings.header_prefix,
) -> Sandbox:
    """Return the sandbox of a server at ``url``.

    The sandbox has every resource, with the same results and refusals as in this process. ``world`` is the
    name of the world to use. If ``world`` is empty, the sandbox uses the default world. ``control_token`` is
    the server's control token, if it requires one. ``timeout`` is in seconds. ``authority`` is the file that
    makes an ``https`` address trusted. You can also name this file in ``RESELLER_SANDBOX_CA``,
    ``SSL_CERT_FILE`` and similar variables. Raise ``BadSetting`` if the file cannot be used.
    ``header_prefix`` is the server's setting of this name. The method ``client`` needs it to sign requests.
    """
    return Sandbox.through(HttpTransport(url, world, control_token, timeout, authority), header_prefix)


def replay(recording: RecordedWorld | bytes | Path | str) -> replaying.Replay[Sandbox]:
    """Replay a recording, which can be an object, bytes, or the path of a file.

    The replay does not stop at a difference, so the sandbox reaches the end of the recording. Raise
    ``BadRecording`` if the file is not a recording, and OSError if it cannot be read.
    """
    return replaying.replay(recording, Sandbox.over)


def open_recording(recording: bytes) -> ReplayResult:
    """Replay a recording, and return the world at its end. Raise ``BadRecording``."""
    result = replay(recording)
    return ReplayResult(WorldDump.of(result.sandbox.world), str(result.difference or ""), result.notes)
