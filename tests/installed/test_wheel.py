"""The wheel, installed: the command, and the pytest plugin in repositories of its users."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.installed.conftest import run
from tests.testing.repositories import REPOSITORIES, lay_out


def test_the_plugin_works_beside_a_sandbox_of_the_user(
    python: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The user's own ``sandbox`` is a module or a package, in the root or below ``src``."""
    for name in REPOSITORIES:
        with subtests.test(repository=name):
            (folder := tmp_path / name).mkdir()
            lay_out(name, folder)
            assert "3 passed" in run(str(python), "-m", "pytest", "-q", at=folder)


def test_the_command_is_there(python: Path, tmp_path: Path) -> None:
    command = str(python.parent / "reseller-sandbox")
    assert "default: good" in run(command, "check", "default", "example", at=tmp_path)


KEPT = """
import requests, urllib3
from reseller_sandbox import Sandbox

assert urllib3.__version__.startswith("1.26.")
with Sandbox() as sandbox, sandbox.intercept("https://api.example.test"), requests.Session() as session:
    for _ in range(3):
        print(session.get("https://api.example.test/V2.0/domain/zones").status_code, end=" ")
    sandbox.faults.add("reset")
    try:
        session.get("https://api.example.test/V2.0/domain/zones")
    except requests.exceptions.RequestException as error:
        print(type(error).__name__)
"""


def test_requests_with_an_older_urllib3(python: Path, tmp_path: Path) -> None:
    """A session keeps its connection, and a fault raises the same exception."""
    install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*install, "--target", str(tmp_path), "requests", "urllib3==1.26.20")
    assert run(str(python), "-c", KEPT, PYTHONPATH=str(tmp_path)) == "403 403 403 ConnectionError\n"
