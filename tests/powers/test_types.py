"""A type checker, and so an editor, knows the types of results and of parameters.

``mypy`` checks this file. When it runs, the values have the types that are asserted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_type

import pytest

from reseller_sandbox import Refused, Sandbox


def test_time_and_the_past(sandbox: Sandbox) -> None:
    assert_type(sandbox.clock.now, datetime)
    assert_type(sandbox.clock.run().frozen, bool)
    assert_type(sandbox.clock.freeze().now, datetime)
    assert_type(sandbox.clock.due(limit=3).total, int)
    assert_type(sandbox.clock.due(limit=3).due[0].event, str)
    assert_type(sandbox.clock.advance("P1D", dry_run=True).fired[0].charged, Decimal)
    assert_type(sandbox.snapshots.add("here").now, datetime)
    assert_type(sandbox.snapshots.list().snapshots[0].name, str)
    assert_type(sandbox.clock.set("2026-03-02").total, int)
    assert_type(sandbox.snapshots.restore("here").branch.name, str)
    assert_type(sandbox.branches.list().branches[0].name, str)
    assert_type(sandbox.history.diff("start", "now").total, int)
    assert_type(sandbox.history.export().fixture, str)
    assert_type(sandbox.history.load({"zones": {}}).now, datetime)
    assert_type(sandbox.worlds.fork(name="mine").name, str)
    assert_type(next(iter(sandbox.worlds)).name, str)
    assert_type(sandbox.health.show().world, str)
    sandbox.worlds.remove("mine")


def test_the_registry(sandbox: Sandbox) -> None:
    assert_type(sandbox.names["active.com"].renewal, Decimal)
    assert_type(sandbox.names.list(account="main").names[0].name, str)
    assert_type(sandbox.names.add("new.com", account="main").order, int)
    assert_type("new.com" in sandbox.names, bool)
    assert_type(sandbox.hosts.add("ns7.new.com", ips=["192.0.2.7"]).name, str)
    assert_type(sandbox.hosts.list().hosts[0].name, str)
    assert_type(sandbox.transfers.add("active.com", to="other").requested, datetime)
    assert_type(sandbox.transfers.list().transfers[0].gaining, str)
    assert_type(sandbox.accounts["main"].balance, Decimal)
    assert_type(sandbox.accounts.add("new", contact={"name": "New"}, balance=5).key, str)
    assert_type(sandbox.customers.add(700, name="Ann").id, int)
    assert_type(sandbox.contacts.add("A7000", name="Ann").handle, str)


def test_faults_third_parties_and_assumptions(sandbox: Sandbox) -> None:
    assert_type(sandbox.faults.add("latency", seconds=1, name="slow").names[0], str)
    assert_type(sandbox.faults.preset("flaky").matched, int)
    assert_type(sandbox.faults["slow"].struck, int)
    assert_type(sandbox.faults.pause("slow").paused, bool)
    assert_type(sandbox.faults.change("slow", {"seconds": 2}).name, str)
    assert_type(sandbox.faults.replace(sandbox.faults.list()).faults[0].kind, str)
    assert_type(sandbox.outside.register("wanted.com", years=2).fired[0].event, str)
    plan = sandbox.outside.when("P3D").adjust_balance("main", to=0).plan
    assert plan is not None
    assert_type(plan.id, int)
    assert_type(sandbox.plans.remove(plan.id).given, Mapping[str, Any])
    assert_type(sandbox.assumptions.list().assumptions[0].name, str)


def test_requests_and_money(sandbox: Sandbox) -> None:
    sandbox.client().get("/v3/balance")
    assert_type(sandbox.journal.find(limit=1).requests[0].outcome, str)
    assert_type(sandbox.journal["r1"].status, int)
    assert_type(sandbox.journal.verify({"operation": "v3.balance"}, times=1).count, int)
    assert_type(sandbox.journal.expect(operation="v3.balance")[0].id, str)
    assert_type(sandbox.journal.count(), int)
    with sandbox.journal.follow(operation="v3.*", since="r0") as following:
        assert_type(next(following).id, str)
    assert_type(sandbox.rewind("r1").branch.name, str)
    assert_type(sandbox.events.find().events[0].number, int)
    assert_type(sandbox.export(), str)
    with sandbox.fork() as fork:
        assert_type(fork, Sandbox)


def test_wrong_calls_are_seen_by_a_type_checker_and_refused(sandbox: Sandbox) -> None:
    """Each line says that the checker's complaint is ignored; mypy reports one that is needless."""
    with pytest.raises(Refused, match="bye is not known here; the nearest is by"):
        sandbox.clock.advance(bye="P1D")  # type: ignore[call-arg]
    with pytest.raises(Refused, match="second is not known here; the nearest is seconds"):
        sandbox.faults.add("latency", second=1)  # type: ignore[call-arg]
    with pytest.raises(Refused, match="chance is not known here"):
        sandbox.faults.preset("flaky", chance=1)  # type: ignore[call-arg]
    with pytest.raises(Refused, match="seconds must be"):
        sandbox.faults.add("latency", seconds=[1])
    with pytest.raises(Refused, match="limit must be"):
        sandbox.names.list(limit="many")
    with pytest.raises(Refused, match="domain must be"):
        sandbox.outside.register(domain=7)
