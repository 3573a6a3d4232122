"""The bounds of the dependencies are true: it runs with the oldest versions and with the newest."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.installed.conftest import ROOT, locked, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ("httpx", "requests", "freezegun", "tls")

#: Tests that go through most of what others' packages are used for: the server, clients, schemas, commands.
TESTS = (
    "tests/server/test_server.py",
    "tests/server/test_hosts.py",
    "tests/testing/test_clients.py",
    "tests/testing/test_intercept.py",
    "tests/testing/test_frozen_time.py",
    "tests/web/test_app.py",
    "tests/web/test_writers.py",
    "tests/test_sandbox.py",
)


def oldest() -> str:
    """A pin for each lower bound."""
    wanted = [
        *PROJECT["dependencies"],
        *(row for one in EXTRAS for row in PROJECT["optional-dependencies"][one]),
    ]
    return "\n".join(re.sub(r"^([\w.-]+)>=([\w.]+).*$", r"\1==\2", row) for row in wanted)


def reachable() -> bool:
    """Whether there is a registry to take packages from."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "--timeout", "10", "idna"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_it_runs_within_its_bounds(which: str, wheel: Path, tmp_path: Path) -> None:
    """The wheel with its extras, and tests of the parts that touch what is not its own."""
    if not reachable():
        pytest.skip("no registry of packages can be reached")
    python = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(sys.executable, "-m", "venv", str(tmp_path / "environment"))
    pins = tmp_path / "pins.txt"
    theirs = {row.partition("==")[0].lower() for row in oldest().splitlines()}
    tools = [row for row in locked() if row.partition("==")[0].lower() in {"pytest", "hypothesis"}]
    pins.write_text("\n".join([*tools, *([oldest()] if which == "oldest" else [])]))
    install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    used = ("pytest", "pytest-timeout", "hypothesis", "jsonschema", "time-machine", "trustme", "PyYAML")
    run(*install, "-c", str(pins), f"{wheel}[{','.join(EXTRAS)}]", *used)
    versions = run(str(python), "-m", "pip", "freeze")
    if which == "oldest":
        assert {row.lower() for row in oldest().splitlines()} <= {
            row.lower() for row in versions.splitlines()
        }
    assert len(theirs) > 10
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-x")
    printed = run(str(python), "-m", "pytest", *options, *TESTS, at=ROOT)
    assert re.search(r"\d+ passed", printed), printed
