"""How many examples property tests try, and which.

``make test`` tries the same few every time. ``make test-all`` sets TESTS_SEED to a seed that it prints: five
times as many examples, others each time. What fails is kept in ``.hypothesis`` and tried first. It also sets
TESTS_WHOLE: slow tests then try each of their cases, where ``make slow`` tries a sample.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

#: How many times as many examples are tried where time does not matter.
_MORE = 5

THOROUGH = "TESTS_SEED" in os.environ

#: Whether slow tests try each case, and not a sample.
WHOLE = "TESTS_WHOLE" in os.environ


def tries(count: int) -> int:
    """How many examples to try where ``count`` of them are usual."""
    return count * _MORE if THOROUGH else count


def load() -> None:
    """Let hypothesis try as many examples as is wanted."""
    settings.register_profile(
        "tests",
        derandomize=not THOROUGH,
        deadline=None,
        max_examples=tries(25),
        database=DirectoryBasedExampleDatabase(".hypothesis/examples") if THOROUGH else None,
        print_blob=THOROUGH,
        suppress_health_check=[HealthCheck.too_slow],  # which measures how busy the machine is
    )
    settings.load_profile("tests")
