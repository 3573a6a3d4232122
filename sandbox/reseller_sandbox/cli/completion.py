"""Shell completion: click's scripts, printed or installed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from reseller_sandbox.cli.base import PROGRAM, Command, give_up

#: Start-up files of shells that do not load completions automatically.
_READ = {"bash": ".bashrc", "zsh": ".zshrc"}

#: Initialisation that zsh requires before any completion.
_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }\n"


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--install", is_flag=True, help="Put it where the shell finds it when it starts.")
def completion(shell: str, install: bool) -> None:
    """Print or install the shell completion of commands and options."""
    if not install:
        click.echo(_script(shell))
        return
    for file in _install(shell):
        click.echo(f"{file} is written")
    click.echo(f"Begin a new {shell} to use it.")


def _script(shell: str) -> str:
    """Return the completion script of a shell."""
    found = get_completion_class(shell)
    assert found is not None
    name = PROGRAM.replace("-", "_").upper()
    complete = found(click.Command(PROGRAM), {}, PROGRAM, f"_{name}_COMPLETE")
    made = complete.source_template % complete.source_vars()
    return f"{_ZSH}{made}" if shell == "zsh" else made


def _install(shell: str) -> list[Path]:
    """Install the script for a shell. Return the written files."""
    if shell == "fish":
        place, start = _folder("XDG_CONFIG_HOME", ".config") / "fish/completions" / f"{PROGRAM}.fish", None
    else:
        place = _folder("XDG_DATA_HOME", ".local/share") / PROGRAM / f"completion.{shell}"
        start = (_folder("ZDOTDIR", "") if shell == "zsh" else _home()) / _READ[shell]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_script(shell), "utf-8")
        return [place, start] if start and _has_come_to_read(start, place) else [place]
    except (OSError, UnicodeError) as problem:
        give_up(f"{getattr(problem, 'filename', None) or place}: {getattr(problem, 'strerror', problem)}")


def _has_come_to_read(start: Path, place: Path) -> bool:
    """Make ``start`` read ``place``. Return whether the line had to be added."""
    line = f". {shlex.quote(str(place))}"
    told = start.read_text("utf-8") if start.exists() else ""
    if line in told.splitlines():
        return False
    with start.open("a", encoding="utf-8") as file:
        file.write("\n" * (bool(told) and not told.endswith("\n")) + f"{line}\n")
    return True


def _folder(variable: str, default: str) -> Path:
    """Return the folder that a variable names, or the default folder in the home folder."""
    named = os.environ.get(variable)
    return Path(named) if named else _home() / default


def _home() -> Path:
    """Return the user's home folder. End the program if there is none."""
    instead = "set HOME, or print the script without --install"
    try:
        home = Path(os.environ["HOME"]) if "HOME" in os.environ else Path.home()
    except RuntimeError:
        give_up(f"nobody knows where your home folder is: {instead}")
    if not (home.is_absolute() and home.is_dir()):
        give_up(f"HOME is {os.environ.get('HOME', str(home))!r}, where no folder is: {instead}")
    return home
