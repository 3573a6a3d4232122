"""The commands that look for mistakes in a client by running it: ``sweep`` and ``explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import JSON
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.config_sources import variables
from reseller_sandbox.registry.parameters import declared
from reseller_sandbox.settings import Settings
from reseller_sandbox.tools.defaults import ACCOUNT, ACTORS, MAX_RUNS, QUIET, SLOW, TIMEOUT

_EXITS = (
    "Ends with 0 when nothing broke, 1 when something did, 2 when its words or settings cannot be used or "
    "the program fails by itself, 3 when no server answers."
)

#: The settings that lead to a running server; all others are for a server of this command's own.
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
    """A command that runs a program; its function gets that as ``asked``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {"allow_interspersed_args": False}
        super().__init__(*args, **kwargs, named=tuple(one.name for one in declared(Settings)))
        program = click.Argument(
            ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND"
        )
        self.params += [program, *_OPTIONS]
        self.epilog = _EXITS

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the program and the world that the command line asks for."""
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
    """Return the value of an option as one word, for a variable of the environment."""
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
    """Run a program again and again, each time with another thing going wrong, and say what came of it.

    It is run without faults first, and has to pass: to end with 0. Then, for each of its requests: the
    request is lost, or its answer; it is answered late, or carried out twice; it is refused with each
    documented error; it gets garbage, or a 429. Each run has a world of its own. The program finds its
    address in RESELLER_SANDBOX_URL, its credentials in RESELLER_SANDBOX_KEY, _SECRET and _TOKEN.

    A program that fails has noticed. One that ends with 0 though something was paid twice, paid and lost, or
    left undone is silently wrong: each such run is listed, and the sweep ends with 1.

    Tests of a pytest that use the fixture reseller_sandbox are swept one by one, in their own process.
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
    """Run a program with several workers in every order of their requests that could matter.

    Requests that come at once are held and let through one at a time, in another order in each run. Orders
    that come to the same are not tried: requests of which neither writes what the other reads may change
    places. Each run has a world of its own, whose clock stands still.

    A worker is told by the header X-Sandbox-Actor, then by its account, then by its connection. Something is
    found where the program fails in some order, where an invariant of sweep does not hold, and where it
    leaves what no order leaves in which the workers go one after the other.

    Tests of a pytest that use the fixture reseller_sandbox are explored one by one, in their own process.
    """
    from reseller_sandbox.cli import tool_runs

    if words["asked"]["url"] is not None:
        raise click.UsageError("--url does not go with explore: only a server of its own can hold requests")
    tool_runs.explore(**words)
