"""Base class of every command, exit statuses, and output to streams that may be closed."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from reseller_sandbox.refusals import CONTROL_TOKEN_MISSING, CONTROL_TOKEN_WRONG, INVALID_PARAMETER, Refused
from reseller_sandbox.values.kinds import span
from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.values.text_checks import printable

#: Exit statuses of a failed command. REFUSED: the server refused, or a check found mistakes. UNUSABLE: an
#: argument or a file is invalid. UNREACHABLE: no server answers. UNTRIED: a tool had nothing to try. UNREAD:
#: the program that reads the output closed the pipe.
REFUSED, UNUSABLE, UNREACHABLE, UNTRIED, UNREAD = 1, 2, 3, 4, 141

#: Class names of errors for unusable settings and files. They are names, not classes, because most commands
#: need not load all of these modules.
_UNUSABLE = {"BadSetting", "FixtureError", "CannotListen", "BadRecording", "UnusableTranscript"}

_TOKEN_RULES = (CONTROL_TOKEN_MISSING, CONTROL_TOKEN_WRONG)

PROGRAM = "reseller-sandbox"

EXITS = (
    "Exit status: 0 success, 1 rejected or mistakes found, 2 invalid arguments or settings, 3 server not "
    "reachable."
)

#: The types of options and arguments that name a file or a folder, only a file, and only a folder.
PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

_JSON: dict[str, Any] = {"is_flag": True, "help": "Print JSON, for programs."}

#: The option ``--json``, as a parameter object and as a decorator. Without it, commands print for people.
JSON = click.Option(["--json", "as_json"], **_JSON)
AS_JSON = click.option("--json", "as_json", **_JSON)


class Seconds(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.4
    """A duration, with the same forms as in pytest's options and in control operations."""

    name = "seconds"

    def __init__(self, least: float = 0) -> None:
        self._kind = span(least)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds. Fail if ``value`` is not a duration."""
        try:
            return self._kind.read(value)
        except ValueError as problem:
            self.fail(f"{value} {problem}", param, ctx)


class Command(click.Command):
    """Command whose help is its docstring, even under ``python -OO``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.help is None and self.callback is not None:
            self.help = docstring(self.callback)
        self.epilog = self.epilog or EXITS


def say_json(value: object) -> None:
    """Write ``value`` to standard output as JSON."""
    click.echo(as_json_text(value))


def as_json_text(value: object, indent: int | None = 2) -> str:
    """Return ``value`` as JSON for standard output. Characters that its encoding lacks are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return json.dumps(value, indent=indent)
    return text


def replace_missing_characters() -> None:
    """Let standard output and standard error replace each character that their encoding lacks by ``?``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def exit_on_error(problem: Exception) -> NoReturn:
    """Exit with the message and the status of an expected error. Raise any other error again."""
    names = {kind.__name__ for kind in type(problem).__mro__}
    if isinstance(problem, BrokenPipeError):  # The program that reads the output closed the pipe.
        give_up("", UNREAD)
    if isinstance(problem, Refused):
        remedy = " Use --control-token TOKEN." if problem.rule in _TOKEN_RULES else ""
        give_up(f"{problem.message}{remedy}", UNUSABLE if problem.rule is INVALID_PARAMETER else REFUSED)
    if "Unreachable" in names:
        give_up(str(problem), UNREACHABLE)
    if "NothingTried" in names:
        give_up(str(problem), UNTRIED)
    if isinstance(problem, OSError):
        give_up(f"{problem.filename or 'standard output'}: {problem.strerror or problem}")
    if names.isdisjoint(_UNUSABLE):
        raise problem
    give_up(str(problem))


def give_up(message: str, status: int = UNUSABLE) -> NoReturn:
    """Print ``message`` to standard error, if that is open, and exit with ``status``."""
    lines = "\n".join(map(printable, message.split("\n")))
    with suppress(OSError):
        click.echo(f"{PROGRAM}: {lines}" if message else "", err=True, nl=bool(message))
    # Redirect standard output. Otherwise the interpreter would write the rest at exit, and report the same
    # error again.
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
