"""A test run sweeps its tests: each that passes is run again, with each thing going wrong once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import reduce
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.tools.sweep import sweep
from reseller_sandbox.tools.sweep.told import SweepTold
from tests.testing.test_plugin import run
from tests.testing.test_plugin import told as told

pytest_plugins = "pytester"

SUITE = """
import pytest


@pytest.fixture(scope="module")
def shared():
    print("shared is set up")
    yield
    print("shared is torn down")


def renew(client):
    return client.post("/v3/domains/renewDomain/active-example.com")


def test_renews_blindly(reseller_sandbox, shared):
    client = reseller_sandbox.client()
    try:
        renew(client)
    except OSError:
        renew(client)


def test_renews_once(reseller_sandbox, shared):
    answer = renew(reseller_sandbox.client())
    assert answer.json["domain"]["expireDate"][:4] == "2027"


def test_asks_nothing(reseller_sandbox, shared, tmp_path):
    reseller_sandbox.clock.advance("P1D")


def test_has_no_world():
    pass
"""


def test_a_test_that_passes_where_it_should_not_is_shown(told: Callable[..., str]) -> None:
    """With its table, and what it has left; the others have failed, and so noticed."""
    said = told(SUITE, "--reseller-sandbox-sweep=lost-answer,outsiders", "-rP")
    assert "4 passed" in said
    blind, once = said.split("reseller sandbox: sweep of ")[1:]
    assert blind.startswith("test_suite.py::test_renews_blindly")
    assert "r1 v3.renewDomain active-example.com  WRONG        1 fine, 1 WRONG" in blind
    assert "the renewal of active-example.com was paid 2 times" in blind
    assert "r1 v3.renewDomain active-example.com  failed" in once
    assert said.count("shared is set up") == said.count("shared is torn down") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("test", "status"), [("blindly", 1), ("once", 0), ("asks", 0)])
def test_the_run_fails_where_one_is_silently_wrong(pytester: pytest.Pytester, test: str, status: int) -> None:
    """And passes where all that went wrong was noticed."""
    pytester.makepyfile(test_suite=SUITE)
    done = pytester.runpytest_inprocess("-q", "--reseller-sandbox-sweep=lost-answer", "-k", test)
    assert done.ret == status


@pytest.mark.slow
def test_workers_sweep_side_by_side(tmp_path: Path) -> None:
    """What they have found is shown together."""
    said = run(tmp_path, SUITE, "-n", "2", "--reseller-sandbox-sweep=twice")
    assert "4 passed" in said
    assert said.count("reseller sandbox: sweep of ") == 2
    assert "1 run: 1 silently wrong." in said


def test_worlds_in_a_server_are_swept_too(told: Callable[..., str]) -> None:
    """Over real connections."""
    suite = """
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit


def test_asks_again(reseller_sandbox):
    token = reseller_sandbox.accounts["main"].token
    for _ in range(2):
        connection = HTTPConnection(urlsplit(reseller_sandbox.door.url).netloc)
        try:
            connection.request("GET", "/V2.0/domain/a.com/check", headers={"X-Auth-Token": token})
            assert b"true" in connection.getresponse().read()
            return
        except (OSError, HTTPException):
            continue
        finally:
            connection.close()
"""
    said = told(suite, "--reseller-sandbox-mode=server", "--reseller-sandbox-sweep=lost-request,garbage")
    assert "1 passed" in said
    assert "2 runs: 2 fine." in said


def test_a_test_keeps_its_settings_and_its_strictness(told: Callable[..., str]) -> None:
    """A swept world is the one that its mark says; what the sweep itself arms is no left-over."""
    suite = """
import pytest


@pytest.mark.reseller_sandbox(now="2026-03-01", strict=True)
def test_asks(reseller_sandbox):
    assert reseller_sandbox.clock.now.month == 3
    client = reseller_sandbox.client(timeout=10)
    for _ in range(2):
        try:
            client.get("/v3/balance")
        except OSError:
            return
"""
    said = told(suite, "--reseller-sandbox-sweep=lost-request,slow-answer")
    assert "1 passed" in said
    assert "4 runs: 4 fine." in said


def test_a_test_that_fails_is_reported_as_ever(told: Callable[..., str]) -> None:
    """And not swept; so is one whose shared fixture cannot be torn down."""
    suite = """
import pytest


@pytest.fixture(scope="module")
def shared():
    yield
    raise ValueError("it does not come off")


def test_fails(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/balance").status_code == 500


def test_shares(reseller_sandbox, shared):
    assert reseller_sandbox.client().get("/v3/balance").status_code == 200
"""
    said = told(suite, "--reseller-sandbox-sweep=twice")
    assert "1 failed, 1 passed, 1 error" in said
    assert "it does not come off" in said
    assert said.count("sweep of") == 1
    assert "requests  1" in said


def test_a_kind_that_there_is_not_is_refused(told: Callable[..., str]) -> None:
    """In a line that names those there are."""
    said = told(SUITE, "--reseller-sandbox-sweep=lost")
    assert "--reseller-sandbox-sweep: there is no kind 'lost'" in said
    assert "outsiders, all" in said


@pytest.mark.parametrize(("option", "usual"), [("sweep", "all"), ("explore", "2"), ("coverage", "term")])
def test_a_path_that_is_taken_for_a_value_is_told_how_to_follow(
    told: Callable[..., str], option: str, usual: str
) -> None:
    """Each of these options may stand without a value, so that pytest takes the next word for one."""
    said = told(SUITE, f"--reseller-sandbox-{option}", "test_suite.py")
    assert f"; before a path write --reseller-sandbox-{option}={usual}\n" in said
    assert "passed" not in said


def test_what_the_command_takes_pytest_takes_as_well(told: Callable[..., str], tmp_path: Path) -> None:
    """Operations by a pattern, invariants, how late an answer is, a part of the runs, the first finding."""
    suite = """
def rich(world):
    return "main is poor" if world.accounts["main"].balance < 9980 else None


def test_renews_and_looks(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    client.get("/v3/balance")
    client.post("/v3/domains/renewDomain/active-example.com")
"""
    few = ("--reseller-sandbox-sweep=twice,slow-answer", "--reseller-sandbox-sweep-only=v3.renew*")
    said = told(
        suite, *few, "--reseller-sandbox-sweep-slow=5", "--reseller-sandbox-invariant=test_suite:rich"
    )
    assert "r2 v3.renewDomain active-example.com  WRONG  fine" in said
    assert "rich: main is poor" in said
    assert "2 runs: 1 fine, 1 silently wrong." in said
    said = told(suite, *few, "--reseller-sandbox-sweep-part=2/2", f"--reseller-sandbox-capsules={tmp_path}")
    assert "1 run: 1 failed." in said or "1 run: 1 silently wrong." in said
    said = told(suite, few[0], "--reseller-sandbox-sweep-stop-at-first", "-k", "looks")
    assert "more were not tried" in said


def test_parts_of_a_sweep_are_the_whole(tmp_path: Path) -> None:
    """Whatever the number of parts, each run is made in one of them, and put together they read the same."""

    def asks(world: Sandbox) -> None:
        client = world.client(timeout=10)
        client.get("/v3/balance")
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})

    kinds = ("lost-answer", "twice", "error")
    with Sandbox() as sandbox:
        whole = sweep(asks, sandbox, kinds=kinds, outsiders=True).told()
        parts = [sweep(asks, sandbox, kinds=kinds, outsiders=True, part=(at, 3)).told() for at in (1, 2, 3)]
    assert min(len(one.runs) for one in parts) > 1
    assert reduce(SweepTold.beside, parts) == whole
    assert SweepTold.read(json.loads(json.dumps(asdict(whole)))).json() == json.loads(
        json.dumps(whole.json())
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--reseller-sandbox-sweep-slow=late", "must be a number of seconds above 0; it is 'late'"),
        ("--reseller-sandbox-sweep-part=3/2", "must be a part such as 1/2; it is '3/2'"),
        ("--reseller-sandbox-invariant=nowhere:at_all", "--invariant nowhere:at_all: ModuleNotFoundError"),
    ],
)
def test_options_that_cannot_be_used_are_refused_in_a_line(
    told: Callable[..., str], option: str, words: str
) -> None:
    """Before any test is run."""
    said = told(SUITE, "--reseller-sandbox-sweep", option)
    assert words in said
    assert "passed" not in said
