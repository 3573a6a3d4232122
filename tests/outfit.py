"""What a test needs beyond Python: where it is missing, the test is skipped with the reason."""

from __future__ import annotations

import os
import shutil

import pytest


def program(name: str, *others: str) -> str:
    """Return the path of the first of these programs that this machine has.

    A test that finds none is skipped, and fails where everything had to be installed (``TESTS_COMPLETE=1``).
    """
    found = next(filter(None, map(shutil.which, (name, *others))), None)
    if found is None:
        missing = " or ".join((name, *others)) + " is not on this machine"
        if os.environ.get("TESTS_COMPLETE"):
            pytest.fail(f"{missing}, though everything that tests need should be")
        pytest.skip(missing)
    return found
