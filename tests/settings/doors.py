"""The doors by which a server and the tests are told settings, as tests go through them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main
from reseller_sandbox.settings import BadSetting, ServerSettings
from tests.outfit import QUICKLY
from tests.settings.examples import words


def as_option(name: str) -> str:
    """The option for a setting, as a reader of the manual spells it."""
    singular = {"public_urls": "public-url", "token_headers": "token-header", "tls_names": "tls-name"}
    return "--" + singular.get(name, name).replace("_", "-")


def as_variable(name: str) -> str:
    """Its variable."""
    return "RESELLER_SANDBOX_" + as_option(name)[2:].replace("-", "_").upper()


def on_the_command_line(name: str, value: Any) -> list[str]:
    """The words that say it to ``serve``."""
    if isinstance(value, bool):
        return [as_option(name) if value else f"--no-{as_option(name)[2:]}"]
    return [piece for word in words(value) for piece in (as_option(name), word)]


def write_table(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Write a ``pyproject.toml`` that says it."""
    lines = [f"{name} = {_toml(value)}" for name, value in settings.items()]
    path = folder / "pyproject.toml"
    path.write_text("\n".join(["[tool.reseller_sandbox]", *lines, ""]))
    return path


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


class Serve:
    """``reseller-sandbox serve``, up to where it has its settings."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._told: list[ServerSettings] = []
        monkeypatch.setattr("reseller_sandbox.assembly.open_worlds", self._stop)

    def _stop(self, settings: ServerSettings, **_: Any) -> None:
        self._told.append(settings)
        raise SystemExit(0)

    def __call__(self, arguments: Iterable[str] = (), **environment: str) -> ServerSettings:
        """The settings it begins with; raises ``BadSetting`` with the one line that it prints instead."""
        done = CliRunner().invoke(main, ["serve", *arguments], env=environment)
        if done.exit_code == 0:
            return self._told.pop()
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
        raise BadSetting(done.stderr.removeprefix("reseller-sandbox: ").strip())


def run_suite(folder: Path, suite: str) -> str:
    """What pytest prints of a user's suite in ``folder``."""
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--strict-markers"]
    told = {**os.environ, **QUICKLY}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=told
    )
    return done.stdout + done.stderr
