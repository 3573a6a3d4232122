"""Run a program in a world: a command in any language, or a Python function."""

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
from reseller_sandbox.tools.defaults import ACCOUNT, REPORTS_FILE, TIMEOUT
from reseller_sandbox.tools.report import AnyReport, merged
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.names import normalise, to_unicode

if TYPE_CHECKING:
    from reseller_sandbox.control.worlds import ForkOptions

#: Environment variable with the file to which a program can write its orders.
VIEW = "RESELLER_SANDBOX_VIEW"

#: Exit statuses of a complete pytest run: all tests passed, or some failed.
_HAS_RUN = (0, 1)

#: The error message about a program that sends no request to its sandbox.
NO_REQUEST_SENT = (
    "the program sent no request to its sandbox; environment variables contain the address, key, secret and "
    "token of the sandbox (RESELLER_SANDBOX_URL, …)"
)

#: The beginning of the words about a program that did not end before its timeout.
GIVEN_UP = "given up after"

#: Maximum number of bytes of a program's output that are kept, counted from the end.
KEPT = 64 << 10

#: The folder of ``reseller-sandbox``, which is the last one in the PATH of programs.
_OWN_FOLDER = str(Path(sys.executable).parent)

#: Poll interval for reports, in seconds.
_GLANCE = 0.25

#: Seconds between SIGTERM and SIGKILL.
_GRACE = 2.0


class ReportedOrder(Struct, frozen=True, forbid_unknown_fields=True):
    """An order, or a sum of money, that a program reports.

    ``expires`` is the expiry date, None if the program does not report it. Without a ``name``, the amounts
    are sums: for a ``customer`` (a mail address or an id), or for all orders.
    """

    name: str = ""
    expires: Annotated[str, Meta(min_length=len("2026-01-15"))] | None = None
    customer: str | int = ""
    invoiced: Decimal | None = None
    credited: Decimal | None = None

    def __post_init__(self) -> None:
        if not self.name and self.invoiced is None and self.credited is None:
            raise ValueError(
                "an order requires at least one of these: a name, an invoiced amount, a credited amount"
            )
        if self.name:
            force_setattr(self, "name", normalise(self.name))
        force_setattr(self, "customer", str(self.customer))
        if self.expires is not None:
            force_setattr(self, "expires", self.expires[: len("2026-01-15")])

    def __str__(self) -> str:
        """Return the domain of an order. For a sum, return its customer, or ``all orders``."""
        return to_unicode(self.name) or (f"customer {self.customer}" if self.customer else "all orders")


class Ended(Struct, frozen=True):
    """How a run ended: its exit ``status``, the last part of its output, and its duration.

    The status is None after a timeout. ``view`` are the orders that the program reports, None without a
    report. ``tests`` are the ids of tests that have their own worlds, if the program is pytest.
    """

    status: int | None
    output: str
    seconds: float
    view: tuple[ReportedOrder, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the exit status means success."""
        return self.status == 0

    def __str__(self) -> str:
        """Return the exit status, the signal or the timeout as text."""
        if self.status is None:
            return f"{GIVEN_UP} {self.seconds:.0f} s"
        if self.status >= 0:
            return f"exit status {self.status}"
        with suppress(ValueError):
            return f"ended by {signal.Signals(-self.status).name}"
        return f"ended by signal {-self.status}"


class NothingTried(BadSetting):
    """A program gives a tool nothing to try, for example because it sends no request."""


class BadProgram(BadSetting):
    """A program cannot be swept or explored, for example because it fails without any fault."""

    def __init__(self, message: str, ended: Ended) -> None:
        super().__init__(message)
        self.ended = ended


#: A function that shows progress. It gets the text of a completed step, and the number of all steps if known.
Tell = Callable[[str, int | None], None]

#: A program that runs in a world and returns its exit status and output. Several threads call it at once.
Program = Callable[["Sandbox"], Ended]


#: A function that gets each report of a pytest process that a tool has started.
_OnReport = Callable[[Mapping[str, Any]], object]


def fork_of(prepared: Sandbox, **options: Unpack[ForkOptions]) -> Sandbox:
    """Return a fork of a prepared world for one run.

    All forks generate the same codes, because they have the same seed.
    """
    seed = prepared.worlds.get(prepared.transport.name).seed
    seeded: ForkOptions = {"seed": seed, **options}
    return prepared.fork(**seeded)


@dataclass(eq=False)
class CommandProgram:
    """A command that gets the address and the credentials of a world in environment variables.

    Each run is in a fork of ``prepared``. ``account`` is the account whose credentials the command gets.
    ``around`` are additional variables. When the context ends, all current runs are ended. A run raises
    ``BadSetting`` for an unknown account, and for a command that cannot be started.
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
        """Run the command in a world. When the command has ended, end its child processes."""
        tests: list[str] = []
        ended = self.run_with_reports(world, {}, lambda said: tests.extend(said.get("tests", ())))
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
        """Run pytest, and let pytest sweep or explore its tests. Return a report on each test.

        ``done`` is ``swept`` or ``explored``. ``jobs`` pytest processes share the runs of each test. The
        recordings are in ``folder``. Raise ``BadProgram`` if pytest does not run all its tests.
        """
        planned: list[int] = []  # the number of planned runs, for each test in each process

        def reports(job: int) -> list[AnyReport]:
            results: list[object] = []

            def on_report(news: Mapping[str, Any]) -> None:
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
                ended = self.run_with_reports(world, cli_options.variables(mine), on_report)
            if ended.status not in _HAS_RUN:
                raise BadProgram(f"pytest stopped before all its tests were {done}: {ended}", ended)
            return [convert(result, kind) for result in results]

        with mapping(jobs) as map_:
            whole = merged(report for each in map_(reports, range(1, jobs + 1)) for report in each)
        return [replace(report, part=part) for report in whole]

    def run_with_reports(self, world: Sandbox, more: Mapping[str, str], on_report: _OnReport) -> Ended:
        """Run the command with the additional environment variables ``more``.

        If the command is pytest, ``on_report`` gets each of its reports. Each report restarts the timeout.
        """
        began = stopwatch()
        with TemporaryFile() as output, TemporaryDirectory() as folder:
            view, report = Path(folder, "view.json"), Path(folder, "told")
            report.touch()
            variables = {
                **os.environ,
                "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), _OWN_FOLDER]),
                **self.around,
                **world.env,
                **self._credentials(world),
                VIEW: str(view),
                REPORTS_FILE: str(report),
                **more,
            }
            # A signal interrupts only the main thread. Another thread starts the process, because an
            # interrupted Popen leaves a process behind that nothing ends.
            with ThreadPoolExecutor(1) as starter:
                child = starter.submit(self._begin, variables, output).result()
            try:
                with report.open("rb") as reports:
                    status = self._followed(child, reports, on_report)
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

    def _followed(
        self, child: subprocess.Popen[bytes], reports: IO[bytes], on_report: _OnReport
    ) -> int | None:
        """Wait for a process, and pass on its reports. Return the exit status, None after the timeout."""
        since, status = stopwatch(), None
        while status is None and (left := since + self.timeout - stopwatch()) > 0:
            with suppress(subprocess.TimeoutExpired):
                status = child.wait(min(left, _GLANCE))
            for said in _news(reports):
                on_report(said)
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
                    start_new_session=True,  # so that _end can end all child processes
                )
            except (OSError, ValueError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise BadSetting(f"{self.words[0]} cannot be run: {reason}") from None
            self._running.add(child)
            return child


def function_program(function: Callable[[Sandbox], object]) -> Program:
    """Return a program that calls ``function`` with the ``Sandbox`` of a run.

    The run fails if the function raises an error, or ends with ``sys.exit`` and a status other than 0. If the
    function returns a list, the list is its report about its orders: each entry is a mapping with the keys of
    ``ReportedOrder``.
    """

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        try:
            said = function(world)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # also SystemExit, and the errors of pytest.fail and pytest.raises
            if isinstance(problem, SystemExit) and problem.code in (None, 0):
                return Ended(0, "", stopwatch() - began)
            return Ended(1, format_exc()[-KEPT:], stopwatch() - began)
        try:
            view = convert(said, tuple[ReportedOrder, ...]) if isinstance(said, list) else None
        except ValueError as problem:
            raise BadSetting(f"the function returned an invalid list of orders: {problem}") from None
        return Ended(0, "", stopwatch() - began, view)

    return program


@contextmanager
def mapping(jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a function like ``map`` that makes up to ``jobs`` calls at the same time.

    When the context ends, calls that have not started are cancelled.
    """
    if jobs == 1:
        yield map
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool.map
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _news(reports: IO[bytes]) -> Iterator[dict[str, object]]:
    """Yield the reports that were written since the last call, without an incomplete last line."""
    read = reports.tell()
    whole, end, _ = reports.read().rpartition(b"\n")
    reports.seek(read + len(whole + end))
    yield from map(json.loads, whole.splitlines())


def _with_relative_paths(said: Mapping[str, object], folder: Path) -> object:
    """Return a report of pytest in which the paths of the files in ``folder`` are relative."""
    absolute, relative = (json.dumps(str(path))[1:-1] for path in (folder.absolute(), folder))
    return json.loads(json.dumps(said).replace(absolute, relative))


def _view_in(file: Path) -> tuple[ReportedOrder, ...] | None:
    """Read the orders that a program reports in ``file``. Return None without a file.

    Raise ``BadSetting`` if the file is invalid.
    """
    try:
        return decode(file.read_bytes(), type=tuple[ReportedOrder, ...])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as problem:
        raise BadSetting(
            f"the program's list of orders, in the file of {VIEW}, is invalid: {problem}"
        ) from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process and its child processes: first with SIGTERM, then with SIGKILL.

    Windows has neither SIGKILL nor process groups, so only the process itself is ended there.
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
