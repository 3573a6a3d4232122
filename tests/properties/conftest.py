"""An account of the v2.0 tests' registry."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.v2.client import REGISTRY, Client, connect


@pytest.fixture
def main() -> Client:
    return connect(Sandbox(REGISTRY, assume={"v2.request_format": "json_or_form"}))
