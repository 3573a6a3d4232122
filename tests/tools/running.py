"""Run the command line in this process, and check whether a process has ended."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.command import QUICKLY


def command(*words: str | Path, stdin: bytes | None = None) -> Result:
    """Run ``reseller-sandbox`` with these words, and with this standard input."""
    [entry] = entry_points(group="console_scripts", name="reseller-sandbox")
    return CliRunner().invoke(entry.load(), [str(word) for word in words], input=stdin)


def printed(*words: str | Path) -> Any:
    done = command(*words)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def refused(words: list[str], problem: str) -> None:
    """Assert that a command refuses these words in one line, with status 2."""
    done = command(*words)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def with_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set variables so that a command finds the pytest of this environment, with few plugins."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name, value in QUICKLY.items():
        monkeypatch.setenv(name, value)


def is_gone(process: int) -> bool:
    """Whether a process has ended; a zombie counts as ended."""
    try:
        os.kill(process, 0)
        return " Z " in Path(f"/proc/{process}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return True
