"""What the tests of worlds share."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, inside


@pytest.fixture
def sandbox() -> Sandbox:
    """A new sandbox of the tests' registry."""
    return Sandbox(REGISTRY)


@pytest.fixture
def steer(sandbox: Sandbox) -> Control:
    """The control interface of ``sandbox``, for its default world."""
    return control(sandbox)


@pytest.fixture
def main(sandbox: Sandbox) -> Api:
    return inside(sandbox)
