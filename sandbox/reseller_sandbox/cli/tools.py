"""Commands that find mistakes in a client by running it: ``sweep`` and ``explore``."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import FILE, FOLDER, JSON, Seconds
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.config_sources import variables
from reseller_sandbox.settings import Settings
from reseller_sandbox.tools.cli_options import part_of
from reseller_sandbox.tools.defaults import ACCOUNT, ACTORS, MAX_RUNS, QUIET, SLOW, STALE, TIMEOUT
from reseller_sandbox.values.parameters import declared

_EXITS = (
    "Exit status: 0 no finding, 1 findings, 2 invalid arguments or settings, or the program fails "
    "without a fault, 3 server not reachable, 4 nothing tried: no request, or only one order of requests."
)

#: Options that select a running server. All settings apply only to a sandbox that the command itself creates.
_RUNNING = ("url", "world", "ca")


_SECONDS = Seconds(0.001)
_NUMBER = click.IntRange(min=1)


def _part(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    try:
        return part_of(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


#: The options of both commands.
_OPTIONS = (
    click.Option(
        ["--invariant", "invariants"],
        multiple=True,
        metavar="MODULE:FUNCTION",
        help="Your function that checks the world after each run. It gets the Sandbox, and returns a message "
        "if something is wrong. Can be repeated.",
    ),
    click.Option(["--jobs"], type=_NUMBER, default=1, help="Number of parallel runs."),
    click.Option(
        ["--part"],
        callback=_part,
        default="1/1",
        metavar="N/PARTS",
        help="Make only this part of the runs, such as 1/2, to share the runs among machines.",
    ),
    click.Option(
        ["--merge"],
        is_flag=True,
        help="Merge the JSON reports of all parts. Pass the report files instead of the program.",
    ),
    click.Option(
        ["--recordings", "folder"],
        type=FOLDER,
        default="recordings",
        help="Folder for a recording and an HTML page of each finding.",
    ),
    *(
        click.Option(
            [f"--{name.lower()}"],
            type=FILE,
            metavar="FILE",
            help=f"File to write the findings to in {name} format, for continuous integration.",
        )
        for name in ("JUnit", "SARIF")
    ),
    click.Option(["--account"], default=ACCOUNT, help="Account whose credentials the program gets."),
    click.Option(["--timeout"], type=_SECONDS, default=TIMEOUT, help="Maximum duration of a run in seconds."),
    click.Option(
        ["--url"], help="URL of a running server to use. Each run gets a fork of the server's world."
    ),
    click.Option(["--world"], help="With --url: name of the world to fork. If not set: the default world."),
    click.Option(["--ca"], metavar="PATH", help="With --url: certificate authority file to trust."),
    JSON,
)


class RunningCommand(Configured):
    """Command that runs a program, or merges the reports of earlier runs.

    Its function gets the options of the runs as ``asked``, and the format of the report as ``output``.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs["context_settings"] = {"allow_interspersed_args": False, "show_default": True}
        super().__init__(*args, **kwargs, named=tuple(setting.name for setting in declared(Settings)))
        program = click.Argument(
            ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND"
        )
        self.params += [program, *_OPTIONS]
        self.epilog = _EXITS

    def invoke(self, ctx: click.Context) -> object:
        """Run the command with the program, its environment and the format of the report."""
        named = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        running = [name for name in named if name in _RUNNING]
        settings = {setting.name: variables()[setting.name] for setting in declared(Settings)}
        own = [name for name in named if name in settings and name != "control_token"]
        if running and "url" not in running:
            raise click.UsageError(f"--{running[0]} requires --url", ctx)
        if running and own:
            name = own[0].replace("_", "-")
            raise click.UsageError(
                f"--{name} cannot be used with --url: the running server has its own settings", ctx
            )
        # Import late, because ``--help`` does not need Flask.
        from reseller_sandbox.cli.tool_runs import Output

        printed = {name: ctx.params.pop(name) for name in ("as_json", "junit", "sarif")}
        output = ctx.params["output"] = Output(str(self.name), ctx.params.pop("command"), **printed)
        ctx.params["asked"] = {
            **{name: ctx.params.pop(name) for name in ("account", "timeout", *_RUNNING)},
            "said": {settings[name]: _in_one(ctx.params[name]) for name in named if name in settings},
            "settings": self._options.read(ctx.params),
        }
        return output.merge() if ctx.params.pop("merge") else click.Command.invoke(self, ctx)


def _in_one(value: object) -> str:
    """Return the value of an option as one string, for an environment variable."""
    return " ".join(value) if isinstance(value, tuple) else str(value)


@click.command(cls=RunningCommand)
@click.option(
    "--kinds",
    default="all",
    metavar="NAMES",
    help="Kinds of faults to try, separated by commas. A minus excludes a kind, as in all,-twice.",
)
@click.option(
    "--only", default="*", metavar="OPERATION", help="Try faults only on operations that match this pattern."
)
@click.option(
    "--depth",
    type=click.IntRange(1, 2),
    default=1,
    help="Number of faults in a run. With 2, also try a second fault on each request that your program sends "
    "because of the first fault.",
)
@click.option(
    "--assumptions", is_flag=True, help="Also try other values of assumptions on which an answer depended."
)
@click.option(
    "--external-changes", is_flag=True, help="Also let third parties act between every two requests."
)
@click.option(
    "--time", is_flag=True, help="Also let midnight or a due event pass between every two requests."
)
@click.option(
    "--slow",
    type=_SECONDS,
    default=SLOW,
    metavar="SECONDS",
    help="Delay of a slow response. Choose a little more than your program's timeout.",
)
@click.option(
    "--stale",
    type=_SECONDS,
    default=STALE,
    metavar="SECONDS",
    help="Maximum age of a stale response, by the world's clock. It is never older than a move of the clock.",
)
@click.option("--stop-at-first", is_flag=True, help="Stop after the first finding.")
@click.option("--strict", is_flag=True, help="Exit with 1 also for consequences that no client can prevent.")
def sweep(**words: Any) -> None:
    """Run a program repeatedly, each time with a different fault, and report the outcomes.

    The first run has no fault, and your program must exit with 0. Then each request of the program gets
    each of these faults: the request or its response is lost, the response is late, the request is executed
    twice, it is refused with each documented error, or it gets garbage or a 429. One run has prices whose
    sums are not exact in binary floating point. Each run has its own world. The program gets the address of
    this world in RESELLER_SANDBOX_URL, and the credentials in RESELLER_SANDBOX_KEY, _SECRET and _TOKEN.

    A program that fails has noticed the fault. A program that exits with 0 is silently wrong if something
    was paid twice, paid and lost, or left undone. It has noticed the fault late if a name stopped working for
    a time. Each such run is listed, and the exit status is 1.

    If the program is pytest, tests with the fixture reseller_sandbox are swept one by one in its process.
    """
    from reseller_sandbox.cli import tool_runs

    flags = {name: words.pop(name) for name in ("assumptions", "external_changes", "time")}
    extra = [name.replace("_", "-") for name, is_set in flags.items() if is_set]
    tool_runs.sweep(extra=extra, **words)


@click.command(cls=RunningCommand)
@click.option("--actors", type=_NUMBER, default=ACTORS, help="Number of concurrent workers of the program.")
@click.option(
    "--max-runs",
    type=_NUMBER,
    default=MAX_RUNS,
    help="Maximum number of orders of requests (schedules) to try.",
)
@click.option(
    "--quiet",
    type=_SECONDS,
    default=QUIET,
    metavar="SECONDS",
    help="Release a held request after this many seconds without a new request.",
)
@click.option(
    "--schedule",
    default="",
    show_default=False,
    metavar="ACTORS",
    help="Run only this schedule, copied from a report.",
)
@click.option(
    "--locked",
    is_flag=True,
    help="You expect that a lock lets one worker act at a time. Otherwise, such a program counts as not "
    "explored.",
)
def explore(**words: Any) -> None:
    """Run a program with several workers in every relevant order of their requests.

    Concurrent requests are held and released one at a time, in a different order in each run. Equivalent
    orders are skipped: two requests can change places if neither writes data that the other reads. If there
    are more orders than runs, explore tries random orders first, and then orders with few switches between
    workers. Each run has its own world with a frozen clock.

    The header X-Sandbox-Actor of a request names its worker. Without this header, the account is the name. If
    several workers have the same name, each is identified by its connection. An order is a finding if the
    program fails, if an invariant of sweep does not hold, or if the result differs from every run in which
    the workers act one after the other.

    If the program is pytest, tests with the fixture reseller_sandbox are explored one by one in its process.
    """
    from reseller_sandbox.cli import tool_runs

    if words["asked"]["url"] is not None:
        raise click.UsageError(
            "--url cannot be used with explore, which starts a server that can hold requests"
        )
    tool_runs.explore(**words)
