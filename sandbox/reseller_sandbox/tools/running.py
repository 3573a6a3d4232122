"""Runs of a program against one world: a command in any language, or a Python function."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from traceback import format_exc
from typing import IO, Annotated, Any

from msgspec import Meta, Struct, convert
from msgspec.json import decode
from msgspec.structs import force_setattr, replace

from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.registry.names import normalise
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import ACCOUNT, TIMEOUT, TOLD
from reseller_sandbox.tools.environment_setup import VIEW, Ground

#: How a pytest ends that has run: all tests passed, or some failed.
_HAS_RUN = (0, 1)

#: What is said of a program that does not use what it finds in its environment.
ASKED_NOTHING = (
    "the program has asked its world nothing: its address, and its key, secret and token, are in the "
    "environment (RESELLER_SANDBOX_URL, …)"
)

#: How much of what a program wrote is kept, from its end.
KEPT = 64 << 10

#: After how many seconds it is looked what a program has said.
_GLANCE = 0.25

#: For how many seconds a program may go on that was told to end.
_GRACE = 2.0


class ReportedSchedule(Struct, frozen=True, forbid_unknown_fields=True):
    """A name that a program reports as ordered, and the day of its expiry if the program reports that."""

    name: str
    expires: Annotated[str, Meta(min_length=len("2026-01-15"))] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "name", normalise(self.name))
        if self.expires is not None:
            force_setattr(self, "expires", self.expires[: len("2026-01-15")])


class Ended(Struct, frozen=True):
    """How a run ended: its exit ``status``, None if it took too long, and the end of its output.

    ``view`` are the orders that the program reports, None if it reports none. ``tests`` are the tests of a
    pytest that have their own worlds.
    """

    status: int | None
    output: str
    seconds: float
    view: tuple[ReportedSchedule, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all went well, in the program's own view."""
        return self.status == 0

    def __str__(self) -> str:
        """Return how it ended in a few words."""
        if self.status is None:
            return f"given up after {self.seconds:.0f} s"
        if self.status >= 0:
            return f"exit status {self.status}"
        with suppress(ValueError):
            return f"ended by {signal.Signals(-self.status).name}"
        return f"ended by signal {-self.status}"


class BadProgram(BadSetting):
    """A program cannot be swept or explored: it fails by itself, or sends no request."""

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


def _path() -> str:
    """Return where programs are looked for: last where this project's own commands are."""
    default = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([default, str(Path(sys.executable).parent)])


#: Takes a few words for each step that is done, and the number of steps once that is known.
Tell = Callable[[str, int | None], None]

#: Something that can be run against a world, again and again, by several threads at once.
Program = Callable[["Sandbox"], Ended]


class BadView(BadSetting):
    """The orders that a program reports cannot be read."""


#: Takes a report of a pytest that a tool runs.
_Hear = Callable[[Mapping[str, Any]], object]


@dataclass(eq=False)
class CommandProgram:
    """A command: it finds the world's address and credentials in its environment, see ``Ground.environment``.

    ``around`` are more variables for it. As a context manager it ends the runs that are under way. Raise
    ``BadSetting`` for a command that cannot be started.
    """

    words: Sequence[str]
    ground: Ground
    account: str = ACCOUNT
    timeout: float = TIMEOUT
    around: Mapping[str, str] = field(default_factory=dict)
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _over: bool = False

    def __enter__(self) -> CommandProgram:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._over = True
            running = tuple(self._running)
        for one in running:
            _end(one)

    def __call__(self, world: Sandbox) -> Ended:
        """Run the command against a world, and end all that it has begun."""
        tests: list[str] = []
        ended = self.heard(world, {}, lambda said: tests.extend(said.get("tests", ())))
        return replace(ended, tests=tuple(dict.fromkeys(tests)))

    def tests(self, done: str, said: Mapping[str, object], folder: Path, tell: _Hear) -> list[Any]:
        """Run a pytest with the options ``said``; return its report on each test that it has ``done``.

        That is ``swept`` or ``explored``. The recordings go to ``folder``, and ``tell`` gets the progress.
        Raise ``BadProgram`` if the pytest breaks off.
        """
        found: list[Any] = []

        def hear(news: Mapping[str, Any]) -> None:
            if done in news:
                found.append(_with_relative_paths(news[done], folder))
            elif "ran" in news:
                tell(news)

        with self.ground.world() as world:
            ended = self.heard(
                world, cli_options.variables({**said, cli_options.RECORDINGS: folder.absolute()}), hear
            )
        if ended.status not in _HAS_RUN:
            words = f"while its tests are {done} the program does not come to its end: {ended}"
            raise BadProgram(words, ended)
        return found

    def heard(self, world: Sandbox, more: Mapping[str, str], hear: _Hear) -> Ended:
        """Run the command with ``more`` in its environment; ``hear`` gets its reports on its tests.

        The timeout begins anew with each report.
        """
        began = stopwatch()
        with TemporaryFile() as output, TemporaryDirectory() as folder:
            view, told = Path(folder, "view.json"), Path(folder, "told")
            told.touch()
            variables = self.ground.environment(world, self.account, view)
            child = self._begin(
                {**os.environ, "PATH": _path(), **self.around, **variables, TOLD: str(told), **more}, output
            )
            try:
                with told.open("rb") as reports:
                    status = self._followed(child, reports, hear)
            finally:
                _end(child)
                with self._lock:
                    self._running.discard(child)
            return Ended(status, _tail(output), stopwatch() - began, _view_in(view))

    def _followed(self, child: subprocess.Popen[bytes], reports: IO[bytes], hear: _Hear) -> int | None:
        """Return the exit status of a program, None after the timeout."""
        since, status = stopwatch(), None
        while status is None and (left := since + self.timeout - stopwatch()) > 0:
            with suppress(subprocess.TimeoutExpired):
                status = child.wait(min(left, _GLANCE))
            for said in _news(reports):
                hear(said)
                since = stopwatch()
        return status

    def _begin(self, variables: dict[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._over:
                raise KeyboardInterrupt
            try:
                child = subprocess.Popen(
                    self.words,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # so that all that it begins can be ended with it
                )
            except (OSError, ValueError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise BadSetting(f"{self.words[0]} cannot be run: {reason}") from None
            self._running.add(child)
            return child


def function_program(function: Callable[[Sandbox], object]) -> Program:
    """Return a program that calls ``function`` with the world's ``Sandbox``. It fails by raising.

    A list that it returns are the orders that it reports: a mapping with ``name`` for each of them.
    """

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        try:
            said = function(world)
        except Exception:
            return Ended(1, format_exc()[-KEPT:], stopwatch() - began)
        try:
            view = convert(said, tuple[ReportedSchedule, ...]) if isinstance(said, list) else None
        except ValueError as problem:
            raise BadView(f"what the function returns is no list of orders: {problem}") from None
        return Ended(0, "", stopwatch() - began, view)

    return program


def _news(reports: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the whole lines that were reported since the last call."""
    read = reports.tell()
    whole, end, _ = reports.read().rpartition(b"\n")
    reports.seek(read + len(whole + end))
    yield from map(json.loads, whole.splitlines())


def _with_relative_paths(said: Mapping[str, Any], folder: Path) -> Any:
    """Return what a pytest reports, with the files in ``folder`` named as ``folder`` is."""
    absolute, given = (json.dumps(str(one))[1:-1] for one in (folder.absolute(), folder))
    return json.loads(json.dumps(said).replace(absolute, given))


def _view_in(file: Path) -> tuple[ReportedSchedule, ...] | None:
    """Return the orders in a file, None if there is no file; raise ``BadView``."""
    try:
        return decode(file.read_bytes(), type=tuple[ReportedSchedule, ...])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as problem:
        raise BadView(f"what the program wrote to {VIEW} cannot be read: {problem}") from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has begun, at first politely."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, how)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - KEPT))
    return output.read().decode("utf-8", "replace")
