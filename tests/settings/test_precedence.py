"""An argument goes before the environment, that before the file, and the file before the default."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reseller_sandbox import BadSetting, Sandbox, connect
from tests.command import run
from tests.outfit import QUICKLY
from tests.settings.examples import EXAMPLES, OF_A_SERVER, started, write_table

PROFILE = "assume:\n  v3.ids: integer\n  v2.domain_check.avail: boolean\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_nearer_source_counts(folder: Path) -> None:
    """Shown by the header that a request is signed with, and by the port that a command asks."""
    sign = ("sign", "GET", "/v3/balance", "--fixture", "default")
    assert "X-SVC-APIKEY" in run(*sign).out
    write_table(folder, {"header_prefix": "X-FILE-", "port": 1})
    variable = {"RESELLER_SANDBOX_HEADER_PREFIX": "X-ENV-"}
    assert "X-FILE-APIKEY" in run(*sign).out
    assert "X-FILE-APIKEY" in run(*sign, env={"RESELLER_SANDBOX_HEADER_PREFIX": ""}).out
    assert "X-ENV-APIKEY" in run(*sign, env=variable).out
    assert "X-ARG-APIKEY" in run(*sign, "--header-prefix", "X-ARG-", env=variable).out
    for words, env, port in (
        ((), {}, 1),
        ((), {"RESELLER_SANDBOX_PORT": "2"}, 2),
        (("--port", "3"), {"RESELLER_SANDBOX_PORT": "2"}, 3),
    ):
        done = run("clock", "show", *words, env=env)
        assert (done.status, f"127.0.0.1:{port}:" in done.err) == (3, True), done.err


def test_each_assumption_comes_from_the_nearest_source_that_has_it(folder: Path) -> None:
    """The file is the nearest one with the table; its paths start from its folder, its keys need no quotes.

    A setting that stands for an assumption goes with it: the nearer of the two counts.
    """
    below = folder / "one" / "two"
    below.mkdir(parents=True)
    (folder / "one" / "pyproject.toml").write_text("[tool.other]\nport = 1\n")
    (folder / "mine.yaml").write_text(PROFILE)
    table = "[tool.reseller_sandbox]\nprofile = 'mine.yaml'\nnow = 2030-01-31\n"
    table += "token_headers = ['X-File']\n[tool.reseller_sandbox.assume]\n"
    table += "v2.license = 'word'\nv2.phone = 'dotted'\nv3.list.last_page = 'with_next'\n"
    (folder / "pyproject.toml").write_text(table)
    variables = {"RESELLER_SANDBOX_ASSUME": "v3.list.last_page=always v2.phone=any"}
    words = ("--assume", "v2.phone=dotted", "--assume", "v2.token_headers=X-Argument", "--frozen")
    more = ("--ready-file", "ready.json", "--port", "0")
    with started((*words, *more), below, variables) as told, connect(told["url"]) as sandbox:
        assert str(sandbox.clock.now) == "2030-01-31 00:00:00+00:00"
        found = sandbox.assumptions
        assert (found["v3.ids"], found["v2.domain_check.avail"]) == ("integer", "boolean")
        assert (found["v2.license"], found["v3.list.last_page"], found["v2.phone"]) == (
            *("word", "always", "dotted"),
        )
        assert list(found["v2.token_headers"]) == ["X-Argument"]


def test_a_profile_may_be_a_file(folder: Path) -> None:
    """Single assumptions go before it; it holds for every fixture that is loaded."""
    (folder / "real.yaml").write_text(PROFILE)
    sandbox = Sandbox(profile=folder / "real.yaml", assume={"v2.domain_check.avail": "string"})
    for _ in range(2):
        assert sandbox.assumptions["v3.ids"] == "integer"
        assert sandbox.assumptions["v2.domain_check.avail"] == "string"
        sandbox.load("now: 2030-01-01T00:00:00Z")
    assert "v3.ids=integer\n" in run("assumptions", "--profile", "real.yaml").out
    done = run("assumptions", "--profile", "observd")
    assert (done.status, "the nearest is observed" in done.err) == (2, True)
    for text, told in (
        ("assume: {v3.idz: integer}", "is no assumption; the nearest is v3.ids"),
        ("assume: [", "real.yaml:2:1: this is not YAML"),
    ):
        (folder / "real.yaml").write_text(text)
        with pytest.raises(BadSetting, match=r"real\.yaml") as refused:
            Sandbox(profile=folder / "real.yaml")
        assert told in str(refused.value)


def test_a_path_that_no_file_can_have_is_refused(folder: Path) -> None:
    for setting in ("profile", "fixture"):
        for given in ("x" * 300, Path("x" * 300)):
            with pytest.raises(BadSetting, match="x" * 20):
                Sandbox(**{setting: given})
        assert run("serve", f"--{setting}", "x" * 300, "--port", "0").status == 2
        write_table(folder, {setting: "x" * 300})
        assert run("serve", "--port", "0").status == 2
        (folder / "pyproject.toml").unlink()


def run_suite(folder: Path, suite: str) -> str:
    """Return the output of pytest for a user's suite in ``folder``."""
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--strict-markers"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, env={**os.environ, **QUICKLY}
    )
    return done.stdout + done.stderr


MARKED = """
import pytest

@pytest.mark.reseller_sandbox(seed="marker", assume={{"v2.license": "word"}})
def test_it(reseller_sandbox):
    world = reseller_sandbox.worlds.get("default")
    assert world.seed.startswith("marker")
    assert {{"v3.ids": "integer", "v2.license": "word"}}.items() <= dict(world.assumptions).items()
    assert reseller_sandbox.header_prefix == "X-ENV-"

def test_without_a_marker(reseller_sandbox):
    assert reseller_sandbox.worlds.get("default").seed.startswith("environment")

{tests}
@pytest.mark.reseller_sandbox(fixtur="empty")
def test_unknown(reseller_sandbox): pass
"""


@pytest.mark.slow
def test_a_marker_goes_first_and_its_mistakes_fail_the_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is for a server alone is no matter to tests."""
    monkeypatch.setenv("RESELLER_SANDBOX_HEADER_PREFIX", "X-ENV-")
    monkeypatch.setenv("RESELLER_SANDBOX_SEED", "environment")
    table = {"seed": "file", "header_prefix": "X-FILE-", "port": 1, "assume": {"v3.ids": "integer"}}
    write_table(folder, table)
    wrong = {name: wrong for name, (_, wrong) in EXAMPLES.items() if name not in OF_A_SERVER}
    tests = "\n".join(
        f"@pytest.mark.reseller_sandbox(**{ {name: value}!r})\ndef test_{name}(reseller_sandbox): pass\n"
        for name, value in wrong.items()
    )
    printed = run_suite(folder, MARKED.format(tests=tests))
    assert f"2 passed, {len(wrong) + 1} errors" in printed, printed
    assert "Traceback" not in printed


def test_a_mistake_in_the_file_fails_the_tests_that_want_a_sandbox(folder: Path) -> None:
    path = write_table(folder, {"sede": "mine"})
    printed = run_suite(folder, "def test_one(reseller_sandbox): pass\ndef test_two(): pass\n")
    assert "1 passed, 1 error" in printed
    assert f"{path}: [tool.reseller_sandbox] sede is not known here; the nearest is seed" in printed
    assert "Traceback" not in printed
