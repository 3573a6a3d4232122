"""What every command that runs a program takes: the program's words, its world, and how long it may take."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource
from msgspec import Struct

from reseller_sandbox.cli.base import JSON, Configured, give_up
from reseller_sandbox.testing.options import MODE, variable
from reseller_sandbox.tools.defaults import ACCOUNT, TIMEOUT

if TYPE_CHECKING:
    from reseller_sandbox.cli.options import Options
    from reseller_sandbox.tools.ground import Ground
    from reseller_sandbox.tools.running import CommandProgram

_EXITS = (
    "Ends with 0 when nothing broke, 1 when something did, 2 when its words or settings cannot be used or "
    "the program fails by itself, 3 when no server answers."
)

#: The settings that lead to a server that runs already; all others are for a server of this command's own.
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


#: The option of commands that take more invariants; ``named`` makes functions of what it is given.
INVARIANTS = click.option(
    "--invariant",
    "invariants",
    multiple=True,
    metavar="MODULE:FUNCTION",
    help="What holds after every run: it gets the Sandbox, and returns words if not; may come often.",
)

#: The option of commands that leave a file of what they found.
CAPSULES = click.option(
    "--capsules",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="capsules",
    show_default=True,
    help="Where a file is written for each run in which something was found, to do it again.",
)


class RunAsked(Struct, frozen=True, kw_only=True):
    """A program to be run, and the world that it is to be run against."""

    words: tuple[str, ...]
    account: str
    timeout: float
    url: str | None
    world: str | None
    ca: str | None
    settings: dict[str, Any]
    said: Mapping[str, str]

    def _around(self, ground: Ground) -> dict[str, str]:
        """Return what has a pytest that is run make its tests worlds like those of the program."""
        if self.url is None:
            return dict(self.said)
        return {variable(MODE): ground.address(ground.prepared)}

    @contextmanager
    def opened(self) -> Iterator[tuple[Ground, CommandProgram]]:
        """Provide the place of the runs, and the program; end both where this process is told to end.

        End the program with one line where either cannot be had.
        """
        from reseller_sandbox.server.server import CannotListen
        from reseller_sandbox.settings import BadSetting
        from reseller_sandbox.tools.running import CommandProgram

        before = signal.signal(signal.SIGTERM, _ended)
        try:
            with (
                self._ground() as ground,
                CommandProgram(
                    self.words,
                    ground,
                    account=self.account,
                    timeout=self.timeout,
                    around=self._around(ground),
                ) as program,
            ):
                yield ground, program
        except (BadSetting, CannotListen) as problem:
            give_up(str(problem))
        finally:
            signal.signal(signal.SIGTERM, before)

    @contextmanager
    def _ground(self) -> Iterator[Ground]:
        from reseller_sandbox.cli.server_options import calling
        from reseller_sandbox.remote import There
        from reseller_sandbox.tools.ground import ground_at, own_ground

        if self.url is None:
            with own_ground(self.settings) as ground:
                yield ground
            return
        token = self.settings.get("control_token")
        there = There(self.url, self.world or "", token, authority=self.ca)
        with calling(there) as server, ground_at(server) as ground:
            yield ground


class RunningCommand(Configured):
    """A command that runs a program; its function gets that as ``asked``, and whether to print JSON."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {"allow_interspersed_args": False, **kwargs.get("context_settings", {})}
        super().__init__(*args, **kwargs)
        self.params += [
            click.Argument(
                ["command"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND"
            ),
            *_OPTIONS,
        ]
        self.epilog = _EXITS

    @cached_property
    def _options(self) -> Options:
        from reseller_sandbox.cli.options import Options
        from reseller_sandbox.core.signatures import declared
        from reseller_sandbox.settings import Settings

        return Options(*(one.name for one in declared(Settings)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with what is asked for."""
        said = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        own = {one.name for one in self._options.click} - {"control_token"}
        _require_one_place(ctx, [name for name in said if name in own], [one for one in said if one in _AWAY])
        from reseller_sandbox.config_sources import variables

        told = {name: ctx.params[name] for name in said if name in variables()}
        ctx.params["asked"] = RunAsked(
            words=ctx.params.pop("command"),
            **{name: ctx.params.pop(name) for name in ("account", "timeout", *_AWAY)},
            settings=self._options.settled(ctx.params),
            said={variables()[name]: _in_one(value) for name, value in told.items()},
        )
        return click.Command.invoke(self, ctx)


def _require_one_place(ctx: click.Context, own: list[str], away: list[str]) -> None:
    if away and "url" not in away:
        raise click.UsageError(f"--{away[0]} goes with --url", ctx)
    if away and own:
        name = own[0].replace("_", "-")
        raise click.UsageError(f"--{name} does not go with --url: the server there has its settings", ctx)


def _in_one(value: Any) -> str:
    """Return what an option was given as one word, as a variable of the environment has it."""
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _ended(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
