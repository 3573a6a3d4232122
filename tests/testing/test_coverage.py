"""Coverage of a user's own tests: what is collected, by which tests, in which modes, and what is reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.testing.coverage import wishes
from tests.outfit import QUICKLY
from tests.testing.test_plugin import run

SUITE = """
import pytest
from reseller_sandbox.testing import SandboxTransport
import httpx

V2 = "https://api.example.test/V2.0/domain/"


def ask(sandbox, method, path, **more):
    headers = {"X-Auth-Token": sandbox.accounts["main"].token}
    with sandbox.intercept("https://api.example.test"):
        try:
            return httpx.request(method, V2 + path, headers=headers, **more)
        except httpx.TransportError:
            return None


@pytest.fixture(scope="module")
def shop(reseller_sandboxes):
    with reseller_sandboxes.fork() as world:
        yield world


def test_info(reseller_sandbox):
    ask(reseller_sandbox, "GET", "active-example.com")


def test_in_a_world_of_the_module(shop):
    ask(shop, "GET", "active-example.com")


def test_later_in_that_world(shop):
    ask(shop, "GET", "nobody-has-it.com")


def test_what_time_does(reseller_sandbox):
    with reseller_sandbox.fork() as other:
        other.clock.advance("P60D")


def test_a_fault(reseller_sandbox):
    reseller_sandbox.faults.add("error", error="Not enough funds on the balance sheet")
    ask(reseller_sandbox, "PUT", "active-example.com/renew")
    reseller_sandbox.faults.clear()
    reseller_sandbox.rewind("r1")


def test_nothing():
    pass
"""

INFO, FUNDS = "v2.domain.info", "v2.domain.renew Not enough funds on the balance sheet"


def covered(folder: Path) -> dict[str, dict[str, Any]]:
    """What the JSON of a run says of the items that were exercised, by name; the file has its version."""
    report = json.loads((folder / "covered.json").read_text())
    assert (report["version"], report["by"]) == (1, "tests")
    assert report["covered"] == sum(one["covered"] for one in report["items"]) > 0
    assert report["total"] == len(report["items"]) == report["covered"] + len(report["missing"])
    return {one["item"]: one for one in report["items"] if one["covered"]}


def short(tests: list[str]) -> set[str]:
    """The names of tests without their file."""
    return {test.partition("::")[2] for test in tests}


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run in the process of the tests, and what it has printed."""
    folder = tmp_path_factory.mktemp("run")
    options = ("term", "html:pages/look.html", "json:covered.json")
    (folder / "pages").mkdir()
    forms = (f"--reseller-sandbox-coverage={one}" for one in options)
    return folder, run(folder, SUITE, *forms, "--reseller-sandbox-cover-min", "operations=1")


@pytest.fixture
def running() -> Iterator[str]:
    """The address of a server that runs already."""
    with Sandbox(frozen=False).serve() as server:
        yield server.url


def test_each_item_is_told_with_the_tests_that_exercised_it(in_process: tuple[Path, str]) -> None:
    """Those alone that did, in a world of several tests too, and whatever became of the world."""
    folder, printed = in_process
    assert "6 passed" in printed
    found = covered(folder)
    assert short(found[INFO]["by"]) == {
        "test_info",
        "test_in_a_world_of_the_module",
        "test_later_in_that_world",
    }
    assert short(found[f"{INFO} active"]["by"]) == {"test_info", "test_in_a_world_of_the_module"}
    lost = f"{INFO} Object not found {{{{ info }}}}"
    assert short(found[lost]["by"]) == {"test_later_in_that_world"}
    assert (found[INFO]["times"], found[INFO]["carried_out"], found[INFO]["refused"]) == (3, 2, 1)
    assert short(found["redemption"]["by"]) == {"test_what_time_does"}
    assert short(found[FUNDS]["by"]) == short(found["error before"]["by"]) == {"test_a_fault"}
    assert (found[FUNDS]["times"], found[FUNDS]["injected"]) == (1, 1)


def test_the_terminal_says_how_much_and_what_is_missing(in_process: tuple[Path, str]) -> None:
    """A line for each area, the gaps that tell most, and where the files are."""
    folder, printed = in_process
    lines = printed.splitlines()
    begin = next(at for at, line in enumerate(lines) if "reseller sandbox: coverage of the contract" in line)
    assert lines[begin + 1].split()[:4] == ["operations", "1", "of", "54"]
    assert lines[begin + 8].startswith("all ")
    assert any(line.startswith("missing: ") for line in lines)
    assert f"html written to {folder / 'pages' / 'look.html'}" in lines
    assert f"json written to {folder / 'covered.json'}" in lines


def test_the_page_needs_nothing_else(in_process: tuple[Path, str]) -> None:
    """It is one file that asks for no other, with each item, the tests, and the lines to copy."""
    folder, _ = in_process
    page = (folder / "pages" / "look.html").read_text()
    assert "test_suite.py::test_a_fault" in page
    assert not {"<script", "<link", "@import", "url(h"} & {
        part for part in ("<script", "<link", "@import", "url(h") if part in page
    }
    assert "src=" not in page


@pytest.mark.slow
def test_the_same_is_collected_wherever_worlds_live(
    in_process: tuple[Path, str], tmp_path: Path, running: str
) -> None:
    """In a server of the run with workers side by side, and in one that runs already; said elsewhere."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nreseller_sandbox_coverage = json:covered.json\n")
    told = []
    for options, environment in (
        (("-n", "2", "--reseller-sandbox-mode", "server"), {}),
        ((), {"RESELLER_SANDBOX_MODE": running}),
    ):
        assert "6 passed" in run(tmp_path, SUITE, *options, **environment)
        told.append(covered(tmp_path))
    expected = covered(in_process[0])
    for found in told:
        assert set(found) == set(expected)
        assert {name: short(one["by"]) for name, one in found.items()} == {
            name: short(one["by"]) for name, one in expected.items()
        }
        assert {name: one["times"] for name, one in found.items()} == {
            name: one["times"] for name, one in expected.items()
        }


def test_too_little_fails_the_run(in_process: tuple[Path, str], tmp_path: Path) -> None:
    """Of all, or of an area, with a line for each that says so; so does a file that cannot be written."""
    assert "FAIL" not in in_process[1], "enough of the operations, as is asked for there"
    (tmp_path / "test_suite.py").write_text(SUITE)
    options = ("--reseller-sandbox-cover-min", "all=90,operations=3", "--reseller-sandbox-cover-of", "v2.*")
    file = ("--reseller-sandbox-coverage", "json:nowhere/covered.json")
    command = [sys.executable, "-m", "pytest", "-q", "-k", "test_info", *options, *file]
    told = {**os.environ, **QUICKLY}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False, env=told
    )
    assert "1 passed" in done.stdout
    assert "% of the contract is covered; --reseller-sandbox-cover-min asks for 90 %" in done.stdout
    unwritten = tmp_path / "nowhere" / "covered.json"
    assert f"FAIL json cannot be written to {unwritten}: No such file or directory" in done.stdout
    assert done.stdout.count("FAIL") == 2
    assert done.returncode == 1


class TestOptions:
    """What is asked for wrongly is told, with the nearest that is right."""

    def test_forms_and_files(self, tmp_path: Path) -> None:
        """Several forms, in one word or several."""
        asked = wishes("html, json:a b,c.json term", "", "", tmp_path)
        assert {name: path.name for name, path in asked.forms.items() if name != "term"} == {
            "html": "reseller-sandbox-coverage.html",
            "json": "a b,c.json",
        }
        assert set(wishes("", "80", "", tmp_path).forms) == {"term"}

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (("htlm", "", ""), "not 'htlm'; the nearest is html"),
            (("tests/", "", ""), "before a path write --reseller-sandbox-coverage=term"),
            (("term:file", "", ""), "not 'term:file'"),
            (("", "eighty", ""), "a percentage from 0 to 100"),
            (("", "101", ""), "a percentage from 0 to 100"),
            (("", "nan", ""), "a percentage from 0 to 100"),
            (("", "operation=90", ""), "not 'operation=90'; the nearest is operations"),
            (("term", "", "v4.*"), "--reseller-sandbox-cover-of: operation matches no operation"),
        ],
    )
    def test_mistakes(self, tmp_path: Path, given: tuple[str, str, str], said: str) -> None:
        """Before any test runs."""
        with pytest.raises(pytest.UsageError) as refused:
            wishes(*given, tmp_path)
        assert said in str(refused.value)


def test_nothing_is_loaded_for_it_where_it_is_not_asked_for(tmp_path: Path) -> None:
    """Nor is there a plugin."""
    suite = """
import sys

def test_it(pytestconfig):
    assert not [one for one in sys.modules if one.startswith("reseller_sandbox.coverage")]
    assert "reseller_sandbox.testing.coverage" not in sys.modules
    assert pytestconfig.pluginmanager.get_plugin("reseller_sandbox_coverage") is None
"""
    assert "1 passed" in run(tmp_path, suite)
