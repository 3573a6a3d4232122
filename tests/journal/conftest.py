"""The sandbox of the tests of journals."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.worlds.conftest import main, steer

__all__ = ["main", "steer"]


@pytest.fixture(scope="session")
def _kept() -> Sandbox:
    return Sandbox(REGISTRY)


@pytest.fixture
def sandbox(_kept: Sandbox) -> Sandbox:
    """A sandbox of the tests' registry as it began, without faults."""
    _kept.faults.clear()
    _kept.reset(original=True)
    return _kept
