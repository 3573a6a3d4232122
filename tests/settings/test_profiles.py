"""A profile can be a file: a fixture, of which the assumptions count."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.settings import BadSetting

PROFILE = "assume:\n  v3.ids: integer\n  v2.domain_check.avail: boolean\n"


def test_a_file_is_a_profile(tmp_path: Path) -> None:
    """Its assumptions hold in the first world and in one that begins as a fixture says; settings win."""
    (file := tmp_path / "real.yaml").write_text(PROFILE)
    sandbox = Sandbox(profile=file, assume={"v2.domain_check.avail": "string"})
    assert sandbox.assumptions["v3.ids"] == "integer"
    assert sandbox.assumptions["v2.domain_check.avail"] == "string"
    sandbox.load("now: 2030-01-01T00:00:00Z")
    assert sandbox.assumptions["v3.ids"] == "integer"


def test_the_command_takes_the_file_too(tmp_path: Path) -> None:
    """It lists the assumptions with the values of the file, in one line refuses one that is none."""
    (file := tmp_path / "real.yaml").write_text(PROFILE)
    done = CliRunner().invoke(main, ["assumptions", "--profile", str(file)])
    assert "v3.ids=integer\n" in done.output
    done = CliRunner().invoke(main, ["assumptions", "--profile", "observd"])
    assert done.exit_code == 2
    assert "the nearest is observed" in done.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("assume: {v3.idz: integer}", "is no assumption; the nearest is v3.ids"),
        ("assume: [", "real.yaml:2:1: this is not YAML"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """The file is named, and what is wrong in it."""
    (file := tmp_path / "real.yaml").write_text(text)
    with pytest.raises(BadSetting, match=r"real\.yaml") as refused:
        Sandbox(profile=file)
    assert told in str(refused.value)


def test_a_file_beside_the_settings_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path in a ``pyproject.toml`` starts from its folder."""
    from reseller_sandbox.sources import from_file

    (tmp_path / "real.yaml").write_text(PROFILE)
    (tmp_path / "pyproject.toml").write_text('[tool.reseller_sandbox]\nprofile = "real.yaml"\n')
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert from_file(Path.cwd())["profile"] == str(tmp_path / "real.yaml")


@pytest.mark.parametrize("setting", ["profile", "fixture"])
def test_a_name_that_no_file_can_have_is_refused(setting: str, tmp_path: Path) -> None:
    """One too long is no file, whoever says it: Python, a word of a command, or a table of a file."""
    for given in ("x" * 300, Path("x" * 300)):
        wrong: dict[str, Any] = {setting: given}
        with pytest.raises(BadSetting, match="x" * 20):
            Sandbox(**wrong)
    table = f'[tool.reseller_sandbox]\n{setting} = "{"x" * 300}"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    for words in (["serve", f"--{setting}", "x" * 300, "--port", "0"], ["serve", "--port", "0"]):
        done = subprocess.run(
            [sys.executable, "-m", "reseller_sandbox", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
