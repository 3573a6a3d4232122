"""A test run sweeps its tests: it runs each test that passes again, with each thing going wrong once."""

from __future__ import annotations

import re
from pathlib import Path

from tests.testing.conftest import Printed

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


def test_a_sweep_lists_a_silently_wrong_test_as_failed(printed: Printed) -> None:
    said = printed(SUITE, "--reseller-sandbox-sweep=lost-answer,external-changes", "-rP")
    assert "2 failed, 2 passed" in said
    blind, once = said.split("reseller sandbox: sweep of ")[1:]
    assert blind.startswith("test_suite.py::test_renews_blindly")
    assert "r1 v3.renewDomain active-example.com  WRONG        1 fine, 3 WRONG" in blind
    assert "the renewal of active-example.com was paid 2 times" in blind
    assert "r1 v3.renewDomain active-example.com  noticed" in once
    assert said.count("shared is set up") == said.count("shared is torn down") == 1
    for option in ("=all, ", "=assumptions, ", "-depth 2, "):
        assert f": --reseller-sandbox-sweep{option}" in blind, option
    assert said.endswith("status 1")
    assert printed(SUITE, "--reseller-sandbox-sweep=lost-answer", "-k", "once or asks").endswith("status 0")


def test_a_sweep_in_server_mode_sends_requests_over_real_connections(printed: Printed) -> None:
    """A test keeps its settings and its strictness: the faults of the sweep itself are not left over."""
    suite = """
import httpx
import pytest


@pytest.mark.reseller_sandbox(now="2026-03-01", strict=True)
def test_asks_again(reseller_sandbox):
    assert reseller_sandbox.clock.now.month == 3
    token = {"X-Auth-Token": reseller_sandbox.accounts["main"].token}
    with reseller_sandbox.intercept("https://api.example.test"):
        for _ in range(2):
            try:
                answer = httpx.get("https://api.example.test/V2.0/domain/a.com/check", headers=token)
                assert answer.json()["avail"] == "true"
                return
            except httpx.TransportError:
                continue
"""
    sweep = "--reseller-sandbox-sweep=lost-request,garbage"
    for mode in ("process", "server"):
        said = printed(suite, f"--reseller-sandbox-mode={mode}", sweep)
        assert "1 passed" in said
        assert "2 runs: 2 fine." in said


def test_a_test_that_fails_without_faults_is_reported_and_not_swept(printed: Printed) -> None:
    """A test whose shared fixture cannot be torn down is reported too."""
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
    said = printed(suite, "--reseller-sandbox-sweep=twice")
    assert "1 failed, 1 passed, 1 error" in said
    assert "it does not come off" in said
    assert said.count("sweep of") == 1
    assert "requests  1" in said


def test_the_options_of_the_sweep_command_work_in_pytest(printed: Printed, tmp_path: Path) -> None:
    suite = """
def rich(world):
    return "main is poor" if world.accounts["main"].balance < 9980 else None


def test_renews_and_looks(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    client.get("/v3/balance")
    client.post("/v3/domains/renewDomain/active-example.com")
"""
    sweep = "--reseller-sandbox-sweep"
    few = (f"{sweep}=twice,slow-answer", f"{sweep}-only=v3.renew*")
    said = printed(suite, *few, f"{sweep}-slow=5", "--reseller-sandbox-invariant=test_suite:rich")
    assert "r2 v3.renewDomain active-example.com  not preventable  fine" in said
    assert "rich: main is poor" in said
    assert "2 runs: 1 fine, 1 not preventable." in said
    stopped = printed(suite, few[0], f"{sweep}-stop-at-first", f"{sweep}-strict", "-k", "looks")
    assert "the runs after the first finding" in stopped
    runs = []
    for part in (
        (),
        (f"{sweep.removesuffix('-sweep')}-part=1/2",),
        (f"{sweep.removesuffix('-sweep')}-part=2/2",),
    ):
        said = printed(suite, few[0], *part, f"--reseller-sandbox-recordings={tmp_path}")
        runs.append(int(re.findall(r"^(\d+) runs?:", said, re.MULTILINE)[0]))
    assert runs[0] == runs[1] + runs[2] > min(runs) >= 1


def test_invalid_pytest_options_are_refused_with_one_line(printed: Printed, subtests) -> None:
    for option, *words in (
        ("sweep=lost", "-sweep: unknown kind 'lost'", "external-changes, time, all"),
        ("sweep-slow=late", "it is 'late'"),
        ("part=3/2", "a part must be N/PARTS with N from 1 to PARTS, such as 1/2, not '3/2'"),
        ("invariant=nowhere:at_all", "--invariant nowhere:at_all cannot be imported: ModuleNotFoundError"),
        ("coverage=htlm", "not 'htlm'; did you mean html"),
        ("cover-min=operation=90", "'operation=90' is invalid; did you mean operations"),
    ):
        with subtests.test(option):
            said = printed(SUITE, "--reseller-sandbox-sweep", f"--reseller-sandbox-{option}", "test_suite.py")
            assert [word for word in words if word not in said] == []
            assert "passed" not in said
