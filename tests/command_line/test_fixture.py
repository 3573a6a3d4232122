"""``fixture new``: a fixture to begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main


def test_it_is_written_and_is_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a file, which ``check`` takes, or to standard output."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["fixture", "new", "my world.yaml"])
    assert done.exit_code == 0
    assert "reseller-sandbox serve --watch --fixture 'my world.yaml'" in done.stdout
    assert CliRunner().invoke(main, ["check", "my world.yaml"]).exit_code == 0
    assert CliRunner().invoke(main, ["fixture", "new"]).stdout == Path("my world.yaml").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays as it is, and a folder that is not is told."""
    file = tmp_path / "world.yaml"
    file.write_text("mine")
    for path, told in ((file, "File exists"), (tmp_path / "no" / "x.yaml", "No such file or directory")):
        done = CliRunner().invoke(main, ["fixture", "new", str(path)])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == f"reseller-sandbox: {path}: {told}\n"
    assert file.read_text() == "mine"
