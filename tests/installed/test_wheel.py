"""The wheel, installed: the command, and the pytest plugin in repositories of its users."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed.conftest import run
from tests.testing.repositories import REPOSITORIES, lay_out


@pytest.mark.parametrize("name", REPOSITORIES)
def test_the_plugin_works_beside_a_sandbox_of_the_users_own(python: Path, tmp_path: Path, name: str) -> None:
    """As a module or a package, in the root or below ``src``, it stands in nobody's way."""
    lay_out(name, tmp_path)
    assert "3 passed" in run(str(python), "-m", "pytest", "-q", at=tmp_path)


def test_the_command_is_there(python: Path, tmp_path: Path) -> None:
    """With its fixtures, wherever it is called."""
    command = str(python.parent / "reseller-sandbox")
    assert "default: good" in run(command, "check", "default", "example", at=tmp_path)
