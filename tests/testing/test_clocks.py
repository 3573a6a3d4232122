"""The clock of a sandbox and the time that a test sees."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from freezegun import freeze_time

from reseller_sandbox import Refused, Sandbox
from tests.registry import REGISTRY
from tests.testing.conftest import Printed

pytest_plugins = "pytester"

WHEN, LATER = datetime(2031, 5, 1, tzinfo=UTC), timedelta(days=40)


def test_the_sandbox_clock_follows_freezegun_and_time_machine() -> None:
    """Due events happen on the way. A time before the world's is refused, and changes nothing."""
    with freeze_time(WHEN) as frozen:
        sandbox = Sandbox(REGISTRY)
        moved = sandbox.clock.follow()
        assert (moved.now, moved.frozen) == (WHEN, False)
        assert "expiry" in {event.event for event in moved.events}
        frozen.tick(LATER)
        assert sandbox.clock.now == WHEN + LATER == datetime.now(UTC)
    with time_machine.travel(WHEN, tick=False) as traveller:
        sandbox = Sandbox(REGISTRY)
        sandbox.clock.follow()
        traveller.shift(LATER)
        assert sandbox.clock.now == WHEN + LATER == datetime.now(UTC)
    sandbox = Sandbox(REGISTRY)
    with freeze_time("2020-01-01"), pytest.raises(Refused, match="2020-01-01"):
        sandbox.clock.follow()
    assert sandbox.clock.frozen


USE = """
from freezegun import freeze_time

def use(sandbox):
    with sandbox.serve() as server:
        import reseller_sandbox
        there = reseller_sandbox.connect(server.url)
        for one in (sandbox, there):
            moved = one.clock.advance("P1D")
            print(moved.now, one.clock.due().due[0].at, one.journal.list().matching)
    assert sandbox.client().get("/v3/balance").status_code == 200
    assert sandbox.client().get("/_sandbox/openapi/control.json").status_code == 200
"""
LOAD = "from reseller_sandbox import Sandbox"
FREEZE = "with freeze_time('2031-05-01'):\n"


@pytest.mark.slow
@pytest.mark.parametrize("load", [f"{FREEZE}    {LOAD}\n", f"{LOAD}\n{FREEZE}"], ids=["frozen", "loaded"])
def test_a_sandbox_works_the_same_with_and_without_frozen_time(load: str) -> None:
    script = f"{USE}\n{load}    use(Sandbox(now='real'))\nuse(Sandbox(now='2031-05-01'))\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == lines[2:]
    assert lines[0].startswith("2031-05-02 00:00:00+00:00")


FOLLOWING = """
from datetime import UTC, datetime

import pytest
from freezegun import freeze_time

MAY = datetime(2027, 5, 5, tzinfo=UTC)


@freeze_time(MAY)
def test_follows_frozen_time(reseller_sandbox):
    assert reseller_sandbox.clock.now == MAY
    assert reseller_sandbox.client().get("/v3/balance").json[0]["serverTime"].startswith("2027-05-05")


def test_follows_time_that_is_frozen_within_the_test(reseller_sandbox):
    with freeze_time(MAY) as frozen:
        assert reseller_sandbox.clock.now == MAY
        frozen.tick(86400)
        assert reseller_sandbox.clock.now == datetime.now(UTC)


@pytest.mark.reseller_sandbox(now="2030-01-01")
def test_never_goes_back(reseller_sandbox):
    with freeze_time(MAY):
        assert reseller_sandbox.clock.now.year == 2030
"""


@pytest.mark.slow
def test_a_mark_or_an_option_makes_worlds_follow_the_time_of_their_test(printed: Printed) -> None:
    mark = "import pytest\npytestmark = pytest.mark.reseller_sandbox(clock='follow')\n"
    assert "3 passed" in printed(mark + FOLLOWING)
    for mode in ("process", "server"):
        options = ("--reseller-sandbox-clock", "follow", "--reseller-sandbox-mode", mode)
        assert "3 passed" in printed(FOLLOWING, *options)
    assert "2 failed, 1 passed" in printed(FOLLOWING)
    assert "the setting clock must be 'follow'; it is 'folow'; did you mean follow?" in printed(
        mark.replace("follow", "folow") + FOLLOWING
    )


DRIFTING = """
from freezegun import freeze_time


@freeze_time("2027-05-05")
def test_expects_the_frozen_time(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/balance").json[0]["serverTime"].startswith("2027-05-05")
"""


@pytest.mark.parametrize("mode", ["process", "server"])
def test_a_failure_report_shows_the_time_of_the_test_and_of_the_world(printed: Printed, mode: str) -> None:
    output = printed(DRIFTING, "--reseller-sandbox-mode", mode)
    assert "test time 2027-05-05T00:00:00Z, world time 2026-01-15T12:00:00Z" in output
    assert 'clock="follow"' in output


def test_the_error_for_a_missing_package_has_the_command_that_installs_the_package() -> None:
    for name, package in (
        ("SandboxTransport", "httpx"),
        ("SandboxAdapter", "requests"),
        ("SandboxPoolManager", "urllib3"),
        ("SandboxConnector", "aiohttp"),
        ("SandboxContainer", "testcontainers"),
        ("freeze_time", "freezegun"),
    ):
        code = (
            f"import sys; sys.modules[{package!r}] = None\nfrom reseller_sandbox import Sandbox\n"
            f"import reseller_sandbox.testing as t\ntry:\n    value = t.{name}\n"
            "    value(Sandbox()).__enter__()\nexcept ImportError as error:\n    print(error)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"{name} needs {package}: pip install '{package}" in done.stdout, done.stderr
