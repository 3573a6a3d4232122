"""Tests that are run several times where pytest runs them once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.tools.running import KEPT, Ended

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes


def again(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test, set up and torn down for itself; what it shares with others stays."""
    shared: Any = item.parent
    return runtestprotocol(item, log=False, nextitem=shared)


def program_of(
    item: pytest.Item, run: Sandboxes, fails: Callable[[pytest.TestReport], bool]
) -> Callable[[Sandbox], Ended]:
    """Return a test as a program that runs in any world; it does not pass where a report of it ``fails``."""

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        with run.lending(world):
            failed = [one for one in again(item) if fails(one)]
        words = "\n".join(one.longreprtext for one in failed)
        return Ended(1 if failed else 0, words[-KEPT:], stopwatch() - began)

    return program


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
