"""Base of every command: its help, and standard streams, which may be closed or full."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from reseller_sandbox.values.parameters import docstring

#: Exit status of a failed command: a server or a check refused, the arguments are unusable, no server
#: answers, the reader of the output has left.
REFUSED, UNUSABLE, UNREACHABLE, UNREAD = 1, 2, 3, 141

PROGRAM = "reseller-sandbox"

EXITS = (
    "Exit status: 0 success, 1 rejected or mistakes found, 2 invalid arguments or settings, 3 server not "
    "reachable."
)

_JSON: dict[str, Any] = {"is_flag": True, "help": "Print JSON, for programs."}

#: The option of commands that print for people unless it is given: as a parameter, and as a decorator.
JSON = click.Option(["--json", "as_json"], **_JSON)
AS_JSON = click.option("--json", "as_json", **_JSON)


class Command(click.Command):
    """Command whose help is its docstring, under ``python -OO`` too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.help is None and self.callback is not None:
            self.help = docstring(self.callback)
        self.epilog = self.epilog or EXITS


def say(text: str | bytes, nl: bool = True) -> None:
    """Write ``text`` to standard output. End the program if that fails."""
    try:
        click.echo(text, nl=nl)
    except OSError as problem:
        exit_on_io_error(problem)


def say_json(value: Any) -> None:
    """Write ``value`` to standard output as JSON."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def write(file: Path, text: str) -> None:
    """Write ``text`` to ``file``. End the program if that fails."""
    try:
        file.write_text(text, "utf-8")
    except OSError as problem:
        give_up(f"{file}: {problem.strerror}")


def exit_on_io_error(problem: OSError) -> NoReturn:
    """End the program because of an I/O error, without a message if the reader has left."""
    if isinstance(problem, BrokenPipeError):
        give_up("", UNREAD)
    give_up(f"{problem.filename or 'standard output'}: {problem.strerror or problem}")


def give_up(message: str, status: int = UNUSABLE) -> NoReturn:
    """Print the reason to standard error, if it is open, and end the program with ``status``."""
    with suppress(OSError):
        click.echo(f"{PROGRAM}: {message}" if message else "", err=True, nl=bool(message))
    # Redirect standard output, because the interpreter would report the unwritten rest again at its end.
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
