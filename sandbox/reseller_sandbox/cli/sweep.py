"""``reseller-sandbox sweep``: a program is run again and again, with each thing going wrong once."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from reseller_sandbox.cli.base import REFUSED, UNUSABLE, give_up, say, say_json
from reseller_sandbox.cli.tool_options import CAPSULES, INVARIANTS, RunAsked, RunningCommand
from reseller_sandbox.core.texts import printable
from reseller_sandbox.tools.defaults import SLOW

if TYPE_CHECKING:
    from reseller_sandbox.tools.sweep.engine import SweepWanted
    from reseller_sandbox.tools.sweep.told import SweepTold

#: How much of the output of a program that does not pass is shown.
_SHOWN = 4000


@click.command(cls=RunningCommand)
@click.option("--kinds", metavar="NAMES", help="What goes wrong, with commas; everything, unless given.")
@click.option("--only", default="*", metavar="OPERATION", help="A pattern of the operations that are tried.")
@click.option("--assumptions", is_flag=True, help="Try other values of what the run assumed, too.")
@click.option("--outsiders", is_flag=True, help="Let others act right before each order, too.")
@click.option(
    "--slow",
    type=click.FloatRange(min=0, min_open=True),
    default=SLOW,
    show_default=True,
    metavar="SECONDS",
    help="How late a slow answer comes: a little more than your program waits.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs at once.")
@click.option("--stop-at-first", is_flag=True, help="End with the first run that is silently wrong.")
@CAPSULES
@INVARIANTS
def sweep(
    asked: RunAsked, as_json: bool, kinds: str | None, invariants: tuple[str, ...], **given: Any
) -> None:
    """Run a program again and again, each time with another thing going wrong, and say what came of it.

    It is run without faults first, and has to pass: to end with 0. Then, for each of its requests: the
    request is lost, or its answer; it is answered late, or carried out twice; it is refused with each
    documented error; it gets garbage, or a 429. Each run has a world of its own. The program finds its
    address in RESELLER_SANDBOX_URL, its credentials in RESELLER_SANDBOX_KEY, _SECRET and _TOKEN.

    A program that fails has noticed. One that ends with 0 though something was paid twice, paid and lost, or
    left undone is silently wrong: each such run is listed, and the sweep ends with 1.

    Tests of a pytest that use the fixture reseller_sandbox are swept one by one, in their own process.
    """
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.tools.invariants import named
    from reseller_sandbox.tools.sweep.engine import SweepWanted
    from reseller_sandbox.tools.sweep.troubles import FAULTS

    try:
        chosen = tuple(FAULTS) if kinds is None else tuple(kinds.replace(",", " ").split())
        wanted = SweepWanted(kinds=chosen, invariants=named(invariants), **given)
    except BadSetting as problem:
        give_up(str(problem))
    found = _swept(asked, wanted, invariants)
    if as_json:
        say_json(_json(found))
    else:
        _show(found)
    if any(one.wrong for one in found):
        raise SystemExit(REFUSED)
    if any(one.problem for one in found):
        raise SystemExit(UNUSABLE)


def _swept(asked: RunAsked, wanted: SweepWanted, invariants: tuple[str, ...]) -> list[SweepTold]:
    """Return what came of the program, and of each of its tests with worlds of their own."""
    from reseller_sandbox.tools.progress import progress
    from reseller_sandbox.tools.running import BadProgram
    from reseller_sandbox.tools.sweep.engine import AskedNothing, sweep_program
    from reseller_sandbox.tools.sweep.tests import tests_swept

    with asked.opened() as (ground, program), progress("sweep") as tell:
        found: list[SweepTold] = []
        nothing: AskedNothing | None = None
        try:
            try:
                report = sweep_program(
                    program, ground, wanted, lambda report, words: tell(words, report.planned + 1)
                )
                found, tests = [report.told()], report.tests
            except AskedNothing as problem:
                nothing, tests = problem, problem.ended.tests
            if tests:
                found += tests_swept(program, wanted, invariants, tell)
            if nothing is not None and not found:
                raise nothing
            return found
        except BadProgram as problem:
            click.echo(problem.ended.output[-_SHOWN:], err=True, nl=False)
            give_up(str(problem), UNUSABLE)


def _json(found: Sequence[SweepTold]) -> dict[str, Any]:
    """Return the report for programs: one sweep, or where tests were swept, all of them together."""
    if len(found) == 1 and not found[0].test:
        return found[0].json()
    sums = Counter[str]()
    for one in found:
        sums.update({"runs": len(one.runs), "planned": one.planned, **one.counts()})
    findings = [{"test": one.test, **run.json()} for one in found for run in one.wrong]
    return {**sums, "findings": findings, "sweeps": [one.json() for one in found]}


def _show(found: Sequence[SweepTold]) -> None:
    from reseller_sandbox.cli.tables import in_lines, show
    from reseller_sandbox.tools.sweep.told import narrow

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
