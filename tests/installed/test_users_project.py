"""A project of a user, with its code, its tests and its settings: it has the wheel, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installed.conftest import run

PROJECT = Path(__file__).parents[1] / "examples" / "billing"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project in a folder of its own."""
    return Path(
        shutil.copytree(PROJECT, tmp_path / "billing", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    )


@pytest.fixture
def server(python: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a server that runs already."""
    command = [str(python.parent / "reseller-sandbox"), "serve", "--port", "0", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        found = re.search(r"http://\S+", running.stdout.readline())
        assert found is not None
        yield found[0]
        running.terminate()
        running.communicate(timeout=60)


#: What the project's tests exercise, whatever the mode: each item, and by how many tests at least.
EXERCISED = {
    "v3.createDomain": 8,
    "v3.createDomain insufficient_funds": 1,
    "v3.createDomain name_taken": 1,
    "v3.balance signature_mismatch": 1,
    "nothing to active": 6,
    "expiry": 1,
    "reset after": 2,
    "latency after": 1,
}


def passes(python: Path, project: Path, *options: str, **environment: str) -> None:
    """Assert that the project passes, and exercises of the contract what it does anywhere."""
    said = {"RESELLER_SANDBOX_COVERAGE": "json:covered.json html", "RESELLER_SANDBOX_COVER_OF": "v3.*"}
    printed = run(str(python), "-m", "pytest", "-q", *options, at=project, **said, **environment)
    assert "14 passed" in printed
    report = json.loads((project / "covered.json").read_text())
    found = {one["item"]: len(one["by"]) for one in report["items"]}
    assert {name: found[name] for name in EXERCISED if found[name] < EXERCISED[name]} == {}
    assert "test_orders.py::test_somebody_else_was_faster" in (
        project / "reseller-sandbox-coverage.html"
    ).read_text("utf-8")


def test_it_passes_in_its_own_process(python: Path, project: Path) -> None:
    passes(python, project, "--reseller-sandbox-cover-min", "events=40")


def test_it_passes_with_a_server_of_the_run(python: Path, project: Path) -> None:
    passes(python, project, "-n", "2", "--reseller-sandbox-mode", "server")


def test_it_passes_with_a_server_that_runs(python: Path, project: Path, server: str) -> None:
    passes(python, project, "-n", "2", RESELLER_SANDBOX_MODE=server)


def test_its_types_hold(python: Path, project: Path) -> None:
    assert "Success" in run(str(python), "-m", "mypy", at=project)
