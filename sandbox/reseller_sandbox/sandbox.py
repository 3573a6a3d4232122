"""A sandbox: every resource over one world, in this process or on a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from flask import Flask

from reseller_sandbox import replaying
from reseller_sandbox.app_factory import assemble, open_worlds, server_of
from reseller_sandbox.clients.interception import Others, intercepting
from reseller_sandbox.clients.with_flask import SignedClient
from reseller_sandbox.control.catalogue import Resources
from reseller_sandbox.control.failure_report import failure_report
from reseller_sandbox.control.local_transport import LocalTransport
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
from reseller_sandbox.recording.steps import RecordedWorld
from reseller_sandbox.refusals import UNKNOWN_WORLD, Refused
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.server.tls import Tls
from reseller_sandbox.settings import DEFAULT_URL, ServerSettings, Settings, configured
from reseller_sandbox.values.text_checks import nearest
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.timeline import AT
from reseller_sandbox.worlds.world_dump import ReplayResult, WorldDump

if TYPE_CHECKING:
    from reseller_sandbox.control.records import AccountRecord
    from reseller_sandbox.server.server import Server


#: Attributes that only a sandbox in this process has.
_OWN = ("app", "settings", "world", "engine")


class Sandbox(Resources):
    """The reseller API in this process, with its own world.

    >>> sandbox = Sandbox()
    >>> sandbox.client().get("/v3/balance").json[0]["balance"]
    '10000.00'

    It takes the fields of ``Settings``, and raises only ``BadSetting``. The clock stands still unless you set
    ``frozen`` to False or the fixture does.
    """

    #: The prefix of the v3 headers, for its clients.
    header_prefix = Settings.header_prefix

    #: The name of its world if ``close`` deletes it.
    _fork = ""

    @configured(Settings)
    def __init__(self, settings: Settings) -> None:
        self._hold(settings, open_worlds(settings, frozen=True, open_recording=open_recording))

    def _hold(self, settings: Settings, worlds: Engine) -> None:
        """Use the worlds of an engine, and create the application that serves them."""
        self.settings = settings
        self.header_prefix = settings.header_prefix
        self.engine = worlds
        self.app: Flask = assemble(worlds, settings, self.resources())
        self._enter(LocalTransport(worlds, worlds.default))

    @classmethod
    def over(cls, worlds: Engine, settings: Settings) -> Self:
        """Return the sandbox of an engine's default world."""
        sandbox = cls.__new__(cls)
        sandbox._hold(settings, worlds)
        return sandbox

    @classmethod
    def through(cls, transport: Transport, header_prefix: str = header_prefix) -> Self:
        """Return the sandbox of the world that ``transport`` leads to."""
        sandbox = cls.__new__(cls)
        sandbox.header_prefix = header_prefix
        sandbox._enter(transport)
        return sandbox

    def __repr__(self) -> str:
        """Return the world's name, and the address of its server if it has one."""
        return f"<Sandbox: {self.transport}>"

    if not TYPE_CHECKING:  # with it, a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError with the reason or a suggestion.

            Some attributes exist only for a sandbox in this process.
            """
            __tracebackhide__ = True
            if name in _OWN:
                raise AttributeError(f"{name} exists only for a sandbox in this process, not for a server")
            if name.startswith("__"):  # Python asks for these, for example to copy: no misspelling
                raise AttributeError(name)
            raise AttributeError(f"a sandbox has no {name!r}{nearest(name, (*self.resources(), *_OWN))}")

    def _enter(self, transport: Transport) -> None:
        """Create every resource over the world that ``transport`` leads to."""
        self.transport = transport
        self.reach(transport)
        if isinstance(transport, LocalTransport):
            self.world: World = transport.world

    def fork(self, **wanted: Unpack[ForkOptions]) -> Self:
        """Return a sandbox of a new world with its own credentials.

        By default the new world is a copy of this one. For the parameters, see ``Worlds.fork``. The new world
        is deleted when you call ``close`` or leave the ``with`` block.
        """
        __tracebackhide__ = True
        if isinstance(self.transport, LocalTransport):  # skips building the record of the new world
            transport: Transport = fork_world(self.transport, wanted)
        else:
            transport = self.transport.entering(self.worlds.fork(**wanted).name)
        fork = copy(self)
        fork._enter(transport)
        fork._fork = transport.name
        return fork

    def at(self, point: str) -> Self:
        """Return a read-only sandbox of this world at a point of its past.

        For the names of points, see ``History.diff``. In every interface, you can also use the world's name
        ``default@before:r3``. Refuse with ``unknown_world`` for an unknown point, and for every operation
        that would change the past.
        """
        past = copy(self)
        past._fork = ""
        past._enter(self.transport.entering(f"{self.transport.name}{AT}{point}"))
        return past

    def close(self) -> None:
        """Delete this world if it is a fork, and close the connection to a server.

        A fork that was already deleted is not an error.
        """
        forked, self._fork = self._fork, ""
        try:
            if forked and isinstance(self.transport, LocalTransport):
                if not self.transport.is_outdated:
                    self.transport.worlds.drop(forked)  # skips listing the other worlds
            elif forked:
                self.worlds.remove(forked)
        except Refused as refused:
            if refused.rule is not UNKNOWN_WORLD:
                raise
        finally:
            self.transport.close()

    def snapshot(self, name: str) -> CheckpointRecord:
        """Save the current state under a name, so that you can ``restore`` it."""
        return self.snapshots.add(name)

    def restore(self, name: str) -> RewindResult:
        """Go back to a snapshot. Return the branch that keeps the old future, too."""
        return self.snapshots.restore(name)

    def rewind(self, request: str, *, side: Literal["before", "after"] = "before") -> RewindResult:
        """Go back to before a request, or to just after it.

        Return the branch that keeps the old future, too.
        """
        return self.history.rewind(request, side=side)

    def reset(self, *, original: bool = False) -> WorldTime:
        """Restart the world from its initial state.

        With ``original``, restart from the state before any fixture was loaded.
        """
        return self.history.reset(original=original)

    def diff(
        self, earlier: str = "start", later: str = "now", *, limit: int = 100, start: int = 0
    ) -> Difference:
        """Return the differences between two points. See ``History.diff``."""
        return self.history.diff(earlier, later, limit=limit, start=start)

    def export(self) -> str:
        """Return the whole world as a fixture in YAML."""
        return self.history.export().fixture

    def load(self, fixture: str | Mapping[str, Any] | Path) -> LoadResult:
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

    def account(self, name: str = "main") -> AccountRecord:
        """Return an account with its credentials and its balance.

        The same as ``accounts[name]``.
        """
        __tracebackhide__ = True
        return self.accounts[name]

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

    @contextmanager
    def intercept(self, *urls: str, others: Others = "network", real_time: bool = False) -> Iterator[Self]:
        """Route httpx and requests calls to ``urls`` to this sandbox during the context.

        >>> with sandbox.intercept("https://api.example.test"):
        ...     httpx.get("https://api.example.test/v3/balance")

        You do not change your clients, even if they exist already. A URL is a scheme, a host and an optional
        port. If contexts are nested, or entered in several threads or tasks, each applies its own sandbox.
        Threads without their own context are in all of them. ``others`` decides about requests to other URLs:
        send them to the network, or raise ``NetworkRefused``. For faults and ``real_time``, see
        ``SandboxTransport``. Refuse with ``invalid_parameter``.
        """
        with intercepting(self, urls, others, real_time):
            yield self

    @contextmanager
    def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        tls: bool = False,
        tls_port: int = 0,
        tls_names: Sequence[str] = (),
    ) -> Iterator[Server]:
        """Serve this sandbox on a real port during the context. Yield the server.

        The server has a ``url``. With ``tls`` it also has a ``tls_url``, and a certificate for this machine
        and ``tls_names``. Your clients trust the certificate with the file ``authority``.

        Raise ``CannotListen`` if the port is not available. Raise ``BadSetting`` if other machines can reach
        the address and the control interface is neither protected by a token nor explicitly open.
        """
        options = Tls(tls_port, names=ServerSettings(tls_names=tls_names).tls_names) if tls else None
        with server_of(self.app, self.settings, host, port, options) as server, server:
            yield server


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

    It has every resource, with the same results and refusals. ``world`` names the world to use, by default
    the default world. ``control_token`` is the server's control token, if it requires one. ``timeout`` is in
    seconds. ``authority`` is the file that makes an ``https`` address trusted. You can also name this file in
    ``RESELLER_SANDBOX_CA``, ``SSL_CERT_FILE`` and similar variables. Raise ``BadSetting`` if the file cannot
    be used. ``header_prefix`` is the server's prefix of v3 headers, which ``client`` needs.
    """
    return Sandbox.through(HttpTransport(url, world, control_token, timeout, authority), header_prefix)


def replay(recording: RecordedWorld | bytes | Path | str) -> replaying.Replay[Sandbox]:
    """Replay a recording, given as an object, as bytes, or as the path of its file.

    The replay continues after a difference, so the sandbox reaches the end. Raise ``BadRecording`` if the
    file is not a recording, and OSError.
    """
    return replaying.replay(recording, Sandbox.over)


def open_recording(recording: bytes) -> ReplayResult:
    """Return the world that results from a replay. Raise ``BadRecording``."""
    result = replay(recording)
    return ReplayResult(WorldDump.of(result.sandbox.world), str(result.difference or ""), result.notes)
