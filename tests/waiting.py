"""How tests wait for something that happens in another thread or process."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

PATIENCE = 60  # Seconds until a test that waits in vain gives up.


def wait_until(done: Callable[[], object]) -> None:
    deadline = monotonic() + PATIENCE
    while not done():
        assert monotonic() < deadline
        sleep(0.005)
