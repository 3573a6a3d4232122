"""Runs of a program in a world: a command in any language, or a Python function."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock
from traceback import format_exc
from typing import IO, TYPE_CHECKING, Annotated, Any, Unpack

from msgspec import Meta, Struct, convert
from msgspec.json import decode
from msgspec.structs import force_setattr, replace

from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import credentials_of
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import ACCOUNT, TIMEOUT, TOLD
from reseller_sandbox.tools.report import AnyReport, merged
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.names import normalise, to_unicode

if TYPE_CHECKING:
    from reseller_sandbox.control.worlds import ForkOptions

#: The variable with the file that a program can write its orders to.
VIEW = "RESELLER_SANDBOX_VIEW"

#: Exit statuses of a complete pytest run: all tests passed, or some failed.
_HAS_RUN = (0, 1)

#: The message about a program that does not use its environment.
ASKED_NOTHING = (
    "the program has asked its world nothing: its address, and its key, secret and token, are in the "
    "environment (RESELLER_SANDBOX_URL, …)"
)

#: The most bytes of output that are kept, from the end.
KEPT = 64 << 10

#: Poll interval for reports, in seconds.
_GLANCE = 0.25

#: Seconds between SIGTERM and SIGKILL.
_GRACE = 2.0


class ReportedOrder(Struct, frozen=True, forbid_unknown_fields=True):
    """An order that a program reports, with amounts of money, or amounts alone.

    ``expires`` is the day of its expiry, None if the program does not report that. Without a ``name``, the
    amounts are the sums for a ``customer`` (a mail address or an id), or for all orders.
    """

    name: str = ""
    expires: Annotated[str, Meta(min_length=len("2026-01-15"))] | None = None
    customer: str | int = ""
    invoiced: Decimal | None = None
    credited: Decimal | None = None

    def __post_init__(self) -> None:
        if not self.name and self.invoiced is None and self.credited is None:
            raise ValueError("requires a name, or an amount that is invoiced or credited")
        if self.name:
            force_setattr(self, "name", normalise(self.name))
        force_setattr(self, "customer", str(self.customer))
        if self.expires is not None:
            force_setattr(self, "expires", self.expires[: len("2026-01-15")])

    def __str__(self) -> str:
        """Return the subject of the order."""
        return to_unicode(self.name) or (f"customer {self.customer}" if self.customer else "all orders")


class Ended(Struct, frozen=True):
    """The end of a run: its exit ``status`` and the end of its output.

    The status is None after a timeout. ``view`` are the orders that the program reports, None if it reports
    none. ``tests`` are the tests of a pytest run that have their own worlds.
    """

    status: int | None
    output: str
    seconds: float
    view: tuple[ReportedOrder, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the program reports success."""
        return self.status == 0

    def __str__(self) -> str:
        """Return the end of the run in a few words."""
        if self.status is None:
            return f"given up after {self.seconds:.0f} s"
        if self.status >= 0:
            return f"exit status {self.status}"
        with suppress(ValueError):
            return f"ended by {signal.Signals(-self.status).name}"
        return f"ended by signal {-self.status}"


class BadProgram(BadSetting):
    """A program that cannot be swept or explored.

    It fails without any fault, or sends no request.
    """

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


def _path() -> str:
    """Return the PATH for programs, with this project's commands last."""
    default = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([default, str(Path(sys.executable).parent)])


#: Takes a few words for each completed step, and the number of steps once it is known.
Tell = Callable[[str, int | None], None]

#: Something that can run in a world repeatedly, from several threads at once.
Program = Callable[["Sandbox"], Ended]


class BadView(BadSetting):
    """The orders that a program reports cannot be read."""


#: Takes a report of a pytest that a tool runs.
_Hear = Callable[[Mapping[str, Any]], object]


def fork_of(prepared: Sandbox, **options: Unpack[ForkOptions]) -> Sandbox:
    """Return a fork of a prepared world for one run.

    All forks generate the same codes, because they have the same seed.
    """
    seed = prepared.worlds.get(prepared.transport.name).seed
    seeded: ForkOptions = {"seed": seed, **options}
    return prepared.fork(**seeded)


@dataclass(eq=False)
class CommandProgram:
    """A command that gets its world's address and credentials in its environment.

    ``prepared`` is the world of which each run gets a fork, and ``account`` the account whose credentials the
    program gets. ``around`` are more variables for the command. On exit, the context manager ends all current
    runs. Raise ``BadSetting`` for an unknown account, and for a command that cannot be started.
    """

    words: Sequence[str]
    prepared: Sandbox
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
        for child in running:
            _end(child)

    def __call__(self, world: Sandbox) -> Ended:
        """Run the command in a world, then end all its child processes."""
        tests: list[str] = []
        ended = self.heard(world, {}, lambda said: tests.extend(said.get("tests", ())))
        return replace(ended, tests=tuple(dict.fromkeys(tests)))

    def tests(
        self,
        kind: type[AnyReport],
        done: str,
        options: Mapping[str, object],
        *,
        jobs: int,
        part: tuple[int, int],
        folder: Path,
        tell: Tell,
    ) -> list[AnyReport]:
        """Have pytest sweep or explore its own tests, each in its process. Return a report on each test.

        ``done`` is ``swept`` or ``explored``. ``jobs`` processes share the runs of a test. The recordings go
        to ``folder``, and ``tell`` gets the progress. Raise ``BadProgram`` if pytest is interrupted.
        """
        planned: list[int] = []  # of all processes, because each reports on a separate thread

        def reports(job: int) -> list[AnyReport]:
            results: list[Any] = []

            def hear(news: Mapping[str, Any]) -> None:
                if done in news:
                    results.append(_with_relative_paths(news[done], folder))
                elif "ran" in news:
                    planned.append(news.get("planned", 0))
                    tell(news["ran"], sum(planned) or None)

            mine = {
                **options,
                cli_options.PART: cli_options.part_of_job(part, job, jobs),
                cli_options.RECORDINGS: folder.absolute(),
            }
            with fork_of(self.prepared) as world:
                ended = self.heard(world, cli_options.variables(mine), hear)
            if ended.status not in _HAS_RUN:
                raise BadProgram(f"pytest stopped before all its tests were {done}: {ended}", ended)
            return [convert(result, kind) for result in results]

        with mapping(jobs) as map_:
            return merged(report for each in map_(reports, range(1, jobs + 1)) for report in each)

    def heard(self, world: Sandbox, more: Mapping[str, str], hear: _Hear) -> Ended:
        """Run the command with ``more`` in its environment.

        ``hear`` gets its reports on its tests. Each report restarts the timeout.
        """
        began = stopwatch()
        with TemporaryFile() as output, TemporaryDirectory() as folder:
            view, report = Path(folder, "view.json"), Path(folder, "told")
            report.touch()
            child = self._begin(
                {
                    **os.environ,
                    "PATH": _path(),
                    **self.around,
                    **world.env,
                    **self._credentials(world),
                    VIEW: str(view),
                    TOLD: str(report),
                    **more,
                },
                output,
            )
            try:
                with report.open("rb") as reports:
                    status = self._followed(child, reports, hear)
            finally:
                _end(child)
                with self._lock:
                    self._running.discard(child)
            return Ended(status, _tail(output), stopwatch() - began, _view_in(view))

    def _credentials(self, world: Sandbox) -> Mapping[str, str]:
        try:
            return credentials_of(world.accounts.get(self.account))
        except Refused as refused:
            raise BadSetting(refused.message) from None

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
                    start_new_session=True,  # so that its child processes can be ended, too
                )
            except (OSError, ValueError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise BadSetting(f"{self.words[0]} cannot be run: {reason}") from None
            self._running.add(child)
            return child


def function_program(function: Callable[[Sandbox], object]) -> Program:
    """Return a program that calls ``function`` with the world's ``Sandbox``.

    The run fails if the function raises an error. If it returns a list, these are the orders that it reports:
    a mapping with ``name`` for each.
    """

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        try:
            said = function(world)
        except Exception:
            return Ended(1, format_exc()[-KEPT:], stopwatch() - began)
        try:
            view = convert(said, tuple[ReportedOrder, ...]) if isinstance(said, list) else None
        except ValueError as problem:
            raise BadView(f"the function does not return a list of orders: {problem}") from None
        return Ended(0, "", stopwatch() - began, view)

    return program


@contextmanager
def mapping(jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a ``map`` that makes ``jobs`` calls at once.

    At the end of the context, calls that have not started are cancelled.
    """
    if jobs == 1:
        yield map
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool.map
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _news(reports: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the complete lines that were reported since the last call."""
    read = reports.tell()
    whole, end, _ = reports.read().rpartition(b"\n")
    reports.seek(read + len(whole + end))
    yield from map(json.loads, whole.splitlines())


def _with_relative_paths(said: Mapping[str, Any], folder: Path) -> Any:
    """Return a pytest report with absolute paths in ``folder`` made relative."""
    absolute, relative = (json.dumps(str(path))[1:-1] for path in (folder.absolute(), folder))
    return json.loads(json.dumps(said).replace(absolute, relative))


def _view_in(file: Path) -> tuple[ReportedOrder, ...] | None:
    """Return the orders in a file, None if there is no file. Raise ``BadView``."""
    try:
        return decode(file.read_bytes(), type=tuple[ReportedOrder, ...])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as problem:
        raise BadView(f"what the program wrote to {VIEW} cannot be read: {problem}") from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a program and its child processes: first with SIGTERM, then with SIGKILL.

    On Windows, which has neither SIGKILL nor process groups, end only the program.
    """
    for is_last in (False, True):
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL if is_last else signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - KEPT))
    return output.read().decode("utf-8", "replace")
