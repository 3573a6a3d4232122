"""Commands that find mistakes in a client by running it: ``sweep`` and ``explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import JSON
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.config_sources import variables
from reseller_sandbox.settings import Settings
from reseller_sandbox.tools.defaults import ACCOUNT, ACTORS, MAX_RUNS, QUIET, SLOW, TIMEOUT
from reseller_sandbox.values.parameters import declared

_EXITS = (
    "Exit status: 0 no finding, 1 findings, 2 invalid arguments or settings, or the program fails "
    "without a fault, 3 server not reachable."
)

#: The settings that select a running server. All other settings are for a server that the command starts.
_AWAY = ("url", "world", "ca")

_OPTIONS = (
    click.Option(["--account"], default=ACCOUNT, show_default=True, help="The account the program acts for."),
    click.Option(
        ["--timeout"],
        type=click.FloatRange(min=0, min_open=True),
        default=TIMEOUT,
        show_default=True,
        help="After how many seconds a run is given up.",
    ),
    click.Option(["--url"], help="A server that runs already, whose world is forked for each run."),
    click.Option(["--world"], help="With --url: the world that is forked, if not the default one."),
    click.Option(["--ca"], metavar="PATH", help="With --url: the authority to trust, where it speaks TLS."),
    JSON,
)

_INVARIANTS = click.option(
    "--invariant",
    "invariants",
    multiple=True,
    metavar="MODULE:FUNCTION",
    help="What holds after every run: it gets the Sandbox, and returns words if not; may come often.",
)

_RECORDINGS = click.option(
    "--recordings",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="recordings",
    show_default=True,
    help="Where a file is written for each run in which something was found, to do it again.",
)


class RunningCommand(Configured):
    """Command that runs a program. Its function gets the program and its options as ``asked``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {"allow_interspersed_args": False}
        super().__init__(*args, **kwargs, named=tuple(one.name for one in declared(Settings)))
        program = click.Argument(
            ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND"
        )
        self.params += [program, *_OPTIONS]
        self.epilog = _EXITS

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with the program and the world of the command line."""
        said = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        away = [name for name in said if name in _AWAY]
        settings = {one.name: variables()[one.name] for one in declared(Settings)}
        own = [name for name in said if name in settings and name != "control_token"]
        if away and "url" not in away:
            raise click.UsageError(f"--{away[0]} goes with --url", ctx)
        if away and own:
            name = own[0].replace("_", "-")
            raise click.UsageError(f"--{name} does not go with --url: the server there has its settings", ctx)
        ctx.params["asked"] = {
            "words": ctx.params.pop("command"),
            **{name: ctx.params.pop(name) for name in ("account", "timeout", *_AWAY)},
            "said": {settings[name]: _in_one(ctx.params[name]) for name in said if name in settings},
            "settings": self._options.settled(ctx.params),
        }
        return click.Command.invoke(self, ctx)


def _in_one(value: Any) -> str:
    """Return the value of an option as one string, for an environment variable."""
    return " ".join(value) if isinstance(value, tuple) else str(value)


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
@_RECORDINGS
@_INVARIANTS
def sweep(**words: Any) -> None:
    """Run a program repeatedly, each time with a different fault, and report the outcomes.

    The first run has no fault, and your program must exit with 0. Then each of its requests gets each of
    these faults: the request or its response is lost, the response is late, the request is executed twice,
    it is refused with each documented error, or it gets garbage or a 429. Each run has its own world. The
    program gets its address in RESELLER_SANDBOX_URL, and its credentials in RESELLER_SANDBOX_KEY, _SECRET
    and _TOKEN.

    A program that fails has noticed the fault. A program that exits with 0 is silently wrong if something
    was paid twice, paid and lost, or left undone. Each such run is listed, and the exit status is 1.

    If the program is pytest, tests with the fixture reseller_sandbox are swept one by one in its process.
    """
    from reseller_sandbox.cli import tool_runs  # loads Flask, which the help does not need

    tool_runs.sweep(**words)


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
@_INVARIANTS
@click.option(
    "--schedule", default="", metavar="ACTORS", help="Run this order alone, as an earlier run has told it."
)
@_RECORDINGS
def explore(**words: Any) -> None:
    """Run a program with several workers in every relevant order of their requests.

    Concurrent requests are held and released one at a time, in a different order in each run. Equivalent
    orders are skipped: two requests can change places if neither writes data that the other reads. Each run
    has its own world with a frozen clock.

    A worker is identified by the header X-Sandbox-Actor, otherwise by its account, otherwise by its
    connection. An order is a finding if the program fails, if an invariant of sweep does not hold, or if the
    result differs from every run in which the workers act one after the other.

    If the program is pytest, tests with the fixture reseller_sandbox are explored one by one in its process.
    """
    from reseller_sandbox.cli import tool_runs

    if words["asked"]["url"] is not None:
        raise click.UsageError("--url does not go with explore: only a server of its own can hold requests")
    tool_runs.explore(**words)
