"""Runs of ``sweep`` and ``explore``: their environment, their progress and their report."""

from __future__ import annotations

import json
import math
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NamedTuple, NoReturn

import click
from msgspec.structs import replace
from rich.console import Console
from rich.progress import Progress

from reseller_sandbox.cli.base import REFUSED, UNTRIED, UNUSABLE, give_up, say_json
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.reports.findings import write_junit, write_sarif
from reseller_sandbox.reports.tables import in_lines, show
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools.cli_options import MODE, variable
from reseller_sandbox.tools.explore import Explorer, ScheduleNotReached, tests_explored
from reseller_sandbox.tools.explore.report import Exploration
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.report import Report, merged, require_whole
from reseller_sandbox.tools.running import NO_REQUEST_SENT, BadProgram, CommandProgram, NothingTried, Tell
from reseller_sandbox.tools.sweep import SECOND_FAULT, SentNoRequest, SweepWanted, sweep_program, tests_swept
from reseller_sandbox.tools.sweep.report import SweepReport, narrow
from reseller_sandbox.tools.sweep.troubles import kinds_named
from reseller_sandbox.values.text_checks import plural, printable

#: For each tool: the class of its report, and the JSON key for a list of reports.
_TOOLS: Mapping[str, tuple[type[Report], str]] = {
    "sweep": (SweepReport, "sweeps"),
    "explore": (Exploration, "explorations"),
}

#: Announce the duration of runs that take at least this many seconds.
_LONG = 60

#: Number of characters printed of a failed program's output. They are the last characters.
_SHOWN = 4000


class Output(NamedTuple):
    """Output of a tool: a report for people or as JSON, and files for continuous integration.

    ``words`` are the program and its arguments. With ``--merge``, they are the files of the parts.
    """

    tool: str
    words: Sequence[str]
    as_json: bool
    junit: Path | None
    sarif: Path | None

    def print(self, reports: Sequence[Report]) -> None:
        """Write the files, print the reports, and set the exit status from the findings."""
        cases = [case for report in reports for case in report.cases(shlex.join(self.words))]
        if self.junit is not None:
            write_junit(self.junit, self.tool, cases)
        if self.sarif is not None:
            write_sarif(self.sarif, self.tool, cases)
        if self.as_json:
            say_json(_as_json(reports, _TOOLS[self.tool][1]))
        else:
            _print_reports(reports)
        if reports and reports[0].problem and not reports[0].test:
            give_up(reports[0].problem)
        if any(report.summary()["findings"] for report in reports):
            raise SystemExit(REFUSED)
        if any(report.problem for report in reports):
            raise SystemExit(UNUSABLE)
        if all(report.unexplored for report in reports):
            raise SystemExit(UNTRIED)

    def merge(self) -> None:
        """Merge the JSON reports of all parts of a run, and print one report for each test."""
        kind, together = _TOOLS[self.tool]
        files: list[tuple[str, list[Report]]] = []
        for file in self.words:
            try:
                data = json.loads(Path(file).read_text("utf-8"))
                files.append((file, [kind.from_json(each) for each in data.get(together, [data])]))
            except (ValueError, AttributeError, KeyError) as problem:
                give_up(f"{file} is not a report of {self.tool} with --json: {problem}")
        require_whole(files)
        whole = merged(report for _, reports in files for report in reports)
        self._replace(words=[self.tool]).print([replace(report, part=(1, 1)) for report in whole])

    def signed(self, reports: Sequence[Report], options: Mapping[str, object]) -> list[Report]:
        """Return the reports with their origin: the command with the options that its parts must share.

        Absolute paths are shortened to the name of the file, because the parts can run on several machines.
        """
        words = shlex.join(map(_without_folder, self.words))
        shared = (
            f"{name}={_without_folder(','.join(map(str, value)) if isinstance(value, tuple) else str(value))}"
            for name, value in options.items()
            if name not in _OF_PART
        )
        return [replace(report, origin=f"{self.tool} {' '.join(shared)} -- {words}") for report in reports]


def _without_folder(word: str) -> str:
    return Path(word).name if Path(word).is_absolute() else word


#: Options that can differ between the parts of a run.
_OF_PART = frozenset({"part", "jobs", "folder", "stop_at_first", "quiet", "strict"})


def _announce(runs: str, count: int, seconds: float, rest: str) -> None:
    """Say on standard error how long the runs will take, if they take long."""
    if count * seconds >= _LONG:
        minutes = math.ceil(count * seconds / 60)
        click.echo(f"{runs}, about {seconds:.2g} s each: {plural(minutes, 'minute')}. {rest}", err=True)


def sweep(
    asked: Mapping[str, Any],
    output: Output,
    kinds: str,
    invariants: tuple[str, ...],
    extra: Sequence[str],
    **options: Any,
) -> None:
    """Sweep a program. If it is pytest, sweep each test that has its own worlds."""

    def step(report: SweepReport, words: str) -> None:
        left = report.planned - len(report.runs)
        if not words or words == SECOND_FAULT:
            _announce(plural(left, "run"), left, report.seconds, "To share the runs, pass --jobs or --part.")
        tell(words, report.planned + 1)

    reports: list[SweepReport] = []
    failure: BadProgram | None = None
    with _running(output, **asked) as (prepared, program, tell):
        chosen = dict.fromkeys([*kinds_named(kinds), *extra])
        sweep_options = SweepWanted(kinds=tuple(chosen), invariants=named(invariants), **options)
        try:
            report = sweep_program(program, prepared, sweep_options, step)
            reports, tests = [report], report.tests
        except BadProgram as problem:  # A failing test does not prevent the sweep of the other tests.
            failure, tests = problem, problem.ended.tests
            if not tests:
                raise
        if tests:
            reports += tests_swept(program, sweep_options, invariants, tell)
        if isinstance(failure, SentNoRequest) and not reports:
            raise failure
    shared = {"kinds": sweep_options.kinds, "invariants": invariants, **options, **asked["said"]}
    output.print(output.signed(reports, shared))


def explore(asked: Mapping[str, Any], output: Output, invariants: tuple[str, ...], **options: Any) -> None:
    """Explore a program. If it is pytest, explore each test that has its own worlds."""
    with _running(output, **asked) as (prepared, program, tell):
        explorer = Explorer(prepared=prepared, program=program, invariants=named(invariants), **options)
        reports, tests = _explored(explorer, tell)
        if tests:
            reports += tests_explored(program, explorer, invariants, options["folder"], tell)
    output.print(output.signed(reports, {"invariants": invariants, **options, **asked["said"]}))


def _announce_schedules(estimate: int | None, runs: int, seconds: float) -> None:
    schedules = f"about {plural(estimate, 'schedule')}" if estimate is not None else "very many schedules"
    left = estimate is None or estimate > runs
    runs = runs if left else estimate or 0
    limit = f", of which --max-runs tries {runs}" if left else ""
    _announce(f"{schedules}{limit}", runs, seconds, "To share the runs, pass --jobs or --part 1/4.")


def _explored(explorer: Explorer, tell: Tell) -> tuple[list[Exploration], Sequence[str]]:
    """Explore the program. Return the report, and the names of tests that have their own worlds.

    The list of reports is empty if the program itself sends no requests. Raise ``NothingTried`` if there
    are no tests either.
    """
    try:
        exploration = explorer.explore(tell, _announce_schedules)
    except ScheduleNotReached as problem:
        if problem.ended.passed and problem.ended.tests:
            return [], problem.ended.tests
        raise
    tests = [test for schedule in exploration.schedules for test in schedule.tests]
    if exploration.never_passes and not explorer.schedule and not (tests and not exploration.actors):
        return [replace(exploration, problem="the program fails in every schedule")], ()
    if not exploration.actors and not tests:
        raise NothingTried(NO_REQUEST_SENT)
    return [exploration] if exploration.actors else [], tests


@contextmanager
def _running(
    output: Output,
    account: str,
    timeout: float,
    url: str | None,
    world: str | None,
    ca: str | None,
    settings: Mapping[str, Any],
    said: Mapping[str, str],
) -> Iterator[tuple[Sandbox, CommandProgram, Tell]]:
    """Yield three values: the world to fork, the program, and a progress function.

    SIGTERM ends the runs.
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        with ExitStack() as stack:
            if url is None:
                prepared = stack.enter_context(closing(Sandbox(**settings)))
                variables = said  # pytest makes worlds with the settings of this command.
            else:
                server = HttpTransport(url, world or "", settings.get("control_token"), authority=ca)
                current = Sandbox.through(stack.enter_context(closing(server)))
                prepared = stack.enter_context(closing(current.fork()))
                variables = {variable(MODE): prepared.url}
            program = stack.enter_context(CommandProgram(output.words, prepared, account, timeout, variables))
            yield prepared, program, stack.enter_context(_progress(output.tool))
    except BadProgram as problem:
        click.echo(problem.ended.output[-_SHOWN:], err=True, nl=False)
        raise
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


def _as_json(reports: Sequence[Report], together: str) -> object:
    """Return reports as JSON: a single report directly, others as a list under ``together`` with sums."""
    parts = [report.json() for report in reports]
    if len(reports) == 1 and not reports[0].test:
        return parts[0]
    total = Counter[str]()
    for part in parts:
        total.update({key: value for key, value in part.items() if type(value) is int})
    findings = [{"test": part["test"], **finding} for part in parts for finding in part["findings"]]
    return {**total, "findings": findings, together: parts}


def _print_reports(reports: Sequence[Report]) -> None:
    room = get_terminal_size().columns if sys.stdout.isatty() else math.inf
    for number, report in enumerate(reports):
        if number:
            click.echo("")
        if report.test:
            click.echo(printable(report.test))
        if tables := report.tables():
            if max(map(len, in_lines(tables))) > room:
                click.echo("\n".join(map(printable, narrow(tables))))
            else:
                show(tables)
            click.echo("")
        click.echo("\n".join(map(printable, report.lines())))
