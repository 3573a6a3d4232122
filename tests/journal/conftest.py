"""The sandbox of the tests of journals."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, inside


@pytest.fixture(scope="session")
def _kept() -> Sandbox:
    return Sandbox(REGISTRY)


@pytest.fixture
def sandbox(_kept: Sandbox) -> Sandbox:
    """A sandbox of the tests' registry as it began, without faults."""
    _kept.faults.clear()
    _kept.reset(original=True)
    return _kept


@pytest.fixture
def steer(sandbox: Sandbox) -> Control:
    """The control interface of ``sandbox``."""
    return control(sandbox)


@pytest.fixture
def main(sandbox: Sandbox) -> Api:
    """The account ``main`` of ``sandbox``."""
    return inside(sandbox)
