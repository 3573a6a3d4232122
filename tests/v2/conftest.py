"""The registry of the v2.0 tests and its accounts, in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.v2.client import REGISTRY, Client, connect


@pytest.fixture(scope="session")
def registry() -> Path:
    return REGISTRY


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
