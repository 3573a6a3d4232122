"""Who is held up holds up nobody else. The full size of this is in tests/benchmarks."""

from __future__ import annotations

from time import process_time

import pytest

from tests.benchmarks.faults import beside_hanging


def test_answers_that_hang_wait_or_drip_delay_no_good_one_and_no_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By what is computed for a good one: whatever waited for those would wait for minutes."""
    monkeypatch.setattr("reseller_sandbox.server.server.STOP_GRACE", 60.0)
    found = beside_hanging(200, requests=150, clock=process_time)
    assert found["beside"] < 2.5 * found["alone"], found
    assert found["stop"] < 60
