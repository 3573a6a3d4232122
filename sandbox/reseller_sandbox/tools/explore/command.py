"""``reseller-sandbox explore``: a program with several workers, in every order that could matter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from reseller_sandbox.console import REFUSED, UNUSABLE, give_up, printable, say
from reseller_sandbox.tools.asking import CAPSULES, INVARIANTS, RunningCommand, loaded

if TYPE_CHECKING:
    from pathlib import Path

    from reseller_sandbox.tools.asking import RunAsked


@click.command(cls=RunningCommand)
@click.option(
    "--actors",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many workers the program has at a time.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="How often the program is run at most; what is left untried is said.",
)
@click.option(
    "--quiet",
    type=click.FloatRange(min=0, min_open=True),
    default=0.3,
    show_default=True,
    metavar="SECONDS",
    help="How long nothing comes from the program before those that wait are taken for all.",
)
@INVARIANTS
@click.option("--schedule", metavar="ACTORS", help="Run this order alone, as an earlier run has told it.")
@CAPSULES
def explore(
    asked: RunAsked,
    as_json: bool,
    actors: int,
    max_runs: int,
    quiet: float,
    invariants: tuple[str, ...],
    schedule: str | None,
    folder: Path,
) -> None:
    """Run a program with several workers in every order of their requests that could matter.

    Requests that come at once are held and let through one at a time, in another order in each run. Orders
    that come to the same are not tried: requests of which neither writes what the other reads may change
    places. Each run has a world of its own, whose clock stands still.

    A worker is told by the header X-Sandbox-Actor, then by its account, then by its connection. Something is
    found where the program fails in some order, where an invariant of sweep does not hold, and where it
    leaves what no order leaves in which the workers go one after the other.
    """
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.tools.explore.runs import Explorer
    from reseller_sandbox.tools.progress import progress

    if asked.url is not None:
        raise click.UsageError("--url does not go with explore: only a server of its own can hold requests")
    try:
        own = tuple(map(loaded, invariants))
    except BadSetting as problem:
        give_up(str(problem))
    with asked.opened() as (ground, program), progress("explore") as tell:
        explorer = Explorer(
            ground=ground, program=program, actors=actors, quiet=quiet, invariants=own, folder=folder
        )
        try:
            found = explorer.one(schedule) if schedule else explorer.explore(max_runs, tell)
        except ValueError as problem:
            give_up(str(problem))
    if as_json:
        say(json.dumps(found.told(), indent=2, ensure_ascii=False))
    else:
        say("\n".join(map(printable, found.lines())))
    if found.never_passes and not schedule:
        give_up("the program fails in every order", UNUSABLE)
    raise SystemExit(REFUSED if found.findings else 0)
