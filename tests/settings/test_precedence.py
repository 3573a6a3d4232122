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
    """The working directory, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_nearer_source_counts(folder: Path) -> None:
    """Shown by the header that a request is signed with, and by the port that a command asks."""
    sign = ("sign", "GET", "/v3/balance", "--fixture", "default")
    variables = {"RESELLER_SANDBOX_HEADER_PREFIX": "X-ENV-", "RESELLER_SANDBOX_PORT": "2"}
    empty = {"RESELLER_SANDBOX_HEADER_PREFIX": ""}
    assert "X-SVC-APIKEY" in run(*sign).out
    write_table(folder, {"header_prefix": "X-FILE-", "port": 1})
    for options, env, prefix, port in (
        ((), {}, "X-FILE", 1),
        ((), empty, "X-FILE", 1),
        ((), variables, "X-ENV", 2),
        (("--header-prefix", "X-ARG-", "--port", "3"), variables, "X-ARG", 3),
    ):
        assert f"{prefix}-APIKEY" in run(*sign, *options, env=env).out
        done = run("clock", "show", *options[2:], env=env)
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
    with started((*words, "--port", "0"), below, variables) as ready, connect(ready["url"]) as sandbox:
        assert str(sandbox.clock.now) == "2030-01-31 00:00:00+00:00"
        values = dict(sandbox.worlds.get("default").assumptions)
        assert (values["v3.ids"], values["v2.domain_check.avail"]) == ("integer", "boolean")
        assert (values["v2.license"], values["v3.list.last_page"]) == ("word", "always")
        assert (values["v2.phone"], list(values["v2.token_headers"])) == ("dotted", ["X-Argument"])


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
    for text, message in (
        ("assume: {v3.idz: integer}", "is no assumption; the nearest is v3.ids"),
        ("assume: [", "real.yaml:2:1: this is not YAML"),
    ):
        (folder / "real.yaml").write_text(text)
        with pytest.raises(BadSetting, match=r"real\.yaml") as refused:
            Sandbox(profile=folder / "real.yaml")
        assert message in str(refused.value)


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
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


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
def test_mistakes_of_a_marker_and_of_the_file_fail_the_tests_with_a_sandbox(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marker goes first. Tests ignore the settings of servers."""
    monkeypatch.setenv("RESELLER_SANDBOX_HEADER_PREFIX", "X-ENV-")
    monkeypatch.setenv("RESELLER_SANDBOX_SEED", "environment")
    table = {"seed": "file", "header_prefix": "X-FILE-", "port": 1, "assume": {"v3.ids": "integer"}}
    write_table(folder, table)
    wrong = {name: wrong for name, (_, wrong) in EXAMPLES.items() if name not in OF_A_SERVER}
    tests = "\n".join(
        f"@pytest.mark.reseller_sandbox(**{ {name: value}!r})\ndef test_{name}(reseller_sandbox): pass\n"
        for name, value in wrong.items()
    )
    output = run_suite(folder, MARKED.format(tests=tests))
    assert f"2 passed, {len(wrong) + 1} errors" in output, output
    path = write_table(folder, {"sede": "mine"})
    output = run_suite(folder, "def test_one(reseller_sandbox): pass\ndef test_two(): pass\n")
    assert "1 passed, 1 error" in output
    assert f"{path}: [tool.reseller_sandbox] sede is not known here; the nearest is seed" in output
