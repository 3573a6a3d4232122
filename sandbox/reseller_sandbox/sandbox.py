"""A sandbox: the resources over one world put together, in this process or of a server elsewhere."""

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
    Loaded,
    WentBack,
    WorldStanding,
    forked,
)
from reseller_sandbox.recording.steps import RecordedWorld
from reseller_sandbox.registry.refusals import UNKNOWN_WORLD, Refused
from reseller_sandbox.registry.text_checks import nearest
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.server.tls import Tls
from reseller_sandbox.settings import DEFAULT_URL, ServerSettings, Settings, configured
from reseller_sandbox.worlds import Engine, World
from reseller_sandbox.worlds.timeline import AT
from reseller_sandbox.worlds.world_dump import ReplayResult, WorldDump

if TYPE_CHECKING:
    from reseller_sandbox.control.records import AccountRecord
    from reseller_sandbox.server.server import Server


#: What only a sandbox in this process has.
_OWN = ("app", "settings", "world", "engine")


class Sandbox(Resources):
    """The reseller API in this process, with a world of its own.

    >>> sandbox = Sandbox()
    >>> sandbox.client().get("/v3/balance").json[0]["balance"]
    '10000.00'

    Takes the fields of ``Settings``, and refuses with ``BadSetting`` alone. The clock stands still unless
    ``frozen`` is False or the fixture says so.
    """

    #: What the headers of v3 requests begin with, for its clients.
    header_prefix = Settings.header_prefix

    #: The name of its world, where that is deleted with it.
    _fork = ""

    @configured(Settings)
    def __init__(self, settings: Settings) -> None:
        self._hold(settings, open_worlds(settings, frozen=True, relive=relive))

    def _hold(self, settings: Settings, worlds: Engine) -> None:
        """Have the worlds of an engine, and serve them."""
        self.settings = settings
        self.header_prefix = settings.header_prefix
        self.engine = worlds
        self.app: Flask = assemble(worlds, settings, self.resources())
        self._enter(LocalTransport(worlds, worlds.default))

    @classmethod
    def over(cls, worlds: Engine, settings: Settings) -> Self:
        """Return the sandbox of an engine's default world."""
        made = cls.__new__(cls)
        made._hold(settings, worlds)
        return made

    @classmethod
    def through(cls, transport: Transport, header_prefix: str = header_prefix) -> Self:
        """Return the sandbox of the world that ``transport`` leads to."""
        made = cls.__new__(cls)
        made.header_prefix = header_prefix
        made._enter(transport)
        return made

    def __repr__(self) -> str:
        """Return the world's name, and the address of its server if it has one."""
        return f"<Sandbox: {self.transport}>"

    if not TYPE_CHECKING:  # a checker would take any name for one that is there

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError: it says what only a sandbox in this process has, or the nearest name."""
            __tracebackhide__ = True
            if name in _OWN:
                raise AttributeError(
                    f"{name} is there only for a sandbox in this process, not through a server"
                )
            if name.startswith("__"):  # what Python itself asks for, as at each copy: nobody has misspelt it
                raise AttributeError(name)
            raise AttributeError(f"a sandbox has no {name!r}{nearest(name, (*self.resources(), *_OWN))}")

    def _enter(self, transport: Transport) -> None:
        """Make every resource over the world that ``transport`` leads to."""
        self.transport = transport
        self.reach(transport)
        if isinstance(transport, LocalTransport):
            self.world: World = transport.world

    def fork(self, **wanted: Unpack[ForkOptions]) -> Self:
        """Return a sandbox of a new world beside this one, with credentials of its own.

        It is this world as it is now, unless ``wanted`` says otherwise: see ``Worlds.fork``. It is deleted by
        ``close``, or at the end of a ``with``.
        """
        __tracebackhide__ = True
        if isinstance(self.transport, LocalTransport):  # the same, without an account of the new world
            transport: Transport = forked(self.transport, wanted)
        else:
            transport = self.transport.entering(self.worlds.fork(**wanted).name)
        made = copy(self)
        made._enter(transport)
        made._fork = transport.name
        return made

    def at(self, point: str) -> Self:
        """Return this world as it was at a point, as ``History.diff`` names it: to look at.

        The same is reached as a world's name everywhere: ``default@before:r3``. A point that there is not
        is refused with ``unknown_world``, and so is everything that would change something.
        """
        past = copy(self)
        past._fork = ""
        past._enter(self.transport.entering(f"{self.transport.name}{AT}{point}"))
        return past

    def close(self) -> None:
        """Delete this world, if it is a fork that is still there; give up the connection to a server."""
        forked, self._fork = self._fork, ""
        try:
            if forked and isinstance(self.transport, LocalTransport):
                if not self.transport.is_outdated:
                    self.transport.worlds.drop(forked)  # the same, without an account of every other world
            elif forked:
                self.worlds.remove(forked)
        except Refused as refused:
            if refused.rule is not UNKNOWN_WORLD:
                raise
        finally:
            self.transport.close()

    def snapshot(self, name: str) -> CheckpointRecord:
        """Keep this moment under a name, so that ``restore`` can go back to it."""
        return self.snapshots.add(name)

    def restore(self, name: str) -> WentBack:
        """Go back to a snapshot; return the branch that keeps what was left behind, too."""
        return self.snapshots.restore(name)

    def rewind(self, request: str, *, side: Literal["before", "after"] = "before") -> WentBack:
        """Go back to before a request, or just after it; return the branch that keeps its future, too."""
        return self.history.rewind(request, side=side)

    def reset(self, *, original: bool = False) -> WorldStanding:
        """Take the world back to how it began, or with ``original`` to before anything was loaded."""
        return self.history.reset(original=original)

    def diff(
        self, earlier: str = "start", later: str = "now", *, limit: int = 100, start: int = 0
    ) -> Difference:
        """Return what differs between two points: see ``History.diff``."""
        return self.history.diff(earlier, later, limit=limit, start=start)

    def export(self) -> str:
        """Return the whole world as a fixture in YAML."""
        return self.history.export().fixture

    def load(self, fixture: str | Mapping[str, Any] | Path) -> Loaded:
        """Begin again as a fixture says: its YAML, the same as an object, or the path of a file."""
        return self.history.load(fixture)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception):
            self._tell(error)
        self.close()

    def _tell(self, error: Exception) -> None:
        """Add to what ends a ``with`` what happened in this world, if that is in this process."""
        if isinstance(self.transport, LocalTransport) and not self.transport.is_outdated:
            error.add_note(f"reseller sandbox: {self.transport}\n{failure_report(self, self.transport.name)}")

    def account(self, name: str = "main") -> AccountRecord:
        """Return an account with its credentials and its money, as ``accounts[name]``."""
        __tracebackhide__ = True
        return self.accounts[name]

    def client(
        self, account: str = "main", *, timeout: float | None = None, real_time: bool = False
    ) -> SignedClient:
        """Return a Flask test client whose requests carry the credentials of ``account``.

        What faults do to a connection raises what Python's own ``http.client`` raises over a socket. The
        ``timeout`` in seconds counts, but nobody waits; with ``real_time`` delays are waited for, as they
        always are on the way to a server.
        """
        __tracebackhide__ = True
        return SignedClient(self, account, timeout, real_time)

    @contextmanager
    def intercept(self, *urls: str, others: Others = "network", real_time: bool = False) -> Iterator[Self]:
        """Have httpx and requests find this sandbox at ``urls`` while the context lasts, whoever uses them.

        >>> with sandbox.intercept("https://api.example.test"):
        ...     httpx.get("https://api.example.test/v3/balance")

        Clients need not be told and may have been made before. A URL is a scheme, a host and perhaps a port.
        Where contexts are nested, or entered in several threads or tasks, each has its own; other threads are
        in all of them. ``others`` is what becomes of requests to elsewhere: they go on to the network, or
        raise ``NetworkRefused``. Faults and ``real_time`` are as with ``SandboxTransport``. Refuse with
        ``invalid_parameter``.
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
        """Serve this sandbox on a real port while the context lasts; yield the server, which has a ``url``.

        With ``tls`` it has a ``tls_url`` as well, and a certificate for this machine and ``tls_names``;
        ``authority`` is the file by which clients trust that.

        Raise ``CannotListen``, and ``BadSetting`` for an address that others can reach while the control
        interface has neither a token nor the word that it needs none.
        """
        wanted = Tls(tls_port, names=ServerSettings(tls_names=tls_names).tls_names) if tls else None
        with server_of(self.app, self.settings, host, port, wanted) as server, server:
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
    """Return the sandbox that a server at ``url`` holds, with every resource and the same answers and
    refusals.

    It acts on the ``world`` of that name, or on the default one. ``control_token`` is what the server wants
    of requests to its control interface, if anything; ``timeout`` is in seconds. ``authority`` is the file
    by which an ``https`` address is trusted, where ``RESELLER_SANDBOX_CA``, ``SSL_CERT_FILE`` and the like do
    not name it; refuse with ``BadSetting`` where it cannot be used. ``header_prefix`` is what the server
    was told of v3's headers; ``client`` needs it.
    """
    return Sandbox.through(HttpTransport(url, world, control_token, timeout, authority), header_prefix)


def replay(recording: RecordedWorld | bytes | Path | str) -> replaying.Replay[Sandbox]:
    """Do all again that stands in a recording, given as such, as its bytes, or as the path of its file.

    It goes on after a difference, so that the sandbox reaches the end. Raise ``BadRecording`` for a file that
    is none, and OSError.
    """
    return replaying.replay(recording, Sandbox.over)


def relive(recording: bytes) -> ReplayResult:
    """Return the world that lives a recording's past again, apart from all others; raise ``BadRecording``."""
    found, difference = (made := replay(recording)).sandbox.world, made.difference
    return ReplayResult(WorldDump.of(found), str(difference or ""), made.notes)
