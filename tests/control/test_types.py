"""A type checker knows the types of results and of parameters.

``mypy`` checks this file, and pytest makes the calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_type

import pytest

from reseller_sandbox import Refused, Sandbox


def test_results_have_their_declared_types(sandbox: Sandbox) -> None:
    sandbox.client().get("/v3/balance")
    assert_type(sandbox.journal.list(limit=1).requests[0].outcome, str)
    assert_type(sandbox.journal.expect(operation="v3.balance")[0].id, str)
    with sandbox.journal.follow(operation="v3.*", since="r0") as following:
        assert_type(next(following).id, str)
    assert_type(sandbox.clock.now, datetime)
    assert_type(sandbox.clock.due(limit=3).due[0].event, str)
    assert_type(sandbox.clock.advance("P1D", dry_run=True).events[0].charged, Decimal)
    assert_type(sandbox.names["active.com"].renewal, Decimal)
    assert_type(sandbox.names.list(account="main").names[0].name, str)
    assert_type(sandbox.accounts.add("new", contact={"name": "New"}, balance=5).key, str)
    assert_type(sandbox.faults.add("latency", seconds=1, name="slow").names[0], str)
    assert_type(sandbox.faults.replace(sandbox.faults.list()).faults[0].kind, str)
    assert_type(sandbox.simulate.register("wanted.com", years=2).events[0].event, str)
    scheduled = sandbox.accounts.when("P3D").set_balance("main", 0).scheduled
    assert scheduled is not None
    assert_type(sandbox.scheduled.remove(scheduled.id).parameters, Mapping[str, Any])
    assert_type(sandbox.snapshots.add("here").now, datetime)
    assert_type(next(iter(sandbox.worlds)).name, str)
    with sandbox.fork() as fork:
        assert_type(fork, Sandbox)


def test_wrong_calls_fail_type_checking_and_are_refused_at_run_time(sandbox: Sandbox) -> None:
    """Mypy reports an ``ignore`` that is not needed, so each of these lines has a type error."""
    with pytest.raises(Refused, match="bye is not known here; did you mean by"):
        sandbox.clock.advance(bye="P1D")  # type: ignore[call-arg]
    with pytest.raises(Refused, match="second is not known here; did you mean seconds"):
        sandbox.faults.add("latency", second=1)
    with pytest.raises(Refused, match="chance is not a parameter of the preset flaky; put it in when"):
        sandbox.faults.preset("flaky", chance=1)
