"""How many examples property tests try: few, or many more with TESTS_THOROUGH=1."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: How many times as many examples are tried where time does not matter.
_MORE = 5

THOROUGH = os.environ.get("TESTS_THOROUGH") == "1"


def tries(count: int) -> int:
    """How many examples to try where ``count`` of them are usual."""
    return count * _MORE if THOROUGH else count


def load() -> None:
    """Let hypothesis try as many examples as is wanted, the same ones every time."""
    settings.register_profile(
        "repeatable",
        derandomize=True,
        deadline=None,
        max_examples=tries(25),
        database=None,
        suppress_health_check=[HealthCheck.too_slow],  # which measures how busy the machine is
    )
    settings.load_profile("repeatable")
