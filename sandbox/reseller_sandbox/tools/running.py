"""Runs of a program against one world: a command in any language, or a Python function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from traceback import format_exc
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.testing import options
from reseller_sandbox.tools.defaults import ACCOUNT, TIMEOUT
from reseller_sandbox.tools.environment import environment
from reseller_sandbox.tools.hearing import TOLD, Hearing, with_near_files
from reseller_sandbox.tools.view import BadView, OrderSaid, read_view, view_in

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.tools.ground import Ground

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


class Ended(Struct, frozen=True):
    """How a run ended: its exit ``status``, None where it took too long, and the end of what it wrote.

    ``view`` is what it says that it has ordered, None where it says nothing of that. ``tests`` are the tests
    of a pytest that have worlds of their own.
    """

    status: int | None
    output: str
    seconds: float
    view: tuple[OrderSaid, ...] | None = None
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
    """A program cannot be swept or explored, as it fails by itself or asks nothing; ``ended`` says how."""

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


def _path() -> str:
    """Return where programs are looked for: last where this project's own commands are."""
    usual = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([usual, str(Path(sys.executable).parent)])


#: Something that can be run against a world, again and again, by several threads at once.
Program = Callable[["Sandbox"], Ended]


class CommandProgram:
    """A command: it finds the world's address and credentials in its environment, see ``environment``.

    ``around`` is what it finds there beside. As a context manager it ends what still runs. Raise
    ``BadSetting`` for a command that cannot be begun.
    """

    def __init__(
        self,
        words: Sequence[str],
        ground: Ground,
        *,
        account: str = ACCOUNT,
        timeout: float = TIMEOUT,
        around: Mapping[str, str] | None = None,
    ) -> None:
        self._words = tuple(words)
        self._ground = ground
        self._account = account
        self._timeout = timeout
        self._around = around or {}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._over = False

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

    def tests(
        self, done: str, said: Mapping[str, object], folder: Path, tell: Callable[[Mapping[str, Any]], object]
    ) -> list[Any]:
        """Run a pytest with the options ``said``; return what it says of each test that it has ``done``.

        That is ``swept`` or ``explored``. Its capsules go to ``folder``, and ``tell`` gets what it says of
        its progress. Raise ``BadProgram`` where it breaks off.
        """
        found: list[Any] = []

        def hear(news: Mapping[str, Any]) -> None:
            if done in news:
                found.append(with_near_files(news[done], folder))
            elif "ran" in news:
                tell(news)

        with self._ground.world() as world:
            ended = self.heard(world, options.variables({**said, options.CAPSULES: folder.absolute()}), hear)
        if ended.status not in _HAS_RUN:
            words = f"while its tests are {done} the program does not come to its end: {ended}"
            raise BadProgram(words, ended)
        return found

    def heard(
        self, world: Sandbox, more: Mapping[str, str], hear: Callable[[Mapping[str, Any]], object]
    ) -> Ended:
        """Run the command with ``more`` in its environment; ``hear`` is told whatever it says of its tests.

        It may take as long as it likes as long as it says something now and then.
        """
        began = stopwatch()
        with TemporaryFile() as output, TemporaryDirectory() as folder:
            view, told = Path(folder, "view.json"), Path(folder, "told")
            variables = environment(self._ground, world, self._account, view)
            child = self._begin(
                {**os.environ, "PATH": _path(), **self._around, **variables, TOLD: str(told), **more}, output
            )
            try:
                status = self._followed(child, Hearing(told), hear)
            finally:
                _end(child)
                with self._lock:
                    self._running.discard(child)
            return Ended(status, _tail(output), stopwatch() - began, view_in(view))

    def _followed(
        self, child: subprocess.Popen[bytes], hearing: Hearing, hear: Callable[[Mapping[str, Any]], object]
    ) -> int | None:
        """Return the exit status of a program; None where nothing has come from it for too long."""
        since, status = stopwatch(), None
        while status is None and (left := since + self._timeout - stopwatch()) > 0:
            with suppress(subprocess.TimeoutExpired):
                status = child.wait(min(left, _GLANCE))
            for said in hearing.news():
                hear(said)
                since = stopwatch()
        return status

    def _begin(self, variables: dict[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._over:
                raise KeyboardInterrupt
            try:
                child = subprocess.Popen(
                    self._words,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # so that all that it begins can be ended with it
                )
            except (OSError, ValueError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise BadSetting(f"{self._words[0]} cannot be run: {reason}") from None
            self._running.add(child)
            return child


class FunctionProgram:
    """A Python function that gets the world's ``Sandbox``; what it raises is how it fails.

    A list that it returns is what it says that it has ordered: a mapping with ``name`` for each order.
    """

    def __init__(self, function: Callable[[Sandbox], object]) -> None:
        self._function = function

    def __call__(self, world: Sandbox) -> Ended:
        """Call the function with a world."""
        began = stopwatch()
        try:
            said = self._function(world)
        except Exception:
            return Ended(1, format_exc()[-KEPT:], stopwatch() - began)
        if not isinstance(said, list):
            return Ended(0, "", stopwatch() - began)
        try:
            return Ended(0, "", stopwatch() - began, read_view(said))
        except ValueError as problem:
            raise BadView(f"what the function returns is no list of orders: {problem}") from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program and what it has begun, at first politely."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, how)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
            if how is signal.SIGKILL or not _has_group(child.pid):
                return


def _has_group(number: int) -> bool:
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - KEPT))
    return output.read().decode("utf-8", "replace")
