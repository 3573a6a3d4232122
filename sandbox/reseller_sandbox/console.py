"""What every command needs: its help, and standard streams, which may be closed, full or read by nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import click

from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.powers.listing import powers_told

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


#: The names that a command without a server has in common with a power.
SHARED = frozenset({"assumptions"})


class Commands(Command, click.Group):
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

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands: those written out, and the powers."""
        return sorted({*super().list_commands(ctx), *powers_told()})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading a power."""
        told = {name: one.help or "" for name, one in self.commands.items()}
        told |= powers_told()
        width = formatter.width - 6 - max(map(len, told))
        rows = [
            (name, click.Command(name, help=told[name]).get_short_help_str(width)) for name in sorted(told)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; those of the powers are loaded when they are asked for.

        A command with the name of a power runs when none of the power's commands is named.
        """
        found = super().get_command(ctx, cmd_name)
        if found is not None and cmd_name not in SHARED:
            return found
        from reseller_sandbox.commands import group

        return group(cmd_name, found)


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
