"""The clock of a sandbox and the one that a test sees go together, whichever of them leads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from freezegun import freeze_time

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.testing import freeze_time as leading
from tests.registry import REGISTRY

WHEN = datetime(2031, 5, 1, tzinfo=UTC)


@pytest.fixture
def sandbox() -> Sandbox:
    """A sandbox whose clock stands still, in 2026."""
    return Sandbox(REGISTRY)


def test_it_follows_freezegun(sandbox: Sandbox) -> None:
    """From the instant at which it is told to, on and on; what comes due meanwhile happens."""
    with freeze_time(WHEN) as frozen:
        moved = sandbox.clock.follow()
        assert (moved.now, moved.frozen) == (WHEN, False)
        assert "expiry" in {one.event for one in moved.fired}
        frozen.tick(timedelta(days=40))
        assert sandbox.clock.now == WHEN + timedelta(days=40) == datetime.now(UTC)


def test_it_follows_time_machine(sandbox: Sandbox) -> None:
    """Alike."""
    with time_machine.travel(WHEN, tick=False) as traveller:
        sandbox.clock.follow()
        traveller.shift(timedelta(days=40))
        assert sandbox.clock.now == WHEN + timedelta(days=40) == datetime.now(UTC)


def test_it_goes_back_for_nobody(sandbox: Sandbox) -> None:
    """A test whose time is before the world's is told so, and nothing changes."""
    with freeze_time("2020-01-01"), pytest.raises(Refused, match="2020-01-01"):
        sandbox.clock.follow()
    assert sandbox.clock.frozen


def test_it_leads(sandbox: Sandbox) -> None:
    """Whoever moves the clock of the world moves that of the test."""
    with leading(sandbox, WHEN) as both:
        both.advance("P40D")
        assert sandbox.clock.now == both.now == WHEN + timedelta(days=40) == datetime.now(UTC)
    assert datetime.now(UTC) < WHEN
