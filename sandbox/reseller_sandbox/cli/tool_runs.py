"""Runs of ``sweep`` and ``explore``: their environment, their progress and their report."""

from __future__ import annotations

import json
import math
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import reduce
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console
from rich.progress import Progress

from reseller_sandbox.cli.base import REFUSED, UNUSABLE, give_up, say, say_json
from reseller_sandbox.cli.server_options import calling
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.reports.findings import write_junit, write_sarif
from reseller_sandbox.reports.tables import in_lines, show
from reseller_sandbox.server.server import CannotListen
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.cli_options import MODE, variable
from reseller_sandbox.tools.environment_setup import Ground, ground_at, own_ground
from reseller_sandbox.tools.explore import Explorer, ScheduleNotReached, tests_explored
from reseller_sandbox.tools.explore.report import ExplorationReport, merged
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import ASKED_NOTHING, BadProgram, CommandProgram, Tell
from reseller_sandbox.tools.sweep import AskedNothing, SweepWanted, sweep_program, tests_swept
from reseller_sandbox.tools.sweep.report import SweepReport, narrow
from reseller_sandbox.tools.sweep.troubles import kinds_named
from reseller_sandbox.values.text_checks import printable

#: Characters shown of the output of a program that does not pass.
_SHOWN = 4000


def sweep(
    asked: Mapping[str, Any],
    as_json: bool,
    kinds: str,
    invariants: tuple[str, ...],
    extra: Sequence[str],
    junit: Path | None,
    sarif: Path | None,
    **options: Any,
) -> None:
    """Sweep a program, and each of its tests that has its own worlds."""
    reports: list[SweepReport] = []
    no_requests: AskedNothing | None = None
    with _running("sweep", **asked) as (ground, program, tell):
        chosen = dict.fromkeys([*kinds_named(kinds), *extra])
        sweep_options = SweepWanted(kinds=tuple(chosen), invariants=named(invariants), **options)
        try:
            report = sweep_program(
                program, ground, sweep_options, lambda report, words: tell(words, report.planned + 1)
            )
            reports, tests = [report], report.tests
        except AskedNothing as problem:
            no_requests, tests = problem, problem.ended.tests
        except BadProgram as problem:  # one red test is no reason not to sweep the others
            if not problem.ended.tests:
                raise
            tests = problem.ended.tests
        if tests:
            reports += tests_swept(program, sweep_options, invariants, tell)
        if no_requests is not None and not reports:
            raise no_requests
    _write_files("sweep", reports, asked["words"], junit, sarif)
    _report(reports, as_json, "sweeps")


def _write_files(
    tool: str,
    reports: Sequence[SweepReport | ExplorationReport],
    words: Sequence[str],
    junit: Path | None,
    sarif: Path | None,
) -> None:
    """Write the reports for continuous integration. An impossible file ends the process with one line."""
    cases = [case for report in reports for case in report.cases(shlex.join(words))]
    try:
        if junit is not None:
            write_junit(junit, tool, cases)
        if sarif is not None:
            write_sarif(sarif, tool, cases)
    except BadSetting as problem:
        give_up(str(problem))


def explore(
    asked: Mapping[str, Any],
    as_json: bool,
    invariants: tuple[str, ...],
    junit: Path | None,
    sarif: Path | None,
    **options: Any,
) -> None:
    """Explore a program, and each of its tests that has its own worlds."""
    with _running("explore", **asked) as (ground, program, tell):
        explorer = Explorer(ground=ground, program=program, invariants=named(invariants), **options)
        reports, tests = _explored(explorer, tell)
        if tests:
            reports += tests_explored(program, explorer, invariants, options["folder"], tell)
    _write_files("explore", reports, asked["words"], junit, sarif)
    _report(reports, as_json, "explorations")


def merge_explorations(files: Sequence[str], as_json: bool, junit: Path | None, sarif: Path | None) -> None:
    """Report the parts of an exploration, which are JSON reports in ``files``, as a whole."""
    parts = _parts(files, "explorations", ExplorationReport.from_json)
    whole = [merged(reports) for reports in parts]
    _write_files("explore", whole, ["explore"], junit, sarif)
    _report(whole, as_json, "explorations")


def merge_sweeps(files: Sequence[str], as_json: bool, junit: Path | None, sarif: Path | None) -> None:
    """Report the parts of a sweep, which are JSON reports in ``files``, as a whole."""
    parts = _parts(files, "sweeps", SweepReport.from_json)
    whole = [reduce(SweepReport.beside, reports) for reports in parts]
    _write_files("sweep", whole, ["sweep"], junit, sarif)
    _report(whole, as_json, "sweeps")


_Report = TypeVar("_Report", SweepReport, ExplorationReport)


def _parts(
    files: Sequence[str], together: str, from_json: Callable[[Mapping[str, Any]], _Report]
) -> Iterable[list[_Report]]:
    """Return the reports in files, by their test. An unusable file ends the process with one line."""
    by_test: dict[str, list[_Report]] = {}
    for file in files:
        try:
            data = json.loads(Path(file).read_text("utf-8"))
            for part in data.get(together, [data]):
                report = from_json(part)
                by_test.setdefault(report.test, []).append(report)
        except (OSError, ValueError, AttributeError) as problem:
            give_up(f"{file} is not a report with --json: {problem}")
    return by_test.values()


def _explored(explorer: Explorer, tell: Tell) -> tuple[list[ExplorationReport], Sequence[str]]:
    """Explore the program. Return its report, and the names of the tests that have their own worlds.

    The list of reports is empty if the program itself sends no requests. Raise ``BadSetting`` if there are
    no tests either.
    """
    try:
        exploration = explorer.explore(tell)
    except ScheduleNotReached as problem:
        if problem.ended.passed and problem.ended.tests:
            return [], problem.ended.tests
        raise
    tests = [test for schedule in exploration.schedules for test in schedule.ended.tests]
    if exploration.never_passes and not explorer.schedule and not (tests and not exploration.actors):
        return [
            ExplorationReport(data=exploration.to_json(), problem="the program fails in every schedule")
        ], ()
    if not exploration.actors and not tests:
        raise BadSetting(ASKED_NOTHING)
    return [ExplorationReport(data=exploration.to_json())] if exploration.actors else [], tests


@contextmanager
def _running(
    tool: str,
    words: Sequence[str],
    account: str,
    timeout: float,
    url: str | None,
    world: str | None,
    ca: str | None,
    settings: Mapping[str, Any],
    said: Mapping[str, str],
) -> Iterator[tuple[Ground, CommandProgram, Tell]]:
    """Yield three values: the environment, the program, and a progress function.

    SIGTERM ends the runs. An invalid setting or address ends the process with one line.
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        with ExitStack() as stack:
            if url is None:
                ground = stack.enter_context(own_ground(settings))
                variables = said  # so that pytest makes the worlds of its tests with the same settings
            else:
                server = HttpTransport(url, world or "", settings.get("control_token"), authority=ca)
                ground = stack.enter_context(ground_at(stack.enter_context(calling(server))))
                variables = {variable(MODE): ground.prepared.url}
            program = stack.enter_context(CommandProgram(words, ground, account, timeout, variables))
            yield ground, program, stack.enter_context(_progress(tool))
    except (BadSetting, CannotListen) as problem:
        if isinstance(problem, BadProgram):
            click.echo(problem.ended.output[-_SHOWN:], err=True, nl=False)
        give_up(str(problem))
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


@contextmanager
def _progress(tool: str) -> Iterator[Tell]:
    """Show a progress bar if standard error is a terminal. Yield the function that reports a step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(tool, total=None)

        def tell(words: str, total: int | None) -> None:
            bar.update(task, advance=1, total=total, description=f"{tool}: {words}"[:60])

        yield tell


def _report(reports: Sequence[SweepReport | ExplorationReport], as_json: bool, together: str) -> None:
    """Print the reports on a program and on its tests, and set the exit status from their findings.

    As JSON, several reports are listed under the key ``together``, with the sums of their numbers.
    """
    if as_json and len(reports) == 1 and not reports[0].test:
        say_json(reports[0].json())
    elif as_json:
        parts = [report.json() for report in reports]
        total = Counter[str]()
        for part in parts:
            total.update({key: value for key, value in part.items() if type(value) is int})
        findings = [{"test": report.test, **finding} for report in reports for finding in report.findings]
        say_json({**total, "findings": findings, together: parts})
    else:
        _print_reports(reports)
    if reports and reports[0].problem and not reports[0].test:
        give_up(reports[0].problem)
    if any(report.findings for report in reports):
        raise SystemExit(REFUSED)
    if any(report.problem for report in reports):
        raise SystemExit(UNUSABLE)


def _print_reports(reports: Sequence[SweepReport | ExplorationReport]) -> None:
    room = get_terminal_size().columns if sys.stdout.isatty() else math.inf
    for number, report in enumerate(reports):
        if number:
            say("")
        if report.test:
            say(printable(report.test))
        if tables := report.tables():
            if max(map(len, in_lines(tables))) > room:
                say("\n".join(map(printable, narrow(tables))))
            else:
                show(tables)
            say("")
        say("\n".join(map(printable, report.lines())))
