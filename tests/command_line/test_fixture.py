"""``fixture new``: a fixture to begin with."""

from __future__ import annotations

import json
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


def test_programs_get_json(tmp_path: Path) -> None:
    """What each file holds, or its mistakes with their places; the status is the same."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("seed: mine")
    bad.write_text("seed: mine\nzonse: {}")
    done = CliRunner().invoke(main, ["check", str(good), str(bad), "--json"])
    first, second = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (1, "")
    assert first == {"file": str(good), "zones": 0, "accounts": 0, "orders": 0, "problems": []}
    (problem,) = second["problems"]
    assert (problem["file"], problem["line"]) == (str(bad), 2)
    assert "zones" in problem["message"]


def test_assumptions_are_listed_for_programs() -> None:
    """The same list, without a server."""
    told = json.loads(CliRunner().invoke(main, ["assumptions", "--json"]).stdout)
    assert {"name", "value", "default", "takes", "about"} <= told[0].keys()
    assert len(told) > 50
