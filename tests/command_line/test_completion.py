"""Shell completion: its installation, and its results in real shells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import Done, printed, program, run

BIN = str(Path(sys.executable).parent)
PLACES = ("ZDOTDIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")

#: Scripts that let a shell complete ``reseller-sandbox WORDS`` and print each offer on a line.
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


def install(shell: str, home: str | None, **places: str) -> Done:
    """Install the completion, with empty variables for all places but ``places``."""
    return run("completion", shell, "--install", env={**dict.fromkeys(PLACES, ""), "HOME": home, **places})


def offered(shell: str, home: Path, words: str) -> set[str]:
    """Return the offers of the shell for the last of ``words``."""
    command, script = ASKS[shell]
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in os.environ.keys() - set(PLACES)}
    done = subprocess.run(
        [program(command[0]), *command[1:], script.format(words=words)],
        env={**kept, "HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert not done.stderr
    return {line.partition("\t")[0].partition(":")[0] for line in done.stdout.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ASKS)
def test_a_shell_completes_commands_and_options_and_values(shell: str, tmp_path: Path) -> None:
    program(shell)
    assert install(shell, str(tmp_path)).status == 0
    assert {"clock", "completion"} <= offered(shell, tmp_path, "c")
    assert offered(shell, tmp_path, "clock fr") == {"freeze"}
    assert {"--fixture"} <= offered(shell, tmp_path, "serve --fix")
    assert offered(shell, tmp_path, "serve --profile o") == {"observed"}


def test_installing_the_completion_again_leaves_start_up_files_unchanged(tmp_path: Path) -> None:
    """The files keep their lines. Without ``--install`` the script is printed."""
    for shell in ASKS:
        assert "_RESELLER_SANDBOX_COMPLETE" in printed("completion", shell)
        home = tmp_path / shell
        home.mkdir()
        for name in (".bashrc", ".zshrc"):
            (home / name).write_text("echo mine")
        assert install(shell, str(home)).out.count("Wrote ") == (1 if shell == "fish" else 2)
        assert install(shell, str(home)).out.count("Wrote ") == 1
        for name in (".bashrc", ".zshrc"):
            lines = (home / name).read_text().splitlines()
            assert len(lines) == (2 if name == f".{shell}rc" else 1)
            assert lines[0] == "echo mine"


def test_completion_is_not_installed_without_a_usable_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".local").write_text("")
    for shell in ASKS:
        for home in ("", "here", "/no/such", str(tmp_path / ".local")):
            done = install(shell, home)
            assert (done.status, done.out) == (2, "")
            assert "HOME" in done.err
    done = install("bash", str(tmp_path))
    assert (done.status, done.err.count("\n"), ".local" in done.err) == (2, 1, True)
    assert [path.name for path in tmp_path.rglob("*")] == [".local"]
    done = install("zsh", "", ZDOTDIR=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    assert (done.status, done.out.count("Wrote ")) == (0, 2)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # a user without an account
    done = install("bash", None)
    assert (done.status, done.err.count("\n"), "Set HOME" in done.err) == (2, 1, True)
