"""Coverage of a user's own tests: the covered items, by which tests, in which modes, and the reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.testing.conftest import Printed, run

pytest_plugins = "pytester"

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


def test_time(reseller_sandbox):
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


def covered(folder: Path) -> dict[str, tuple[int, set[str]]]:
    """The covered items of a JSON report, each with its count and the names of its tests."""
    report = json.loads((folder / "covered.json").read_text())
    assert (report["version"], report["by"]) == (1, "tests")
    items = [item for item in report["items"] if item["covered"]]
    assert report["covered"] == len(items) > 0
    assert report["total"] == len(report["items"]) == report["covered"] + len(report["missing"])
    return {item["item"]: (item["times"], {by.partition("::")[2] for by in item["by"]}) for item in items}


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run in the process of the tests, and its output."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "pages").mkdir()
    option = "--reseller-sandbox-coverage="
    forms = (f"{option}term html:pages/look.html", f"{option}json:covered.json")
    return folder, run(folder, SUITE, *forms, "--reseller-sandbox-cover-min", "operations=1")


def test_each_coverage_item_lists_the_tests_that_used_the_item(in_process: tuple[Path, str]) -> None:
    folder, said = in_process
    assert "6 passed" in said
    found = covered(folder)
    module, later = "test_in_a_world_of_the_module", "test_later_in_that_world"
    assert found[INFO] == (3, {"test_info", module, later})
    assert found[f"{INFO} active"][1] == {"test_info", module}
    assert found[f"{INFO} Object not found {{{{ info }}}}"][1] == {later}
    assert found["redemption"][1] == {"test_time"}
    assert found[FUNDS] == (1, {"test_a_fault"})
    assert found["error before"][1] == {"test_a_fault"}
    item = next(
        item for item in json.loads((folder / "covered.json").read_text())["items"] if item["item"] == INFO
    )
    assert (item["carried_out"], item["refused"], item["injected"]) == (2, 1, 0)


def test_the_terminal_and_the_page_show_the_coverage(in_process: tuple[Path, str]) -> None:
    """A line for each area, the most useful gaps, and the files; the page loads no other file."""
    folder, said = in_process
    lines = said.splitlines()
    begin = next(at for at, line in enumerate(lines) if "reseller sandbox: coverage of the contract" in line)
    assert lines[begin + 1].split()[:3] == ["operations", "1", "of"]
    assert [line.split()[0] for line in lines[begin + 9 : begin + 12]] == ["used", "used-errors", "all"]
    assert lines[begin + 9].split()[1:4] == ["2", "of", "16"], "two operations, each at some stages"
    assert any(line.startswith("missing: ") for line in lines)
    assert f"html written to {folder / 'pages' / 'look.html'}" in lines
    assert f"json written to {folder / 'covered.json'}" in lines
    page = (folder / "pages" / "look.html").read_text()
    assert "test_suite.py::test_a_fault" in page
    assert not [part for part in ("<script", "<link", "@import", "url(h", "src=") if part in page]


@pytest.mark.slow
def test_coverage_is_the_same_in_process_and_in_a_server(
    in_process: tuple[Path, str], tmp_path: Path, running: str
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nreseller_sandbox_coverage = json:covered.json\n")
    assert "6 passed" in run(tmp_path, SUITE, "-n", "2", "--reseller-sandbox-mode", "server")
    assert covered(tmp_path) == covered(in_process[0])
    assert "6 passed" in run(tmp_path, SUITE, RESELLER_SANDBOX_MODE=running)
    assert covered(tmp_path) == covered(in_process[0])


def test_too_little_coverage_and_unwritable_files_fail_the_run(
    in_process: tuple[Path, str], printed: Printed, tmp_path: Path
) -> None:
    assert "FAIL" not in in_process[1], "the minimum there is reached"
    least = (
        "--reseller-sandbox-cover-min",
        "all=90,used=1,used-errors=99",
        "--reseller-sandbox-cover-of",
        "v2.*",
    )
    said = printed(
        SUITE, "-k", "test_info", *least, f"--reseller-sandbox-coverage=json:{tmp_path}/nowhere/covered.json"
    )
    assert "1 passed" in said
    assert "% is covered; --reseller-sandbox-cover-min asks for all=90 %" in said
    unwritten = tmp_path / "nowhere" / "covered.json"
    assert f"FAIL json cannot be written to {unwritten}: No such file or directory" in said
    assert said.count("FAIL") == 3
    assert said.endswith("status 1")
