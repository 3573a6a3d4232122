"""A delayed client delays no other client. The full size of this is in tests/benchmarks."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from tests.benchmarks.faults import beside_hanging


@pytest.mark.slow
def test_slow_and_hanging_responses_delay_neither_other_responses_nor_the_server_stop(at_once: Any) -> None:
    """Measured in computing time: a client that waited for them would wait for minutes."""
    found = beside_hanging(100, requests=100, clock=process_time)
    assert found["beside"] < 2.5 * found["alone"], found
    assert found["stop"] < 1
