"""Completion: installed by one command, and asked of the shells themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main
from tests.outfit import program

BIN = str(Path(sys.executable).parent)

#: What a shell is told so that it completes ``reseller-sandbox WORDS``, and prints each offer on a line.
ASKS = {
    "bash": (
        ["bash", "--norc", "-c"],
        """. "$HOME/.bashrc"
        COMP_WORDS=(reseller-sandbox {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        $(complete -p reseller-sandbox | sed 's/.*-F \\([^ ]*\\).*/\\1/') reseller-sandbox
        printf '%s\\n' "${{COMPREPLY[@]}}" """,
    ),
    "zsh": (
        ["zsh", "-f", "-c"],
        """. "$HOME/.zshrc"
        compadd() {{ print -l -- ${{(P)@[-1]}}; }}; _describe() {{ print -l -- ${{(P)3}}; }}
        words=(reseller-sandbox {words}); CURRENT=$#words; $_comps[reseller-sandbox]""",
    ),
    "fish": (["fish", "-c"], "complete -C 'reseller-sandbox {words}'"),
}


def installed(shell: str, home: Path) -> str:
    """What the command says."""
    environment = {"HOME": str(home), "ZDOTDIR": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    done = CliRunner().invoke(main, ["completion", shell, "--install"], env=environment)
    assert done.exit_code == 0, done.output
    return done.stdout


def offered(shell: str, home: Path, words: str) -> set[str]:
    """What the shell offers for the last of ``words``."""
    command, script = ASKS[shell]
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8"}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR"):
        environment.pop(name, None)
    done = subprocess.run(
        [program(command[0]), *command[1:], script.format(words=words)],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert not done.stderr
    return {line.partition("\t")[0].partition(":")[0] for line in done.stdout.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ASKS)
def test_a_shell_completes_after_one_command(shell: str, tmp_path: Path) -> None:
    """Commands, those of the powers among them, their own commands, and options."""
    program(shell)
    installed(shell, tmp_path)
    assert {"clock", "completion"} <= offered(shell, tmp_path, "c")
    assert offered(shell, tmp_path, "clock fr") == {"freeze"}
    assert {"--fixture"} <= offered(shell, tmp_path, "serve --fix")
    assert offered(shell, tmp_path, "serve --profile o") == {"observed"}


@pytest.mark.parametrize("shell", ASKS)
def test_installing_twice_writes_no_line_twice(shell: str, tmp_path: Path) -> None:
    """What a shell reads keeps what it said, and says it once."""
    for name in (".bashrc", ".zshrc"):
        (tmp_path / name).write_text("echo mine")
    assert installed(shell, tmp_path).count(" is written\n") == (1 if shell == "fish" else 2)
    assert installed(shell, tmp_path).count(" is written\n") == 1
    for name in (".bashrc", ".zshrc"):
        lines = (tmp_path / name).read_text().splitlines()
        assert len(lines) == (2 if name == f".{shell}rc" else 1)
        assert lines[0] == "echo mine"


@pytest.mark.parametrize("shell", ASKS)
def test_it_is_printed_for_those_who_put_it_elsewhere(shell: str) -> None:
    """The same script."""
    told = CliRunner().invoke(main, ["completion", shell]).stdout
    assert "_RESELLER_SANDBOX_COMPLETE" in told


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """In one line."""
    (tmp_path / ".local").write_text("")
    done = CliRunner().invoke(
        main, ["completion", "bash", "--install"], env={"HOME": str(tmp_path), "XDG_DATA_HOME": ""}
    )
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert ".local" in done.stderr


@pytest.mark.parametrize("home", ["", "here", "/no/such", "FILE"])
@pytest.mark.parametrize("shell", ASKS)
def test_without_a_home_folder_nothing_is_installed(shell: str, home: str, tmp_path: Path) -> None:
    """Not in the root folder either, nor where one happens to stand."""
    (tmp_path / "FILE").write_text("")
    home = str(tmp_path / home) if home == "FILE" else home
    environment = {"HOME": home, "ZDOTDIR": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    done = CliRunner().invoke(main, ["completion", shell, "--install"], env=environment)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "HOME" in done.stderr
    assert not list(Path.cwd().glob(f"**/completion.{shell}"))


def test_who_has_no_home_folder_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of a container that no list knows."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    done = CliRunner().invoke(main, ["completion", "bash", "--install"], env={"XDG_DATA_HOME": ""})
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "set HOME" in done.stderr


def test_folders_that_are_named_need_no_home(tmp_path: Path) -> None:
    """What the shell is told to look in is enough."""
    environment = {"HOME": "", "ZDOTDIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = CliRunner().invoke(main, ["completion", "zsh", "--install"], env=environment)
    assert (done.exit_code, done.stdout.count(" is written\n")) == (0, 2)
