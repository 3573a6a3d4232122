"""The pytest plugin, seen as its users see it: in a test run of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.repositories import REPOSITORIES, lay_out

SUITE = """
import urllib.request

import pytest


def test_registers_a_name(sandbox):
    wanted = {"domain": {"domainName": "from-a-test.com"}}
    assert sandbox.client().post("/v3/domains/createDomain", json=wanted).json["status"] == "active"
    sandbox.clock.advance("1y")


def test_finds_everything_as_it_was(sandbox, sandbox_client):
    assert sandbox_client().get("/v3/balance").json[0]["balance"] == "10000.00"
    assert sandbox_client("poor").get("/v3/balance").json[0]["balance"] == "5.00"
    assert sandbox.clock.now.isoformat() == "2026-01-15T12:00:00+00:00"


def test_has_an_address(sandbox, sandbox_url):
    sandbox.clock.advance("1d")
    with urllib.request.urlopen(f"{sandbox_url}/_sandbox/clock") as answer:
        assert b"2026-01-16T12:00:00Z" in answer.read()


@pytest.mark.sandbox(fixture="example", assume={"v3.ids": "integer"})
def test_has_its_own_settings(sandbox):
    assert isinstance(sandbox.client().get("/v3/balance").json[0]["client-id"], int)
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the users' suite in a process of its own."""
    (folder / "test_suite.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_fixtures_are_there_without_an_import(tmp_path: Path) -> None:
    """Each test begins with a fresh world, may have an address, other accounts and settings of its own."""
    finished = run(tmp_path)
    assert "4 passed" in finished.stdout, finished.stdout


def test_one_run_that_fails_says_so(tmp_path: Path) -> None:
    """The suite above can fail: without the reset its second test would see the first one's money."""
    broken = SUITE.replace('"10000.00"', '"9989.01"')
    (tmp_path / "test_suite.py").write_text(broken)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "1 failed, 3 passed" in finished.stdout, finished.stdout


@pytest.mark.parametrize("name", REPOSITORIES)
def test_the_plugin_works_beside_a_sandbox_of_the_users_own(tmp_path: Path, name: str) -> None:
    """As a module or a package, in the root or below ``src``, it stands in nobody's way."""
    lay_out(name, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "3 passed" in finished.stdout, finished.stdout + finished.stderr
