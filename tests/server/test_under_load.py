"""A server under load from all sides goes on being right."""

from __future__ import annotations

import pytest

from tests.benchmarks import soak


@pytest.mark.slow
def test_all_requests_succeed_under_load() -> None:
    """No charge is lost or comes twice, and a killed server goes on from its last whole save."""
    seen = soak.soaked(5)
    assert seen.answers["own"]
    assert seen.answers["applied"]
    most = max(descriptors for _, descriptors in seen.held)
    assert most < soak.CONNECTIONS + soak.FOLLOWERS + 32, "descriptors are not given back"
