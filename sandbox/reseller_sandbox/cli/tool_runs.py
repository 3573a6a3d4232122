"""Runs of ``sweep`` and ``explore``: their environment, their progress and their report."""

from __future__ import annotations

import math
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from shutil import get_terminal_size
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.progress import Progress

from reseller_sandbox.cli.base import REFUSED, UNUSABLE, give_up, say, say_json
from reseller_sandbox.cli.server_options import calling
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.reports.tables import in_lines, show
from reseller_sandbox.server.server import CannotListen
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.cli_options import MODE, variable
from reseller_sandbox.tools.environment_setup import Ground, ground_at, own_ground
from reseller_sandbox.tools.explore import Explorer, ScheduleNotReached, tests_explored
from reseller_sandbox.tools.explore.report import ExplorationReport
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import ASKED_NOTHING, BadProgram, CommandProgram, Tell
from reseller_sandbox.tools.sweep import AskedNothing, SweepWanted, sweep_program, tests_swept
from reseller_sandbox.tools.sweep.report import SweepReport, narrow
from reseller_sandbox.tools.sweep.troubles import FAULTS
from reseller_sandbox.values.text_checks import printable

#: Characters shown of the output of a program that does not pass.
_SHOWN = 4000


def sweep(
    asked: Mapping[str, Any], as_json: bool, kinds: str | None, invariants: tuple[str, ...], **given: Any
) -> None:
    """Sweep a program, and each of its tests that has its own worlds."""
    found: list[SweepReport] = []
    nothing: AskedNothing | None = None
    with _running("sweep", **asked) as (ground, program, tell):
        chosen = tuple(FAULTS) if kinds is None else tuple(kinds.replace(",", " ").split())
        wanted = SweepWanted(kinds=chosen, invariants=named(invariants), **given)
        try:
            report = sweep_program(
                program, ground, wanted, lambda report, words: tell(words, report.planned + 1)
            )
            found, tests = [report], report.tests
        except AskedNothing as problem:
            nothing, tests = problem, problem.ended.tests
        if tests:
            found += tests_swept(program, wanted, invariants, tell)
        if nothing is not None and not found:
            raise nothing
    _report(found, as_json, "sweeps")


def explore(asked: Mapping[str, Any], as_json: bool, invariants: tuple[str, ...], **given: Any) -> None:
    """Explore a program, and each of its tests that has its own worlds."""
    with _running("explore", **asked) as (ground, program, tell):
        explorer = Explorer(ground=ground, program=program, invariants=named(invariants), **given)
        found, tests = _explored(explorer, tell)
        if tests:
            found += tests_explored(program, explorer, invariants, given["folder"], tell)
    _report(found, as_json, "explorations")


def _explored(explorer: Explorer, tell: Tell) -> tuple[list[ExplorationReport], Sequence[str]]:
    """Return the report on the program, and its tests that have their own worlds.

    Raise ``BadSetting`` if there is neither.
    """
    try:
        found = explorer.explore(tell)
    except ScheduleNotReached as problem:
        if problem.ended.passed and problem.ended.tests:
            return [], problem.ended.tests
        raise
    tests = [test for order in found.orders for test in order.ended.tests]
    if found.never_passes and not explorer.schedule:
        return [ExplorationReport.of(found, problem="the program fails in every order")], ()
    if not found.actors and not tests:
        raise BadSetting(ASKED_NOTHING)
    return [ExplorationReport.of(found)] if found.actors else [], tests


@contextmanager
def _running(
    what: str,
    words: Sequence[str],
    account: str,
    timeout: float,
    url: str | None,
    world: str | None,
    ca: str | None,
    settings: Mapping[str, Any],
    said: Mapping[str, str],
) -> Iterator[tuple[Ground, CommandProgram, Tell]]:
    """Yield the environment of the runs, the program, and the function that shows the progress.

    SIGTERM ends the runs. A setting or an address that cannot be used ends the process with one line.
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        with ExitStack() as stack:
            if url is None:
                ground = stack.enter_context(own_ground(settings))
                around = said  # so that a pytest makes worlds for its tests like this one
            else:
                there = HttpTransport(url, world or "", settings.get("control_token"), authority=ca)
                ground = stack.enter_context(ground_at(stack.enter_context(calling(there))))
                around = {variable(MODE): ground.address(ground.prepared)}
            program = stack.enter_context(CommandProgram(words, ground, account, timeout, around))
            yield ground, program, stack.enter_context(_progress(what))
    except (BadSetting, CannotListen) as problem:
        if isinstance(problem, BadProgram):
            click.echo(problem.ended.output[-_SHOWN:], err=True, nl=False)
        give_up(str(problem))
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


@contextmanager
def _progress(what: str) -> Iterator[Tell]:
    """Show a progress bar if standard error is a terminal. Yield the function that reports a step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def tell(words: str, total: int | None) -> None:
            bar.update(task, advance=1, total=total, description=f"{what}: {words}"[:60])

        yield tell


def _report(found: Sequence[SweepReport | ExplorationReport], as_json: bool, together: str) -> None:
    """Print the reports on a program and on its tests, and set the exit status from their findings.

    As JSON, several reports are listed under the key ``together``, with the sums of their numbers.
    """
    if as_json and len(found) == 1 and not found[0].test:
        say_json(found[0].json())
    elif as_json:
        told = [one.json() for one in found]
        total = Counter[str]()
        for one in told:
            total.update({key: value for key, value in one.items() if type(value) is int})
        findings = [{"test": one.test, **finding} for one in found for finding in one.findings]
        say_json({**total, "findings": findings, together: told})
    else:
        _show(found)
    if found and found[0].problem and not found[0].test:
        give_up(found[0].problem)
    if any(one.findings for one in found):
        raise SystemExit(REFUSED)
    if any(one.problem for one in found):
        raise SystemExit(UNUSABLE)


def _show(found: Sequence[SweepReport | ExplorationReport]) -> None:
    room = get_terminal_size().columns if sys.stdout.isatty() else math.inf
    for number, one in enumerate(found):
        if number:
            say("")
        if one.test:
            say(printable(one.test))
        if tables := one.tables():
            if max(map(len, in_lines(tables))) > room:
                say("\n".join(map(printable, narrow(tables))))
            else:
                show(tables)
            say("")
        say("\n".join(map(printable, one.lines())))
