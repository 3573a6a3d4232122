"""Runs of a program against one world: a command in any language, or a Python function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from traceback import format_exc
from typing import IO, TYPE_CHECKING

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.environment import environment
from reseller_sandbox.tools.view import BadView, OrderSaid, read_view, view_in

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.tools.ground import Ground

#: How much of what a program wrote is kept, from its end.
KEPT = 64 << 10

#: For how many seconds a program may go on that was told to end.
_GRACE = 2.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its exit ``status``, None where it took too long, and the end of what it wrote.

    ``view`` is what it says that it has ordered, None where it says nothing of that.
    """

    status: int | None
    output: str
    seconds: float
    view: tuple[OrderSaid, ...] | None = None

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


def _path() -> str:
    """Return where programs are looked for: last where this project's own commands are."""
    usual = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([usual, str(Path(sys.executable).parent)])


#: Something that can be run against a world, again and again, by several threads at once.
Program = Callable[["Sandbox"], Ended]


class CommandProgram:
    """A command: it finds the world's address and credentials in its environment, see ``environment``.

    As a context manager it ends what still runs. Raises ``BadSetting`` for a command that cannot be begun.
    """

    def __init__(
        self, words: Sequence[str], ground: Ground, *, account: str = "main", timeout: float = 120.0
    ) -> None:
        self._words = tuple(words)
        self._ground = ground
        self._account = account
        self._timeout = timeout
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
        began = stopwatch()
        with TemporaryFile() as output, TemporaryDirectory() as folder:
            view = Path(folder, "view.json")
            told = environment(self._ground, world, self._account, view)
            child = self._begin({**os.environ, "PATH": _path(), **told}, output)
            try:
                status: int | None = child.wait(self._timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end(child)
                with self._lock:
                    self._running.discard(child)
            return Ended(status, _tail(output), stopwatch() - began, view_in(view))

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
        return True
    return True


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - KEPT))
    return output.read().decode("utf-8", "replace")
