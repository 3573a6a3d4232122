"""Completion: installed by one command, and asked of the shells themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import run
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
    done = run("completion", shell, "--install", env=environment)
    assert done.status == 0, done.err
    return done.out


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


def test_installing_twice_writes_no_line_twice(tmp_path: Path) -> None:
    """The files keep what they had."""
    for shell in ASKS:
        home = tmp_path / shell
        home.mkdir()
        for name in (".bashrc", ".zshrc"):
            (home / name).write_text("echo mine")
        assert installed(shell, home).count(" is written\n") == (1 if shell == "fish" else 2)
        assert installed(shell, home).count(" is written\n") == 1
        for name in (".bashrc", ".zshrc"):
            lines = (home / name).read_text().splitlines()
            assert len(lines) == (2 if name == f".{shell}rc" else 1)
            assert lines[0] == "echo mine"


def test_without_install_the_script_is_printed() -> None:
    for shell in ASKS:
        assert "_RESELLER_SANDBOX_COMPLETE" in run("completion", shell).out


def test_a_place_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("")
    done = run("completion", "bash", "--install", env={"HOME": str(tmp_path), "XDG_DATA_HOME": ""})
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert ".local" in done.err


def test_without_a_home_folder_nothing_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor in the working directory. Folders that variables name need no home."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("")
    for shell in ASKS:
        for home in ("", "here", "/no/such", str(tmp_path / "FILE")):
            environment = {"HOME": home, "ZDOTDIR": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
            done = run("completion", shell, "--install", env=environment)
            assert (done.status, done.out) == (2, "")
            assert "HOME" in done.err
    assert [path.name for path in tmp_path.rglob("*")] == ["FILE"]
    environment = {"HOME": "", "ZDOTDIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = run("completion", "zsh", "--install", env=environment)
    assert (done.status, done.out.count(" is written\n")) == (0, 2)


def test_a_user_that_no_list_knows_is_asked_to_set_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    done = run("completion", "bash", "--install", env={"HOME": None, "XDG_DATA_HOME": ""})
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "set HOME" in done.err
