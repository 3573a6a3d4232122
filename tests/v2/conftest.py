"""The registry of the v2.0 tests and its accounts, in this process."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.registry import Make
from tests.v2.client import REGISTRY, Client, connect


@pytest.fixture(scope="session")
def _sandbox() -> Sandbox:
    return Sandbox(REGISTRY)


@pytest.fixture
def sandbox(_sandbox: Sandbox) -> Sandbox:
    """A sandbox of the v2.0 tests' registry as it began, its clock standing still."""
    _sandbox.reset(original=True)
    return _sandbox


@pytest.fixture
def make() -> Make:
    """Makes sandboxes of that registry with settings of their own."""
    return lambda **settings: Sandbox(REGISTRY, **settings)


@pytest.fixture
def main(sandbox: Sandbox) -> Client:
    return connect(sandbox)


@pytest.fixture
def other(sandbox: Sandbox) -> Client:
    return connect(sandbox, "other")


@pytest.fixture
def poor(sandbox: Sandbox) -> Client:
    """The account ``poor``: a balance of 1.00, and no reseller mode."""
    return connect(sandbox, "poor")
