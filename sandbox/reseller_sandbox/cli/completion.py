"""Shell completion: click's scripts, printed or installed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from reseller_sandbox.cli.base import PROGRAM, Command, give_up

#: Start-up files of shells that do not load completions automatically.
_START_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}

#: Initialisation that zsh requires before any completion.
_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n"


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--install", is_flag=True, help="Write the script to a file that the shell loads at its start.")
def completion(shell: str, install: bool) -> None:
    """Print or install the script that lets a shell complete commands and options."""
    if not install:
        click.echo(_script(shell))
        return
    for file in _install(shell):
        click.echo(f"Wrote {file}.")
    click.echo(f"Start a new {shell} to use the completion.")


def _script(shell: str) -> str:
    """Return the completion script of a shell."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    name = PROGRAM.replace("-", "_").upper()
    complete = completion_class(click.Command(PROGRAM), {}, PROGRAM, f"_{name}_COMPLETE")
    script = complete.source_template % complete.source_vars()
    return f"{_ZSH}{script}" if shell == "zsh" else script


def _install(shell: str) -> list[Path]:
    """Install the script for a shell. Return the written files."""
    if shell == "fish":
        place, start = _folder("XDG_CONFIG_HOME", ".config") / "fish/completions" / f"{PROGRAM}.fish", None
    else:
        place = _folder("XDG_DATA_HOME", ".local/share") / PROGRAM / f"completion.{shell}"
        start = (_folder("ZDOTDIR", "") if shell == "zsh" else _home()) / _START_FILES[shell]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(_script(shell), "utf-8")
    return [place, start] if start and _add_line(start, place) else [place]


def _add_line(start: Path, place: Path) -> bool:
    """If the start-up file ``start`` does not load the script ``place``, add a line that does."""
    line = f". {shlex.quote(str(place))}"
    text = start.read_text("utf-8", "replace") if start.exists() else ""
    if line in text.splitlines():
        return False
    with start.open("a", encoding="utf-8") as file:
        file.write("\n" * (bool(text) and not text.endswith("\n")) + f"{line}\n")
    return True


def _folder(variable: str, default: str) -> Path:
    """Return the folder in an environment variable, or else ``default`` in the home folder."""
    path = os.environ.get(variable)
    return Path(path) if path else _home() / default


def _home() -> Path:
    """Return the user's home folder. If it does not exist, exit with a message."""
    home = os.environ.get("HOME", os.path.expanduser("~"))
    if not (os.path.isabs(home) and os.path.isdir(home)):
        give_up(f"the home folder {home!r} does not exist. Set HOME, or print the script without --install")
    return Path(home)
