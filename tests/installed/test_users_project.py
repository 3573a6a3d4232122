"""A project of a user, with its code, its tests and its settings: it has the wheel, and nothing else."""

from __future__ import annotations

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
        running.communicate(timeout=20)


def test_it_passes_in_its_own_process(python: Path, project: Path) -> None:
    """As somebody runs it by hand."""
    assert "14 passed" in run(str(python), "-m", "pytest", "-q", at=project)


def test_it_passes_with_a_server_of_the_run(python: Path, project: Path) -> None:
    """With two workers, each of which has one."""
    options = ("-n", "2", "--reseller-sandbox-mode", "server")
    assert "14 passed" in run(str(python), "-m", "pytest", "-q", *options, at=project)


def test_it_passes_with_a_server_that_runs(python: Path, project: Path, server: str) -> None:
    """With two workers that share it."""
    printed = run(str(python), "-m", "pytest", "-q", "-n", "2", at=project, RESELLER_SANDBOX_MODE=server)
    assert "14 passed" in printed


def test_its_types_hold(python: Path, project: Path) -> None:
    """Strictly, those of its tests too."""
    assert "Success" in run(str(python), "-m", "mypy", at=project)
