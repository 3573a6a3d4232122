"""``reseller-sandbox explore``: a program with several workers, in every order that could matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from reseller_sandbox.cli.base import REFUSED, UNUSABLE, give_up, say, say_json
from reseller_sandbox.cli.tool_options import CAPSULES, INVARIANTS, RunningCommand
from reseller_sandbox.core.texts import printable
from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET

if TYPE_CHECKING:
    from reseller_sandbox.cli.tool_options import RunAsked
    from reseller_sandbox.tools.explore.runs import Explorer
    from reseller_sandbox.tools.explore.tests import ExploredTold
    from reseller_sandbox.tools.progress import Tell


@click.command(cls=RunningCommand)
@click.option(
    "--actors",
    type=click.IntRange(min=1),
    default=ACTORS,
    show_default=True,
    help="How many workers the program has at a time.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(min=1),
    default=MAX_RUNS,
    show_default=True,
    help="How many orders are tried at most; what is left untried is said.",
)
@click.option(
    "--quiet",
    type=click.FloatRange(min=0, min_open=True),
    default=QUIET,
    show_default=True,
    metavar="SECONDS",
    help="How long nothing comes from the program before those that wait are taken for all.",
)
@INVARIANTS
@click.option(
    "--schedule", default="", metavar="ACTORS", help="Run this order alone, as an earlier run has told it."
)
@CAPSULES
def explore(asked: RunAsked, as_json: bool, invariants: tuple[str, ...], **given: Any) -> None:
    """Run a program with several workers in every order of their requests that could matter.

    Requests that come at once are held and let through one at a time, in another order in each run. Orders
    that come to the same are not tried: requests of which neither writes what the other reads may change
    places. Each run has a world of its own, whose clock stands still.

    A worker is told by the header X-Sandbox-Actor, then by its account, then by its connection. Something is
    found where the program fails in some order, where an invariant of sweep does not hold, and where it
    leaves what no order leaves in which the workers go one after the other.

    Tests of a pytest that use the fixture reseller_sandbox are explored one by one, in their own process.
    """
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.tools.explore.runs import Explorer
    from reseller_sandbox.tools.explore.tests import tests_explored
    from reseller_sandbox.tools.invariants import named
    from reseller_sandbox.tools.progress import progress

    if asked.url is not None:
        raise click.UsageError("--url does not go with explore: only a server of its own can hold requests")
    try:
        own = named(invariants)
    except BadSetting as problem:
        give_up(str(problem))
    with asked.opened() as (ground, program), progress("explore") as tell:
        explorer = Explorer(ground=ground, program=program, invariants=own, **given)
        found, tests = _itself(explorer, tell)
        if tests:
            found += tests_explored(program, explorer, invariants, given["folder"], tell)
    _show(found, as_json)
    if found and found[0].problem and not found[0].test:
        give_up(found[0].problem)
    if any(one.findings for one in found):
        raise SystemExit(REFUSED)
    if any(one.problem for one in found):
        raise SystemExit(UNUSABLE)


def _itself(explorer: Explorer, tell: Tell) -> tuple[list[ExploredTold], Sequence[str]]:
    """Return what came of the program by itself, and its tests that have worlds of their own.

    Raise ``BadSetting`` where there is nothing of either.
    """
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.tools.explore.runs import NotReached
    from reseller_sandbox.tools.explore.tests import ExploredTold
    from reseller_sandbox.tools.running import ASKED_NOTHING

    try:
        found = explorer.explore(tell)
    except NotReached as problem:
        if problem.ended.passed and problem.ended.tests:
            return [], problem.ended.tests
        raise
    tests = [test for order in found.orders for test in order.ended.tests]
    if found.never_passes and not explorer.schedule:
        return [ExploredTold.of(found, "the program fails in every order")], ()
    if found.actors:
        return [ExploredTold.of(found)], tests
    if not tests:
        raise BadSetting(ASKED_NOTHING)
    return [], tests


def _show(found: Sequence[ExploredTold], as_json: bool) -> None:
    if as_json:
        say_json(_json(found))
        return
    for number, one in enumerate(found):
        if number:
            say("")
        if one.test:
            say(printable(one.test))
        say("\n".join(map(printable, one.lines)))


def _json(found: Sequence[ExploredTold]) -> dict[str, Any]:
    """Return the report for programs: one, or where tests were explored, all of them together."""
    if len(found) == 1 and not found[0].test:
        return found[0].json()
    sums = {key: sum(one.told.get(key, 0) for one in found) for key in ("orders", "untried", "strayed")}
    findings = [{"test": one.test, **finding} for one in found for finding in one.findings]
    return {**sums, "findings": findings, "explorations": [one.json() for one in found]}
