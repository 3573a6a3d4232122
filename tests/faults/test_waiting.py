"""Who is held up holds up nobody else. The full size of this is in tests/benchmarks."""

from __future__ import annotations

from tests.benchmarks.faults import beside_hanging


def test_answers_that_hang_wait_or_drip_delay_no_good_one_and_no_stop() -> None:
    """By more than the noise of the machine."""
    found = beside_hanging(200, requests=150)
    assert found["beside"] < 2.5 * found["alone"], found
    assert found["stop"] < 1
