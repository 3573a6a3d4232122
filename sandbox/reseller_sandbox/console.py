"""What every command needs: its help, and standard streams, which may be closed, full or read by nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import click

from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.powers.listing import Told, powers_told

if TYPE_CHECKING:
    from reseller_sandbox.options import Options
    from reseller_sandbox.server.logwriter import LogWriter

#: How many seconds the lines of the log that wait are given when the server has stopped.
LOG_GRACE = 0.5


class Command(click.Command):
    """A command whose help is its docstring, under ``python -OO`` too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.help is None and self.callback is not None:
            self.help = docstring(self.callback)


class Configured(Command):
    """A command that takes settings, all or those ``named``; its function gets them as ``given``."""

    def __init__(self, *args: Any, named: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._named = named

    @cached_property
    def _options(self) -> Options:
        from reseller_sandbox.options import Options  # settings are loaded for the commands that take some

        return Options(*self._named)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters and the options of the settings, with ``--help`` last."""
        own = super().get_params(ctx)
        return [*own[:-1], *self._options.click, *own[-1:]]

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the settings of the command line, the environment and a file."""
        ctx.params["given"] = self._options.settled(ctx.params)
        return super().invoke(ctx)


class Listing(click.Group):
    """Commands that are listed by what is told of them; ``get_command`` loads one when it is asked for."""

    def told(self) -> Mapping[str, str]:
        """Return the help of each command, by its name."""
        return {name: one.help or "" for name, one in self.commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return sorted(self.told())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading one."""
        told = self.told()
        width = formatter.width - 6 - max(map(len, told))
        rows = [
            (name, click.Command(name, help=told[name]).get_short_help_str(width)) for name in sorted(told)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class PowerCommands(Listing):
    """The commands of a power. Without one of them, ``alone`` runs, where there is such a command."""

    def __init__(self, name: str, told: Told, alone: click.Command | None = None) -> None:
        by_itself = f"\n\nBy itself: {alone.help}" if alone else ""
        super().__init__(
            name,
            callback=self._by_itself,
            params=alone.params if alone else None,
            invoke_without_command=alone is not None,
            help=f"{told.docstring}{by_itself}",
        )
        self._told = told
        self._alone = alone

    def _by_itself(self, **words: Any) -> None:
        context = click.get_current_context()
        if self._alone and context.invoked_subcommand is None:
            context.invoke(self._alone, **words)

    def told(self) -> Mapping[str, str]:
        """Return what the docstring of each operation says."""
        return {name.replace("_", "-"): words for name, words in self._told.operations.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of that name; the power is loaded for it."""
        if cmd_name not in self.told():
            return None
        from reseller_sandbox.commands import commands_of

        return commands_of(self._told.load())[cmd_name]


class Commands(Command, Listing):
    """Commands that end with a message and an exit status when a standard stream fails."""

    command_class = Command

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that is asked for."""
        _occupy_standard_descriptors()
        if sys.stdout is None:
            give_up("standard output is closed; it is where the answer goes")
        try:
            return super().main(*args, **kwargs)
        except OSError as problem:
            give_up(f"{problem.filename or 'standard output'}: {problem.strerror or problem}")

    def told(self) -> Mapping[str, str]:
        """Return what is said of the commands written out, and of the powers."""
        return {**super().told(), **{name: power.docstring for name, power in powers_told().items()}}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; that of a power has its operations.

        A command with the name of a power runs when none of the power's commands is named.
        """
        alone, power = super().get_command(ctx, cmd_name), powers_told().get(cmd_name)
        return PowerCommands(cmd_name, power, alone) if power else alone


def say(text: str) -> None:
    """Write ``text`` to standard output; end the program when that fails."""
    try:
        click.echo(text)
    except OSError as problem:
        give_up(f"standard output: {problem.strerror or problem}")


def give_up(message: str, status: int = 2) -> NoReturn:
    """Say on standard error, as far as there is one, why the program ends, and end it with ``status``."""
    with suppress(OSError):
        click.echo(f"reseller-sandbox: {message}", err=True)
    # Otherwise the interpreter complains at its end, once more, of what it cannot write.
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


@contextmanager
def log_on_standard_error() -> Iterator[LogWriter | None]:
    """Log to standard error while the context lasts; nowhere when that is closed."""
    import logging

    from reseller_sandbox.server.logwriter import LogWriter

    if sys.stderr is None:
        logging.basicConfig(handlers=[logging.NullHandler()])
        yield None
        return
    # Not sys.stderr itself: the interpreter waits for the lock of its buffer when it ends.
    with open(sys.stderr.fileno(), "wb", buffering=0, closefd=False) as file:
        log = LogWriter(file, sys.stderr.encoding)
        logging.basicConfig(handlers=[log])
        try:
            yield log
        finally:
            log.end(LOG_GRACE)


def _occupy_standard_descriptors() -> None:
    """Open those of the descriptors 0, 1 and 2 that are closed, so that no socket gets one of the numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
