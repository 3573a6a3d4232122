"""The commands that look for mistakes in a client: ``sweep``, ``explore`` and ``calibrate``."""

from __future__ import annotations

import math
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource
from msgspec import Struct

from reseller_sandbox.cli.base import AS_JSON, JSON, REFUSED, UNUSABLE, Command, give_up, say, say_json, write
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.cli.server_options import calling
from reseller_sandbox.config_sources import variables
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.core.texts import printable
from reseller_sandbox.remote import There
from reseller_sandbox.server.server import CannotListen
from reseller_sandbox.settings import BadSetting, Settings
from reseller_sandbox.tools.defaults import ACCOUNT, ACTORS, MAX_RUNS, QUIET, SLOW, TIMEOUT
from reseller_sandbox.tools.options import MODE, variable

# The tools themselves are imported by the functions: they load Flask, which the help of a command needs not.
if TYPE_CHECKING:
    from reseller_sandbox.tools.explore import Explorer
    from reseller_sandbox.tools.explore.report import ExplorationReport
    from reseller_sandbox.tools.ground import Ground
    from reseller_sandbox.tools.running import CommandProgram, Tell
    from reseller_sandbox.tools.sweep import SweepWanted
    from reseller_sandbox.tools.sweep.report import SweepReport

_EXITS = (
    "Ends with 0 when nothing broke, 1 when something did, 2 when its words or settings cannot be used or "
    "the program fails by itself, 3 when no server answers."
)
_CALIBRATE_EXITS = "Ends with 0 when all is explained, 1 when something is not, 2 when a file cannot be used."

#: How much of the output of a program that does not pass is shown.
_SHOWN = 4000

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

_CAPSULES = click.option(
    "--capsules",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="capsules",
    show_default=True,
    help="Where a file is written for each run in which something was found, to do it again.",
)


class RunAsked(Struct, frozen=True):
    """The program to run, as a command line describes it, and the world to run it in."""

    words: Sequence[str]
    account: str
    timeout: float
    url: str | None
    world: str | None
    ca: str | None
    settings: dict[str, Any]
    said: Mapping[str, str]

    @contextmanager
    def opened(self) -> Iterator[tuple[Ground, CommandProgram]]:
        """Provide the place of the runs, and the program. End both if this process is told to end.

        End the process with one line if either cannot be had.
        """
        from reseller_sandbox.tools.ground import ground_at, own_ground
        from reseller_sandbox.tools.running import CommandProgram

        before = signal.signal(signal.SIGTERM, _end)
        try:
            with ExitStack() as stack:
                if self.url is None:
                    ground = stack.enter_context(own_ground(self.settings))
                    around = (
                        self.said
                    )  # a pytest that is run makes worlds for its tests like those of the program
                else:
                    token = self.settings.get("control_token")
                    there = There(self.url, self.world or "", token, authority=self.ca)
                    ground = stack.enter_context(ground_at(stack.enter_context(calling(there))))
                    around = {variable(MODE): ground.address(ground.prepared)}
                yield (
                    ground,
                    stack.enter_context(
                        CommandProgram(self.words, ground, self.account, self.timeout, around)
                    ),
                )
        except (BadSetting, CannotListen) as problem:
            give_up(str(problem))
        finally:
            signal.signal(signal.SIGTERM, before)


def _end(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


class RunningCommand(Configured):
    """A command that runs a program; its function gets that as ``asked``, and whether to print JSON."""

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
        ctx.params["asked"] = RunAsked(
            words=ctx.params.pop("command"),
            **{name: ctx.params.pop(name) for name in ("account", "timeout", *_AWAY)},
            said={settings[name]: _in_one(ctx.params[name]) for name in said if name in settings},
            settings=self._options.settled(ctx.params),
        )
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
@_CAPSULES
@_INVARIANTS
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
    from reseller_sandbox.tools.invariants import named
    from reseller_sandbox.tools.sweep import SweepWanted
    from reseller_sandbox.tools.sweep.troubles import FAULTS

    try:
        chosen = tuple(FAULTS) if kinds is None else tuple(kinds.replace(",", " ").split())
        wanted = SweepWanted(kinds=chosen, invariants=named(invariants), **given)
    except BadSetting as problem:
        give_up(str(problem))
    _report(_swept(asked, wanted, invariants), as_json, "sweeps")


def _swept(asked: RunAsked, wanted: SweepWanted, invariants: tuple[str, ...]) -> list[SweepReport]:
    """Return the reports on the program, and on each of its tests that has its own worlds."""
    from reseller_sandbox.tools.sweep import AskedNothing, BadProgram, sweep_program, tests_swept

    with asked.opened() as (ground, program), _progress("sweep") as tell:
        found: list[SweepReport] = []
        nothing: AskedNothing | None = None
        try:
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
            return found
        except BadProgram as problem:
            click.echo(problem.ended.output[-_SHOWN:], err=True, nl=False)
            give_up(str(problem), UNUSABLE)


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
@_CAPSULES
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
    from reseller_sandbox.tools.explore import Explorer, tests_explored
    from reseller_sandbox.tools.invariants import named

    if asked.url is not None:
        raise click.UsageError("--url does not go with explore: only a server of its own can hold requests")
    try:
        own = named(invariants)
    except BadSetting as problem:
        give_up(str(problem))
    with asked.opened() as (ground, program), _progress("explore") as tell:
        explorer = Explorer(ground=ground, program=program, invariants=own, **given)
        found, tests = _explored(explorer, tell)
        if tests:
            found += tests_explored(program, explorer, invariants, given["folder"], tell)
    _report(found, as_json, "explorations")


def _explored(explorer: Explorer, tell: Tell) -> tuple[list[ExplorationReport], Sequence[str]]:
    """Return the report on the program, and its tests that have their own worlds.

    Raise ``BadSetting`` if there is neither.
    """
    from reseller_sandbox.tools.explore import NotReached
    from reseller_sandbox.tools.explore.report import ExplorationReport
    from reseller_sandbox.tools.running import ASKED_NOTHING

    try:
        found = explorer.explore(tell)
    except NotReached as problem:
        if problem.ended.passed and problem.ended.tests:
            return [], problem.ended.tests
        raise
    tests = [test for order in found.orders for test in order.ended.tests]
    if found.never_passes and not explorer.schedule:
        return [ExplorationReport.of(found, problem="the program fails in every order")], ()
    if found.actors:
        return [ExplorationReport.of(found)], tests
    if not tests:
        raise BadSetting(ASKED_NOTHING)
    return [], tests


@contextmanager
def _progress(what: str) -> Iterator[Tell]:
    """Show a bar on a terminal's standard error; yield the function that takes each step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def tell(words: str, total: int | None) -> None:
            bar.update(task, advance=1, total=total, description=f"{what}: {words}"[:60])

        yield tell


def _report(found: Sequence[SweepReport | ExplorationReport], as_json: bool, together: str) -> None:
    """Print the reports on a program and on its tests, and end with the status that says what they found.

    As JSON several reports stand ``together`` under this key, below the sums of their numbers.
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
    from reseller_sandbox.reports.tables import in_lines, show
    from reseller_sandbox.tools.sweep.report import narrow

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


@click.command(cls=Command, epilog=_CALIBRATE_EXITS)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--write", "target", metavar="FILE", type=click.Path(path_type=Path), help="Write a profile there."
)
@click.option(
    "--fixture", metavar="PATH", help="What there was at first: zones and prices, accounts and names."
)
@AS_JSON
@click.pass_context
def calibrate(
    context: click.Context, files: tuple[Path, ...], target: Path | None, fixture: str | None, as_json: bool
) -> None:
    """Say what transcripts of a real service tell of what the contract leaves open.

    Each of FILES is a HAR file, as browsers and proxies write it, or what journal find --json prints. Nothing
    is sent anywhere. The profile that --write makes is for --profile. With a fixture of what the
    recording began with, more can be told: what depends on prices, on terms, and on what happened before.
    """
    from reseller_sandbox.fixture import FixtureError
    from reseller_sandbox.tools.calibrate import calibrated, report
    from reseller_sandbox.tools.calibrate.transcripts import UnusableTranscript, read_transcript

    try:
        read = [read_transcript(file) for file in files]
        found = calibrated((one for transcript in read for one in transcript.exchanges), fixture=fixture)
    except (UnusableTranscript, FixtureError) as problem:
        give_up(str(problem))
    passed_over = [one for transcript in read for one in transcript.passed_over]
    if not found.exchanges:
        give_up("the files tell of no request of the reseller API that was answered")
    if target is not None:
        write(target, report.profile(found, len(files)))
    if as_json:
        say_json(report.as_json(found, passed_over))
    else:
        say("\n".join(report.lines(found, passed_over)))
    context.exit(1 if found.deviations else 0)
