"""An exception from a signal handler leaves both an effect and its entry, or neither."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox

#: How often each call is interrupted, each time some microseconds later than the time before.
TIMES = 60


class Interrupted(BaseException):
    """The exception that the signal handler raises, as that of pytest-timeout does."""


def interrupt(*_: Any) -> None:
    raise Interrupted


def is_interrupted(call: Callable[[], Any], after: float) -> bool:
    """Run ``call`` and raise ``after`` so many seconds. Return whether that was before its end."""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except (Interrupted, LookupError):  # Flask fails in other ways, too, if its contexts are interrupted
        return True
    return False


def register(sandbox: Sandbox, name: str) -> None:
    sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": name}})


#: For each call, the facts that hold all together or not at all.
CALLS: dict[str, tuple[Callable[[Sandbox], Any], Callable[[Sandbox], tuple[bool, ...]]]] = {
    "register": (
        lambda sandbox: register(sandbox, "new.com"),
        lambda sandbox: (
            "new.com" in sandbox.names,
            any("new.com" in request.domains for request in sandbox.journal.find().requests),
            bool(sandbox.ledger.find(domain="new.com").entries),
        ),
    ),
    "advance the clock": (
        lambda sandbox: sandbox.clock.advance("P400D"),
        lambda sandbox: (
            sandbox.clock.now.year > 2026,
            bool(sandbox.events.find(kind="control").events),
            bool(sandbox.events.find(kind="time").events),
        ),
    ),
    "rewind": (
        lambda sandbox: sandbox.rewind("r1"),
        lambda sandbox: (
            "old.com" not in sandbox.names,
            not sandbox.journal.find().requests,
            bool(sandbox.branches.list().branches),
        ),
    ),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no interval timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # raised in a ``__del__``
@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_leaves_effect_and_entry_or_neither(sandbox: Sandbox, call: str) -> None:
    act, facts = CALLS[call]
    register(sandbox, "old.com")
    act(sandbox)  # which loads the modules
    torn, count = [], 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(TIMES):
            sandbox.reset(original=True)
            register(sandbox, "old.com")
            count += is_interrupted(lambda: act(sandbox), (number + 1) * 1e-5)
            if len(set(facts(sandbox))) != 1:
                torn.append((number, facts(sandbox)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert torn == []
    assert count > 0
