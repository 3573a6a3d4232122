"""The sandboxes of a test run: a seeded world for each set of settings, and a fork of it for each test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias, Unpack
from urllib.parse import urlsplit

import pytest
from msgspec import Struct

from reseller_sandbox.config_sources import around, over
from reseller_sandbox.control.failure_report import advice_lines, failure_report, fault_line, scheduled_line
from reseller_sandbox.control.worlds import ForkOptions
from reseller_sandbox.registry.parameters import declared
from reseller_sandbox.registry.refusals import Refused
from reseller_sandbox.registry.text_checks import complaint, nearest
from reseller_sandbox.remote import HttpTransport, Unreachable
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting, ServiceSettings, Settings

MARK = "reseller_sandbox"

#: What can be left over in a world, and fail its test.
LEFT_OVER = ("faults", "scheduled", "advice")


def wanted(node: pytest.Item, strict: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the settings that the marks of a test give, and what of ``LEFT_OVER`` fails it.

    Of the marks of a function, its class and its module the nearest counts; assumptions count one by one.
    ``strict`` holds where no mark says otherwise. Raise ``BadSetting``.
    """
    told: dict[str, Any] = {}
    for mark in reversed(list(node.iter_markers(MARK))):
        if mark.args:
            raise BadSetting(
                f"@pytest.mark.{MARK} takes its settings by their names, such as fixture='empty'; "
                f"{mark.args[0]!r} stands without one"
            )
        told = over(told, _known(mark.kwargs))
    if "strict" in told:
        strict = read_strict(told.pop("strict"))
    return told, strict


def read_strict(given: object) -> frozenset[str]:
    """Return what of ``LEFT_OVER`` is meant: names, a text of them, True for all. Raise ``BadSetting``."""
    if isinstance(given, bool):
        return frozenset(LEFT_OVER if given else ())
    names = given.replace(",", " ").split() if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise BadSetting(f"strict must be some of {', '.join(LEFT_OVER)}, True or False")
    for name in (names := list(names)):
        if name not in LEFT_OVER:
            known = ", ".join(LEFT_OVER)
            raise BadSetting(f"strict must be some of {known}; it is {name!r}{nearest(str(name), LEFT_OVER)}")
    return frozenset(names)


def _known(told: Mapping[str, Any]) -> Mapping[str, Any]:
    known = (*(one.name for one in declared(Settings)), "strict")
    strange = [f"{one} is not known here{nearest(one, known)}" for one in told if one not in known]
    if strange:
        raise BadSetting(complaint(strange))
    return told


class Watched(Sandbox):
    """A sandbox in a test run: its forks are remembered until the test that made them is over."""

    _watcher: Watcher

    def by(self, watcher: Watcher) -> Self:
        """Return itself, watched by ``watcher``, and its forks with it."""
        self._watcher = watcher
        return self

    def fork(self, **wanted: Unpack[ForkOptions]) -> Self:
        """Return a sandbox with a new world, as ``Sandbox.fork`` does."""
        made = super().fork(**wanted)
        self._watcher.made(made)
        return made

    def close(self) -> None:
        """Give the world up; it is still there for what is said of the test, if that fails."""
        if not self._watcher.keeps(self):
            self.finish()

    def _tell(self, error: Exception) -> None:
        """Leave to the report of the test what happened."""

    def finish(self) -> None:
        """Give the world up at once."""
        with suppress(Unreachable):  # a server that is gone has given up its worlds
            super().close()


class Watcher:
    """Knows the worlds of the test that runs, and keeps them until it is over.

    ``observe`` is called with all that there are when a test ends.
    """

    observe: Callable[[Sequence[Watched]], None] | None = None

    def __init__(self) -> None:
        self._runs = False
        #: The worlds that are there, those of them that are given up, and the running test's own.
        self._open: dict[Watched, None] = {}
        self._closed: dict[Watched, None] = {}
        self._own: dict[Watched, None] = {}

    def begin(self) -> None:
        """Have a test begin, which is set up, called and torn down until ``end``."""
        self._runs = True

    def end(self) -> None:
        """Have the test end: what it has given up is gone now."""
        if self.observe is not None:
            self.observe(list(self._open))
        self._runs = False
        closed, self._closed, self._own = self._closed, {}, {}
        for one in closed:
            self._open.pop(one, None)
            one.finish()

    def made(self, sandbox: Watched) -> None:
        """Remember a new world; it is the running test's own."""
        self._open[sandbox] = self._own[sandbox] = None

    def shares(self, sandbox: Watched) -> None:
        """Take a world for no test's own, though it was made while one runs."""
        self._own.pop(sandbox, None)

    def keeps(self, sandbox: Watched) -> bool:
        """Whether a world that is given up now is needed until the test is over."""
        if self._runs:
            self._closed[sandbox] = None
        else:
            self._open.pop(sandbox, None)
        return self._runs

    @property
    def concerned(self) -> list[Watched]:
        """The worlds that the running test has made, and of others those that have seen requests."""
        others = [one for one in self._open if one not in self._own]
        return [*self._own, *(one for one in others if _has_seen_requests(one))]


def _has_seen_requests(sandbox: Sandbox) -> bool:
    with suppress(Refused, Unreachable):
        return bool(sandbox.journal.find(limit=0).matching)
    return False


#: The modes by name; an address is the third.
MODES = ("process", "server")

#: What is told to a server when it starts, and cannot be given to a world of it.
OF_A_SERVER = frozenset(one.name for one in declared(ServiceSettings))


#: A place for worlds: returns a seeded one, in which no test acts and which the stack gives up at the end of
#: the run. Of the mappings the first has all that is told, by the environment and a file too, and the second
#: what marks say alone. Raise ``BadSetting``, and ``Unreachable`` where no server answers.
Mode: TypeAlias = Callable[[ExitStack, Watcher, Mapping[str, Any], Mapping[str, Any]], Watched]


def mode_of(given: str) -> Mode:
    """Return the mode that an option names; raise ``BadSetting``."""
    if given == "process":
        return _in_process
    if given == "server":
        return _own_server
    parts = urlsplit(given)
    if parts.scheme in ("http", "https") and parts.netloc:
        return partial(_running, given)
    raise BadSetting(
        f"the mode must be process, server or the address of a server; it is {given[:80]!r}"
        f"{nearest(given, MODES)}"
    )


def _in_process(
    _stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], _marked: Mapping[str, Any]
) -> Watched:
    """Return the default world of a sandbox in the process of the tests, reached without a socket."""
    return Watched(**around).by(watcher)


def _own_server(
    stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], _marked: Mapping[str, Any]
) -> Watched:
    """Return the default world of a server that runs on a port of its own as long as the tests do."""
    sandbox = Watched(**around)
    server = stack.enter_context(sandbox.serve())
    transport = HttpTransport(server.url, token=sandbox.settings.control_token)
    stack.callback(transport.close)
    return Watched.through(transport, sandbox.header_prefix).by(watcher)


def _running(
    url: str, stack: ExitStack, watcher: Watcher, around: Mapping[str, Any], marked: Mapping[str, Any]
) -> Watched:
    """Return a world like the one that a server at ``url`` began with, or one with the settings told."""
    late = sorted(OF_A_SERVER.intersection(marked))
    if late:
        raise BadSetting(
            f"{', '.join(late)}: a server is told so when it starts, and the one at {url} "
            "has started; take the mode process or server"
        )
    prefix = Settings(**around).header_prefix
    transport = HttpTransport(url, token=around.get("control_token"))
    stack.callback(transport.close)
    theirs = Watched.through(transport, prefix).by(watcher)
    told = {name: value for name, value in around.items() if name not in OF_A_SERVER}
    wanted = _as_told(told) if told else {"point": "start", "frozen": True}
    return stack.enter_context(theirs.fork(**wanted))


def _as_told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a fork is told to be the world that ``settings`` describe, whatever the server has."""
    like = Watched(**settings)
    assumed = {one.name: one.value for one in like.assumptions.list().assumptions}
    return {"state": like.export(), "frozen": like.clock.frozen, "assume": assumed}


class _Seeded(Struct, frozen=True):
    """A seeded world, and the names of the faults that it was seeded with."""

    sandbox: Watched
    faults: tuple[str, ...]


class Sandboxes:
    """The worlds of a test run: fork one, seed it in a fixture of any scope, fork that again.

    ``folder`` is where a file with settings is looked for, ``kept`` where recordings of failed tests are
    left.
    """

    def __init__(self, mode: Mode, folder: Path, strict: frozenset[str], kept: Path | None) -> None:
        self.watcher = Watcher()
        self._mode = mode
        self._folder = folder
        self._strict = strict
        self._kept = kept
        self._stack = ExitStack()
        self._seeded: dict[str, _Seeded] = {}
        self._lent: Sandbox | None = None

    def fork(self, **wanted: Unpack[ForkOptions]) -> Sandbox:
        """Return a sandbox with a new world, seeded as the run says; takes what ``Worlds.fork`` takes.

        It goes with its ``with``, or with ``close``. Fork it again, and each fork begins where it stands.
        """
        return self.of().fork(**wanted)

    def of(self, **settings: Any) -> Sandbox:
        """Return the world that is forked for tests with these settings, the same one each time.

        Fork it rather than act in it. Takes what the mark takes; raise ``BadSetting``.
        """
        return self._begun(settings).sandbox

    @contextmanager
    def world_of(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Provide the world of one test; end the test in one line where that cannot be."""
        if self._lent is not None:
            yield self._lent
            return
        with self.prepared(node) as made:
            yield made

    def prepared(self, node: pytest.Item) -> Sandbox:
        """Return a new world for a test; end the test in one line where that cannot be."""
        try:
            begun = self._begun(wanted(node, self._strict)[0])
            return begun.sandbox.fork(seed=node.nodeid)  # what is drawn in a test is the same in any order
        except (BadSetting, Unreachable, Refused) as problem:
            problem_told = str(problem)
        pytest.fail(f"the sandbox of this test: {problem_told}", pytrace=False)

    @contextmanager
    def apart(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Provide a world to fork for each of the runs of a test; what a run has made goes with it."""
        self.watcher.end()
        prepared = self.prepared(node)
        try:
            yield prepared
        finally:
            prepared.close()
            self.watcher.begin()

    @contextmanager
    def lending(self, world: Sandbox) -> Iterator[None]:
        """Have the test that runs while the context lasts act in a world that somebody else looks after."""
        self._lent = world
        try:
            yield
        finally:
            self._lent = None

    @property
    def is_lent(self) -> bool:
        """Whether somebody else looks after the world of the test that runs."""
        return self._lent is not None

    def left_over(self, node: pytest.Item) -> list[str]:
        """Return a line for each thing that is left over in a test's worlds, and must not be."""
        try:
            settings, strict = wanted(node, self._strict)
            if not strict or self.is_lent:
                return []
            seeded = self._begun(settings).faults
            return [line for one in self.watcher.concerned for line in _left_over(one, strict, seeded)]
        except BadSetting as problem:
            return [f"the sandbox of this test: {problem}"]

    def sections(self, node: pytest.Item) -> Iterator[tuple[str, str]]:
        """Yield a title and a text for each world that a failed test concerns."""
        for number, one in enumerate(self.watcher.concerned):
            name = _file_name(node) + (f"-{number + 1}" if number else "")
            file = self._kept / f"{name}.recording" if self._kept is not None else None
            try:
                told = failure_report(one, one.transport.name, file)
            except Unreachable as problem:
                told = f"nothing can be told of this world: {problem}"
            yield f"reseller sandbox: world {one.transport.name}", told

    def folder_for(self, node: pytest.Item) -> Path | None:
        """Return where the recordings of a swept test are left."""
        return self._kept / _file_name(node) if self._kept is not None else None

    def end(self) -> None:
        """Give up every world and server of the run."""
        self.watcher.end()
        self._stack.close()

    def _begun(self, marked: Mapping[str, Any]) -> _Seeded:
        """Return the seeded world for what marks say; raise ``BadSetting`` or ``Unreachable``."""
        key = repr(sorted(marked.items()))
        if key not in self._seeded:
            told = over(around(declared(Settings), self._folder), marked)
            made = self._mode(self._stack, self.watcher, told, marked)
            self.watcher.shares(made)
            self._seeded[key] = _Seeded(made, tuple(one.name for one in made.faults.list().faults))
        return self._seeded[key]


def _file_name(node: pytest.Item) -> str:
    return re.sub(r"[^\w.-]+", "_", node.nodeid)[-100:]


def _left_over(sandbox: Sandbox, strict: Iterable[str], seeded: Iterable[str]) -> list[str]:
    """Return a line for all of ``strict`` that is left over in a world.

    That is a fault that struck nothing, but for those ``seeded``, a scheduled action that never struck, or
    advice.
    """
    lines: list[str] = []
    if "faults" in strict:
        known = frozenset(seeded)
        idle = (one for one in sandbox.faults.list().faults if not one.applied and one.name not in known)
        lines += (f"the fault {fault_line(one)} was armed and never struck" for one in idle)
    if "scheduled" in strict:
        waiting = (one for one in sandbox.scheduled.list().scheduled if one.applied is None)
        lines += (f"the scheduled action {scheduled_line(one)} never struck" for one in waiting)
    if "advice" in strict:
        lines += (f"advice: {one}" for one in advice_lines(sandbox))
    return lines
