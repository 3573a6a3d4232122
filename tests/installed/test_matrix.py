"""The same fixture and the same requests give the same bytes under every Python, hash order and time zone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.installed.conftest import run
from tests.test_determinism import ENVIRONMENTS, SCRIPT


@pytest.fixture(scope="session")
def expected() -> str:
    """What the script prints here, in the working tree."""
    import subprocess

    return subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment["TZ"])
def test_equal_scripts_give_equal_bytes(python: Path, expected: str, environment: dict[str, str]) -> None:
    """From the wheel, as users have it."""
    assert run(str(python), str(SCRIPT), at=None, **environment) == expected
