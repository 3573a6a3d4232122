"""Sandboxes of a test run: a seeded world per set of settings, and a fork of it per test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, Unpack
from urllib.parse import urlsplit

import pytest
from msgspec import Struct

from reseller_sandbox.config_sources import from_environment_and_file, merged
from reseller_sandbox.control.failure_report import advice_lines, failure_report, idle_faults, scheduled_line
from reseller_sandbox.control.worlds import ForkOptions
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import HttpTransport, Unreachable
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting, ServiceSettings, Settings, require_known
from reseller_sandbox.values.clock import real_now, stopwatch, wire
from reseller_sandbox.values.parameters import declared
from reseller_sandbox.values.text_checks import nearest
from reseller_sandbox.worlds import Engine

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MARK = "reseller_sandbox"

#: The names of the settings that a mark can have.
_MARK_SETTINGS = (*(setting.name for setting in declared(Settings)), "strict", "clock")

#: Leftovers in a world that fail its test in strict mode: unapplied faults, unapplied scheduled actions, and
#: advice.
LEFT_OVER = ("faults", "scheduled", "advice")


class Marked(NamedTuple):
    """Settings of a test: its world, forbidden leftovers, and whether the world follows the test's time."""

    settings: dict[str, Any]
    strict: frozenset[str]
    follows: bool


def read_marks(node: pytest.Item, strict: frozenset[str], follows: bool = False) -> Marked:
    """Return the settings from the marks of a test.

    A mark of the function takes precedence over its class, and the class over its module. Assumptions are
    merged. ``strict`` and ``follows`` are the defaults if no mark sets them. Raise ``BadSetting`` for an
    unknown setting.
    """
    settings: dict[str, Any] = {}
    for mark in reversed(list(node.iter_markers(MARK))):
        if mark.args:
            raise BadSetting(
                f"@pytest.mark.{MARK} takes only named settings, such as fixture='empty', not "
                f"{mark.args[0]!r}"
            )
        require_known(mark.kwargs, _MARK_SETTINGS)
        settings = merged(settings, mark.kwargs)
    if "strict" in settings:
        strict = read_strict(settings.pop("strict"))
    if "clock" in settings:
        follows = read_clock(settings.pop("clock"))
    return Marked(settings, strict, follows)


def read_clock(value: object) -> bool:
    """Return True for the only value of the setting ``clock``. Raise ``BadSetting`` for another value."""
    if value != FOLLOW:
        raise BadSetting(
            f"the setting clock must be {FOLLOW!r}; it is {value!r}{nearest(str(value), (FOLLOW,))}"
        )
    return True


def read_strict(setting: object) -> frozenset[str]:
    """Return the kinds of leftovers that a setting selects.

    The setting is a list of names, a string of names, or True for all kinds in ``LEFT_OVER``. Raise
    ``BadSetting`` for another name.
    """
    if isinstance(setting, bool):
        return frozenset(LEFT_OVER if setting else ())
    names = setting.replace(",", " ").split() if isinstance(setting, str) else setting
    if not isinstance(names, Iterable):
        raise BadSetting(f"the setting strict must be True, False, or a choice of {', '.join(LEFT_OVER)}")
    for name in (names := list(names)):
        if name not in LEFT_OVER:
            known = ", ".join(LEFT_OVER)
            raise BadSetting(
                f"the setting strict must be a choice of {known}; it is {name!r}"
                f"{nearest(str(name), LEFT_OVER)}"
            )
    return frozenset(names)


class Watched(Sandbox):
    """Sandbox in a test run. Its forks exist until the test that created them ends."""

    _watcher: Watcher

    #: The engine with the worlds of this process, even if the sandbox reaches them through a server.
    _own_worlds: Engine | None = None

    def by(self, watcher: Watcher) -> Self:
        """Let ``watcher`` watch this sandbox and its forks. Return this sandbox."""
        self._watcher = watcher
        return self

    def fork(self, **options: Unpack[ForkOptions]) -> Self:
        """Fork the world as ``Sandbox.fork`` does, and register the fork with the watcher."""
        world = super().fork(**options)
        self._watcher.add(world)
        return world

    def follow_time(self) -> None:
        """Let the world's clock follow the tests' clock, which a test can freeze with freezegun."""
        if self._own_worlds is None:
            with suppress(Refused):  # Refused if the time is before the start of the world.
                self.clock.follow()
        else:
            world = self._own_worlds.find(self.transport.name)
            world.change(clock=world.clock.follow())

    def close(self) -> None:
        """Release the world at the end of the test, because a failure report may still need it."""
        if not self._watcher.keeps(self):
            self.finish()

    def _add_report(self, error: Exception) -> None:
        """Do nothing, because the report of the test describes the error."""

    def finish(self) -> None:
        """Release the world immediately."""
        with suppress(Unreachable):  # A stopped server has already released its worlds.
            super().close()


class Watcher:
    """Tracks the worlds of the running test, and keeps them until the test ends.

    When a test ends, ``observe`` is called with all open worlds.
    """

    observe: Callable[[Sequence[Watched]], None] | None = None

    #: Time at the latest request, as the test sees it: a test can freeze or shift its time.
    asked_at: datetime | None = None

    def __init__(self) -> None:
        self._runs = False
        self._began = real_now(), stopwatch()
        #: Open worlds, worlds that the test has closed, and worlds that the running test created.
        self._open: dict[Watched, None] = {}
        self._closed: dict[Watched, None] = {}
        self._own: dict[Watched, None] = {}

    def begin(self) -> None:
        """Begin a test. Its setup, call and teardown follow until ``end``."""
        self._runs = True
        self.asked_at = None

    @property
    def frozen_at(self) -> datetime | None:
        """Time of the test at the latest request if the test has frozen or shifted time, else None."""
        began, watch = self._began
        is_real = self.asked_at is None or began <= self.asked_at <= began + timedelta(
            seconds=stopwatch() - watch + 1
        )
        return None if is_real else self.asked_at

    def end(self) -> None:
        """End the test, and release the worlds that it has closed."""
        if self.observe is not None:
            self.observe(list(self._open))
        self._runs = False
        closed, self._closed, self._own = self._closed, {}, {}
        for sandbox in closed:
            self._open.pop(sandbox, None)
            sandbox.finish()

    def add(self, sandbox: Watched) -> None:
        """Register a new world of the running test."""
        self._open[sandbox] = self._own[sandbox] = None

    def shares(self, sandbox: Watched) -> None:
        """Mark a world as shared between tests, although it was made during a test."""
        self._own.pop(sandbox, None)

    def keeps(self, sandbox: Watched) -> bool:
        """Whether to keep a world that is being closed: True while a test runs."""
        if self._runs:
            self._closed[sandbox] = None
        else:
            self._open.pop(sandbox, None)
        return self._runs

    @property
    def concerned(self) -> list[Watched]:
        """Worlds that the running test created, and other worlds that have received requests."""
        others = [sandbox for sandbox in self._open if sandbox not in self._own]
        return [*self._own, *(sandbox for sandbox in others if _has_seen_requests(sandbox))]


def _has_seen_requests(sandbox: Sandbox) -> bool:
    with suppress(Refused, Unreachable):
        return bool(sandbox.journal.list(limit=0).matching)
    return False


#: The only value of the setting ``clock``: worlds follow the time of their test.
FOLLOW = "follow"

#: The modes with a name. Instead of a name, the option can be the URL of a running server.
MODES = ("process", "server")

#: Settings of a whole server, fixed at its start. A single world cannot change them.
OF_A_SERVER = frozenset(setting.name for setting in declared(ServiceSettings))


#: A function that creates a seeded world, from which tests fork. The stack releases the world at the end of
#: the run. The first mapping has all settings, also from the environment and a file. The second mapping has
#: only the settings from marks. The function raises ``BadSetting``, and ``Unreachable`` if no server answers.
Mode: TypeAlias = Callable[[ExitStack, Watcher, Mapping[str, Any], Mapping[str, Any]], Watched]


def mode_of(option: str) -> Mode:
    """Return the mode that an option names. Raise ``BadSetting`` for an unknown mode."""
    if option in MODES:
        return partial(_own, option == "server")
    parts = urlsplit(option)
    if parts.scheme in ("http", "https") and parts.netloc:
        return partial(_running, option)
    raise BadSetting(
        f"the mode must be process, server or the URL of a server; it is {option[:80]!r}"
        f"{nearest(option, MODES)}"
    )


def _own(serve: bool, stack: ExitStack, watcher: Watcher, settings: Mapping[str, Any], _: object) -> Watched:
    """Return the default world of a new sandbox in the process of the tests.

    With ``serve``, requests go through a server on a free port, which runs as long as the tests. Without it,
    they need no socket. ``watcher`` stores the time of the latest request.
    """
    sandbox = Watched(**settings).by(watcher)
    sandbox._own_worlds = sandbox.engine
    application = sandbox.app.wsgi_app

    def noting(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        watcher.asked_at = real_now()
        return application(environ, start_response)

    sandbox.app.wsgi_app = noting  # type: ignore[method-assign]
    if not serve:
        return stack.enter_context(sandbox)
    server = stack.enter_context(sandbox.serve())
    transport = HttpTransport(server.url, token=sandbox.settings.control_token)
    stack.callback(transport.close)
    through_server = Watched.through(transport, sandbox.header_prefix).by(watcher)
    through_server._own_worlds = sandbox.engine
    return through_server


def _running(
    url: str, stack: ExitStack, watcher: Watcher, settings: Mapping[str, Any], marked: Mapping[str, object]
) -> Watched:
    """Return a forked world in the running server at ``url``.

    It has the settings of the run. Without settings, it is a copy of the initial world of the server.
    """
    fixed = sorted(OF_A_SERVER.intersection(marked))
    if fixed:
        raise BadSetting(
            f"{', '.join(fixed)}: a server gets these settings when it starts, and the server at {url} "
            "is already running. Use the mode 'process' or the mode 'server'"
        )
    prefix = Settings(**settings).header_prefix
    transport = HttpTransport(url, token=settings.get("control_token"))
    stack.callback(transport.close)
    running = Watched.through(transport, prefix).by(watcher)
    settings = {name: value for name, value in settings.items() if name not in OF_A_SERVER}
    if not settings:
        return stack.enter_context(running.fork(point="start", frozen=True))
    described = Watched(**settings)
    assumed = {entry.name: entry.value for entry in described.assumptions.list().assumptions}
    return stack.enter_context(
        running.fork(state=described.export(), frozen=described.clock.frozen, assume=assumed)
    )


class _Seeded(Struct, frozen=True):
    """A seeded world, and the names of the faults in its fixture."""

    sandbox: Watched
    faults: tuple[str, ...]


class Sandboxes:
    """Worlds of a test run. A pytest fixture of any scope can fork a world, and prepare it for the tests.

    The run's settings are read from a file in ``folder``. Recordings of failed tests are written to the
    folder ``kept``.
    """

    def __init__(
        self, mode: Mode, folder: Path, strict: frozenset[str], kept: Path | None, *, follows: object = False
    ) -> None:
        self.watcher = Watcher()
        self._mode = mode
        self._folder = folder
        self._strict = strict
        self._follows = bool(follows)
        self._kept = kept
        self._stack = ExitStack()
        self._seeded: dict[str, _Seeded] = {}
        self._lent: Sandbox | None = None

    def fork(self, **options: Unpack[ForkOptions]) -> Sandbox:
        """Return a sandbox with a new world that has the settings of the test run.

        The parameters are those of ``Worlds.fork``. The world is deleted at the end of its ``with`` block, or
        when you call ``close``. If you fork the new world, the fork begins with the state that the new world
        has at that time.
        """
        return self.of().fork(**options)

    def of(self, **settings: object) -> Sandbox:
        """Return the seeded world of these settings. Tests use forks of this world.

        The first call creates the world, and later calls return the same one. Do not change this world. Fork
        it, and change the fork. ``settings`` are the arguments of the mark. Raise ``BadSetting`` for an
        invalid setting.
        """
        return self._seeded_world(settings).sandbox

    @contextmanager
    def world_of(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Yield the world of one test. If the world cannot be created, fail the test with one line."""
        if self._lent is not None:
            yield self._lent
            return
        with self.prepared(node) as world:
            yield world

    def prepared(self, node: pytest.Item) -> Sandbox:
        """Return a new world for a test. If it cannot be created, fail the test with one line."""
        try:
            marked = read_marks(node, self._strict, self._follows)
            # The seed is the test's name, so that random values do not depend on the order of tests.
            world = self._seeded_world(marked.settings).sandbox.fork(seed=node.nodeid)
            if marked.follows:
                world.follow_time()
            return world
        except (BadSetting, Unreachable, Refused) as problem:
            reason = str(problem)
        pytest.fail(f"the sandbox of this test: {reason}", pytrace=False)

    @contextmanager
    def apart(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Yield a world for a test that runs repeatedly. Each run uses a fork of it."""
        self.watcher.end()
        prepared = self.prepared(node)
        try:
            yield prepared
        finally:
            prepared.close()
            self.watcher.begin()

    @contextmanager
    def lending(self, world: Sandbox) -> Iterator[None]:
        """During the context, the running test uses ``world``, which the caller creates and releases."""
        self._lent = world
        try:
            yield
        finally:
            self._lent = None

    @property
    def is_lent(self) -> bool:
        """Whether the running test uses a world from ``lending``, which its caller releases."""
        return self._lent is not None

    def left_over(self, node: pytest.Item) -> list[str]:
        """Return a line for each leftover (such as an unapplied fault) that strict mode forbids."""
        try:
            settings, strict, _ = read_marks(node, self._strict)
            if not strict or self.is_lent:
                return []
            seeded = self._seeded_world(settings).faults
            worlds = self.watcher.concerned
            return [line for sandbox in worlds for line in _left_over(sandbox, strict, seeded)]
        except BadSetting as problem:
            return [f"the sandbox of this test: {problem}"]

    def sections(self, node: pytest.Item) -> Iterator[tuple[str, str]]:
        """Yield a title and a failure report for each world of a failed test."""
        frozen_at = self.watcher.frozen_at
        for sandbox, file in self.failed(node):
            try:
                text = failure_report(sandbox, sandbox.transport.name, file) + _drift(sandbox, frozen_at)
            except Unreachable as problem:
                text = f"this world cannot be read: {problem}"
            yield f"reseller sandbox: world {sandbox.transport.name}", text

    def failed(self, node: pytest.Item) -> Iterator[tuple[Watched, Path | None]]:
        """Yield each world of a failed test, and the file for its recording if recordings are written."""
        for number, sandbox in enumerate(self.watcher.concerned):
            name = file_name(node) + (f"-{number + 1}" if number else "")
            yield sandbox, self._kept / f"{name}.recording" if self._kept is not None else None

    def folder_for(self, node: pytest.Item) -> Path | None:
        """Return the folder for the recordings of a swept test, or None."""
        return self._kept / file_name(node) if self._kept is not None else None

    def end(self) -> None:
        """Release every world and server of the run."""
        self.watcher.end()
        self._stack.close()

    def _seeded_world(self, marked: Mapping[str, object]) -> _Seeded:
        """Return the seeded world for the settings of a test's marks, and create it at the first use.

        Raise ``BadSetting`` or ``Unreachable``.
        """
        key = repr(sorted(marked.items()))
        if key not in self._seeded:
            settings = merged(from_environment_and_file(declared(Settings), self._folder), marked)
            world = self._mode(self._stack, self.watcher, settings, marked)
            self.watcher.shares(world)
            self._seeded[key] = _Seeded(world, tuple(fault.name for fault in world.faults.list().faults))
        return self._seeded[key]


def _drift(sandbox: Sandbox, frozen_at: datetime | None) -> str:
    """Return a line with both times if the test's frozen time differs from the world's time."""
    now = sandbox.clock.now
    if frozen_at is None or abs(now - frozen_at) < timedelta(minutes=1):
        return ""
    times = f"test time {wire(frozen_at)}, world time {wire(now)}"
    return f'\ntime      {times}. With @pytest.mark.{MARK}(clock="{FOLLOW}") the world follows the test'


def file_name(node: pytest.Item) -> str:
    """Return a test's name as a valid file name."""
    return re.sub(r"[^\w.-]+", "_", node.nodeid)[-100:]


def _left_over(sandbox: Sandbox, strict: Iterable[str], seeded: Iterable[str]) -> list[str]:
    """Return a line for each leftover in a world, if its kind is in ``strict``.

    Leftovers are faults that were never applied, except those ``seeded``, scheduled actions that were never
    applied, and advice.
    """
    lines: list[str] = []
    if "faults" in strict:
        lines += idle_faults(sandbox, besides=frozenset(seeded))
    if "scheduled" in strict:
        waiting = (action for action in sandbox.scheduled.list().scheduled if action.applied is None)
        lines += (f"the scheduled action {scheduled_line(action)} was never applied" for action in waiting)
    if "advice" in strict:
        lines += (f"advice: {line}" for line in advice_lines(sandbox))
    return lines
