"""A sandbox is made and used within frozen time, whichever was loaded first."""

from __future__ import annotations

import subprocess
import sys

import pytest

FROZEN_FIRST = """
from freezegun import freeze_time
with freeze_time("2031-05-01"):
    from reseller_sandbox import Sandbox
    use(Sandbox(now="real"))
use(Sandbox(now="2031-05-01"))
"""

LOADED_FIRST = """
from freezegun import freeze_time
from reseller_sandbox import Sandbox
with freeze_time("2031-05-01"):
    use(Sandbox(now="real"))
use(Sandbox(now="2031-05-01"))
"""

USE = """
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


@pytest.mark.slow
@pytest.mark.parametrize("script", [FROZEN_FIRST, LOADED_FIRST], ids=["frozen first", "loaded first"])
def test_a_sandbox_within_frozen_time(script: str) -> None:
    """Every power answers as it does elsewhere, in process and over HTTP, within frozen time and after it."""
    done = subprocess.run([sys.executable, "-c", USE + script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == lines[2:]
    assert lines[0].startswith("2031-05-02 00:00:00+00:00")
