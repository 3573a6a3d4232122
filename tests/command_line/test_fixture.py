"""``fixture new``: a fixture to begin with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import run


def test_it_is_written_and_is_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a file, which ``check`` takes, or to standard output."""
    monkeypatch.chdir(tmp_path)
    done = run("fixture", "new", "my world.yaml")
    assert done.status == 0
    assert "reseller-sandbox serve --watch --fixture 'my world.yaml'" in done.out
    assert run("check", "my world.yaml").status == 0
    assert run("fixture", "new").out == Path("my world.yaml").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there stays as it is, and a folder that is not is told."""
    file = tmp_path / "world.yaml"
    file.write_text("mine")
    for path, told in ((file, "File exists"), (tmp_path / "no" / "x.yaml", "No such file or directory")):
        done = run("fixture", "new", str(path))
        assert (done.status, done.out) == (2, "")
        assert done.err == f"reseller-sandbox: {path}: {told}\n"
    assert file.read_text() == "mine"


def test_programs_get_json(tmp_path: Path) -> None:
    """What each file holds, or its mistakes with their places; the status is the same."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("seed: mine")
    bad.write_text("seed: mine\nzonse: {}")
    done = run("check", str(good), str(bad), "--json")
    first, second = json.loads(done.out)
    assert (done.status, done.err) == (1, "")
    assert first == {"file": str(good), "zones": 0, "accounts": 0, "orders": 0, "problems": []}
    (problem,) = second["problems"]
    assert (problem["file"], problem["line"]) == (str(bad), 2)
    assert "zones" in problem["message"]
