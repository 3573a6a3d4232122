"""The bounds of the dependencies are true: it runs with the oldest versions and with the newest."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.installed.conftest import ROOT, locked, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ("httpx", "requests", "freezegun", "tls")

#: Tests that go through most of what others' packages are used for: the server, routing, schemas.
TESTS = ("tests/server/test_server.py", "tests/server/test_hosts.py", "tests/web/test_app.py")


def oldest() -> str:
    """A pin for each lower bound."""
    wanted = [
        *PROJECT["dependencies"],
        *(row for one in EXTRAS for row in PROJECT["optional-dependencies"][one]),
    ]
    return "\n".join(re.sub(r"^([\w.-]+)>=([\w.]+).*$", r"\1==\2", row) for row in wanted)


def versions(pins: str) -> dict[str, Version]:
    """The packages that are pinned, each at its version."""
    rows = (row.split("==") for row in pins.splitlines() if "==" in row)
    return {canonicalize_name(name): Version(number) for name, number in rows}


def reachable() -> bool:
    """Whether there is a registry to take packages from."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "--timeout", "10", "--retries", "1", "idna"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_it_runs_within_its_bounds(which: str, wheel: Path, tmp_path: Path) -> None:
    """The wheel with its extras, and tests of the parts that touch what is not its own."""
    if not reachable():
        pytest.skip("no registry of packages can be reached")
    python = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(sys.executable, "-m", "venv", str(tmp_path / "environment"))
    pins = tmp_path / "pins.txt"
    tools = [row for row in locked() if row.partition("==")[0].lower() in {"pytest", "hypothesis"}]
    pins.write_text("\n".join([*tools, *([oldest()] if which == "oldest" else [])]))
    install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    used = ("pytest", "pytest-timeout", "hypothesis", "jsonschema-rs", "time-machine", "trustme", "PyYAML")
    run(*install, "-c", str(pins), f"{wheel}[{','.join(EXTRAS)}]", *used)
    if which == "oldest":
        assert versions(oldest()).items() <= versions(run(str(python), "-m", "pip", "freeze")).items()
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-x")
    printed = run(str(python), "-m", "pytest", *options, *TESTS, at=ROOT)
    assert re.search(r"\d+ passed", printed), printed
