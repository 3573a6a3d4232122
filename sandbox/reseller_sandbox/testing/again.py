"""Tests that are run several times where pytest runs them once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


def again(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test, set up and torn down for itself; what it shares with others stays."""
    shared: Any = item.parent
    return runtestprotocol(item, log=False, nextitem=shared)


def in_full(
    item: pytest.Item, nextitem: pytest.Item | None, run: Callable[[], list[pytest.TestReport]]
) -> bool:
    """Take a test through its protocol, by whatever ``run`` does; what it returns is told of the test."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for one in run():
        item.ihook.pytest_runtest_logreport(report=one)
    state = item.session._setupstate
    over = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), when="teardown")
    if over.excinfo is not None:
        left = item.ihook.pytest_runtest_makereport(item=item, call=over)
        item.ihook.pytest_runtest_logreport(report=left)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
