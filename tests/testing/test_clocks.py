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

WHEN, LATER = datetime(2031, 5, 1, tzinfo=UTC), timedelta(days=40)


def test_the_sandbox_follows_freezegun_and_time_machine() -> None:
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
            print(moved.now, one.clock.due().due[0].at, one.journal.find().matching)
    assert sandbox.client().get("/v3/balance").status_code == 200
    assert sandbox.client().get("/_sandbox/openapi/control.json").status_code == 200
"""
LOAD = "from reseller_sandbox import Sandbox"
FREEZE = "with freeze_time('2031-05-01'):\n"


@pytest.mark.slow
@pytest.mark.parametrize("load", [f"{FREEZE}    {LOAD}\n", f"{LOAD}\n{FREEZE}"], ids=["frozen", "loaded"])
def test_a_sandbox_is_the_same_within_frozen_time(load: str) -> None:
    script = f"{USE}\n{load}    use(Sandbox(now='real'))\nuse(Sandbox(now='2031-05-01'))\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == lines[2:]
    assert lines[0].startswith("2031-05-02 00:00:00+00:00")
