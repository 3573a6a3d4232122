"""What every command needs: its help, and standard streams, which may be closed, full or read by nobody."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from reseller_sandbox.cli.lazy_groups import Listing, LoadedLater, PowerCommands
from reseller_sandbox.core.signatures import docstring
from reseller_sandbox.powers import SUMMARIES

if TYPE_CHECKING:
    import logging

    from reseller_sandbox.cli.options import Options
    from reseller_sandbox.server.log import LogWriter

#: How a command ends that has done nothing: since a server or a check refused, since its words cannot be
#: used, since no server answers, since nobody reads what it prints.
REFUSED, UNUSABLE, UNREACHABLE, UNREAD = 1, 2, 3, 141

PROGRAM = "reseller-sandbox"


class RequestWord(click.ParamType):  # type: ignore[type-arg]  # which is generic in the latest releases alone
    """A word that a request is made of, which has to be UTF-8, and ``takes`` what a pattern does."""

    name = "text"

    def __init__(self, pattern: str, takes: str) -> None:
        self._pattern = re.compile(pattern, re.DOTALL)
        self._takes = takes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word; end the command where it cannot be used."""
        if self._pattern.fullmatch(value) is None:
            self.fail(f"{value[:80]!r} is not {self._takes}", param, ctx)
        return value


#: A request's method, and its other words.
METHOD = RequestWord(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}", "a method such as GET")
WHOLE = RequestWord(r"[^\ud800-\udfff]*", "UTF-8")

EXITS = (
    "Ends with 0 when it is done, 1 when it is refused (or a check finds mistakes), 2 when its words or "
    "settings cannot be used, 3 when no server answers."
)

_JSON: dict[str, Any] = {"is_flag": True, "help": "Print JSON, for programs."}

#: The option of commands that print for people unless it is given: as a parameter, and as a decorator.
JSON = click.Option(["--json", "as_json"], **_JSON)
AS_JSON = click.option("--json", "as_json", **_JSON)

#: How many seconds the lines of the log that wait are given when the server has stopped.
LOG_GRACE = 0.5


class Command(click.Command):
    """A command whose help is its docstring, under ``python -OO`` too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.help is None and self.callback is not None:
            self.help = docstring(self.callback)
        self.epilog = self.epilog or EXITS


class Configured(Command):
    """A command that takes settings, all or those ``named``; its function gets them as ``given``."""

    def __init__(self, *args: Any, named: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._named = named

    @cached_property
    def _options(self) -> Options:
        from reseller_sandbox.cli.options import (
            Options,  # settings are loaded for the commands that take some
        )

        return Options(*self._named)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters and the options of the settings, with ``--help`` last."""
        own = super().get_params(ctx)
        return [*own[:-1], *self._options.click, *own[-1:]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its options: the settings by what they are about, unless it takes a few alone."""
        if self._named:
            super().format_options(ctx, formatter)
        else:
            self._options.format(self.get_params(ctx), ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the settings of the command line, the environment and a file."""
        ctx.params["given"] = self._options.settled(ctx.params)
        return super().invoke(ctx)


class Reaching(Command):
    """A command that calls a server; its function gets the way there as ``server``."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters and the options that say where the server is, with ``--help`` last."""
        from reseller_sandbox.cli.server_options import OPTIONS

        own = super().get_params(ctx)
        return [*own[:-1], *OPTIONS, *own[-1:]]

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with the way to the server."""
        from reseller_sandbox.cli.server_options import door

        ctx.params["server"] = door(ctx.params)
        return super().invoke(ctx)


class ReachingConfigured(Reaching, Configured):
    """A command that calls a server and takes settings."""


class Commands(Command, Listing):
    """Commands that end with a message and an exit status when a standard stream fails.

    ``sections`` are their names by the titles under which the help shows them; one with no name has the rest.
    """

    command_class = Command

    def __init__(self, *args: Any, sections: Mapping[str, tuple[str, ...]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of all commands, by the titles under which the help shows them."""
        named = {name for names in self._sections.values() for name in names}
        rest = sorted(self.told().keys() - named)
        return {title: names or rest for title, names in self._sections.items()}

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that is asked for."""
        _occupy_standard_descriptors()
        if sys.stdout is None:
            give_up("standard output is closed; it is where the answer goes")
        try:
            ended = super().main(*args, **{**kwargs, "prog_name": PROGRAM, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as without:
            without.show()
            sys.exit(UNUSABLE)
        except click.ClickException as problem:
            give_up(_said(problem))
        except click.Abort:
            give_up("interrupted", 130)
        except OSError as problem:
            unwritten(problem)
        sys.exit(ended if isinstance(ended, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; end without a word when the reader of what it prints has left."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as problem:  # click has an end of its own for it
            unwritten(problem)

    def told(self) -> Mapping[str, str]:
        """Return what is said of the powers, and of the other commands."""
        named = self.commands.keys() - SUMMARIES.keys()
        others = {name: self.get_command(click.Context(self), name) for name in named}
        return {**SUMMARIES, **{name: one.help or "" for name, one in others.items() if one}}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; that of a power has its operations.

        A command with the name of a power runs when none of the power's commands is named, and so does the
        only one that there is.
        """
        alone = super().get_command(ctx, cmd_name)
        if isinstance(alone, LoadedLater):
            alone = alone.load()
        return PowerCommands(cmd_name, alone) if cmd_name in SUMMARIES else alone


def say(text: str | bytes, nl: bool = True) -> None:
    """Write ``text`` to standard output; end the program when that fails."""
    try:
        click.echo(text, nl=nl)
    except OSError as problem:
        unwritten(problem)


def say_json(told: Any) -> None:
    """Write what is told to programs to standard output."""
    say(json.dumps(told, ensure_ascii=False, indent=2))


def write(file: Path, text: str) -> None:
    """Write a text to a file; end the program when that fails."""
    try:
        file.write_text(text, "utf-8")
    except OSError as problem:
        give_up(f"{file}: {problem.strerror}")


def unwritten(problem: OSError) -> NoReturn:
    """End the program because of what cannot be written or read; without a word where the reader has left."""
    if isinstance(problem, BrokenPipeError):
        give_up("", UNREAD)
    give_up(f"{problem.filename or 'standard output'}: {problem.strerror or problem}")


def _said(problem: click.ClickException) -> str:
    """Return in one line what is wrong with the words of a command, and where its help is."""
    message = " ".join(problem.format_message().rstrip(".").split())
    if isinstance(problem, click.NoSuchOption):
        near = f"; the nearest is {problem.possibilities[0]}" if problem.possibilities else ""
        if problem.ctx and problem.option_name[2:] in _arguments(problem.ctx):
            near = f"; {problem.option_name[2:]} is given without a name"
        message = f"there is no option {problem.option_name}{near}"
    context = getattr(problem, "ctx", None)
    if context is None:
        return message
    return f"{message[:1].lower()}{message[1:]}; see {context.command_path} --help"


def _arguments(context: click.Context) -> set[str]:
    """Return what the arguments of a command are called; those of powers have another name within click."""
    params = context.command.params
    return {getattr(one, "called", one.name) for one in params if isinstance(one, click.Argument)}


def give_up(message: str, status: int = UNUSABLE) -> NoReturn:
    """Say on standard error, as far as there is one, why the program ends, and end it with ``status``."""
    with suppress(OSError):
        click.echo(f"{PROGRAM}: {message}" if message else "", err=True, nl=bool(message))
    # Otherwise the interpreter complains at its end, once more, of what it cannot write.
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


@contextmanager
def log_on_standard_error(form: logging.Formatter | None = None) -> Iterator[LogWriter | None]:
    """Log to standard error while the context lasts, in lines or in ``form``; nowhere when that is closed."""
    import logging

    from reseller_sandbox.server.log import LogWriter

    if sys.stderr is None:
        logging.basicConfig(handlers=[logging.NullHandler()])
        yield None
        return
    # Not sys.stderr itself: the interpreter waits for the lock of its buffer when it ends.
    with open(sys.stderr.fileno(), "wb", buffering=0, closefd=False) as file:
        log = LogWriter(file, sys.stderr.encoding, form=form)
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
