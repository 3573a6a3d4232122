"""The OpenAPI documents as the usual linters see them, which `make test-all` installs from npm."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.clients import Socket
from tests.outfit import program

pytestmark = pytest.mark.slow

LINTERS = Path(__file__).parents[2] / ".venv" / "openapi" / "node_modules" / ".bin"

#: A sandbox has nobody to write to; every other rule holds, warnings included.
RULES = {"extends": ["spectral:oas"], "rules": {"info-contact": "off"}}
SPECTRAL = ("spectral", "lint", "--ruleset", "rules.json", "--fail-severity", "warn")


@pytest.mark.parametrize("command", [("redocly", "lint"), SPECTRAL], ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["v3", "v2", "control"])
def test_a_linter_reports_no_error(url: str, tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    """In a document as a server serves it, examples included."""
    program("npm")
    linter, *options = command
    socket = Socket(url)
    served = socket("GET", f"/_sandbox/openapi/{name}.json", [], b"")
    socket.close()
    (tmp_path / f"{name}.json").write_bytes(served.raw)
    (tmp_path / "rules.json").write_text(json.dumps(RULES), "utf-8")
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        [program(str(LINTERS / linter)), *options, f"{name}.json"],
        cwd=tmp_path,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
