"""What the powers of a sandbox return is known to a type checker, and so to an editor.

``mypy`` holds this file; when it runs, what comes is of the type that is asserted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_type

import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.powers.advice import AdviceGiven
from reseller_sandbox.powers.assumptions import Assumed
from reseller_sandbox.powers.clock import Coming, Moved, Shows, Tick
from reseller_sandbox.powers.events import EventsFound, Logged
from reseller_sandbox.powers.fault_records import (
    FaultRecord,
    FaultsFound,
    FaultsPlaced,
    KindsFound,
    PresetsFound,
)
from reseller_sandbox.powers.following import Following
from reseller_sandbox.powers.health import HealthRecord
from reseller_sandbox.powers.history import BranchesFound, Difference, Exported, Loaded, SnapshotsFound
from reseller_sandbox.powers.journal import Cleared, RequestsFound, Verification
from reseller_sandbox.powers.journal_records import RequestLine, RequestRecord, Why
from reseller_sandbox.powers.ledger import MovementsFound
from reseller_sandbox.powers.outside import Outside, Played
from reseller_sandbox.powers.people import AccountsFound, ContactsFound, CustomersFound
from reseller_sandbox.powers.plans import PlanRecord, PlansFound
from reseller_sandbox.powers.points import CheckpointRecord, WentBack, WorldStanding
from reseller_sandbox.powers.registry import HostsFound, NamesFound, TransfersFound
from reseller_sandbox.powers.registry_records import (
    AccountRecord,
    ContactRecord,
    CustomerRecord,
    HostRecord,
    NameRecord,
    TransferRecord,
)
from reseller_sandbox.powers.worlds import WorldRecord, WorldsFound, WorldSummary
from tests.registry import REGISTRY


def test_time_and_the_past() -> None:
    """The clock, the history, snapshots, branches and worlds."""
    sandbox = Sandbox(REGISTRY)
    assert_type(sandbox.clock.now, datetime)
    assert_type(sandbox.clock.show(), Shows)
    assert_type(sandbox.clock.freeze(), Shows)
    assert_type(sandbox.clock.run(), Shows)
    assert_type(sandbox.clock.due(limit=3), Coming)
    assert_type(sandbox.clock.watch(), Following[Tick])
    assert_type(sandbox.snapshots.add("here"), CheckpointRecord)
    assert_type(sandbox.snapshots.list(), SnapshotsFound)
    assert_type(sandbox.clock.set("2026-03-02"), Moved)
    assert_type(sandbox.clock.advance("P1D", dry_run=True), Moved)
    assert_type(sandbox.clock.advance(until={"domain": "second.com", "stage": "overdue"}), Moved)
    assert_type(sandbox.snapshots.restore("here"), WentBack)
    assert_type(sandbox.snapshots.remove("here"), SnapshotsFound)
    assert_type(next(iter(sandbox.branches)), CheckpointRecord)
    assert_type(sandbox.branches.list(), BranchesFound)
    assert_type(sandbox.branches.switch("b1"), WentBack)
    assert_type(sandbox.branches.remove("b2"), BranchesFound)
    assert_type(sandbox.history.diff("start", "now"), Difference)
    assert_type(sandbox.history.export(), Exported)
    assert_type(sandbox.history.reset(), WorldStanding)
    assert_type(sandbox.history.load({"zones": {}}), Loaded)
    assert_type(sandbox.worlds.fork(name="mine"), WorldRecord)
    assert_type(sandbox.worlds.get("mine"), WorldRecord)
    assert_type(next(iter(sandbox.worlds)), WorldSummary)
    assert_type(sandbox.worlds.remove("mine"), WorldsFound)
    assert_type(sandbox.health.show(), HealthRecord)


def test_the_registry() -> None:
    """Names, hosts, transfers, accounts, customers and contacts."""
    sandbox = Sandbox(REGISTRY)
    assert_type(sandbox.names["active.com"], NameRecord)
    assert_type(sandbox.names["active.com"].renewal, Decimal)
    assert_type(sandbox.names.list(account="main"), NamesFound)
    assert_type(sandbox.names.add("new.com", account="main"), NameRecord)
    assert_type("new.com" in sandbox.names, bool)
    assert_type(sandbox.hosts.list(), HostsFound)
    assert_type(sandbox.hosts.add("ns7.new.com", ips=["192.0.2.7"]), HostRecord)
    assert_type(sandbox.transfers.list(), TransfersFound)
    assert_type(sandbox.transfers.add("active.com", to="other"), TransferRecord)
    assert_type(sandbox.accounts["main"], AccountRecord)
    assert_type(sandbox.accounts.list(), AccountsFound)
    assert_type(sandbox.accounts.add("new", contact={"name": "New"}, balance=5), AccountRecord)
    assert_type(sandbox.customers.list(), CustomersFound)
    assert_type(sandbox.customers.add(700, name="Ann"), CustomerRecord)
    assert_type(sandbox.contacts.list(), ContactsFound)
    assert_type(sandbox.contacts.add("A7000", name="Ann"), ContactRecord)


def test_what_others_do() -> None:
    """Faults, the other side and its plans, assumptions."""
    sandbox = Sandbox(REGISTRY)
    assert_type(sandbox.faults.add("latency", seconds=1, name="slow"), FaultsPlaced)
    with pytest.raises(Refused, match="second is not known here; the nearest is seconds"):
        sandbox.faults.add("latency", second=1)  # type: ignore[call-arg]
    with pytest.raises(Refused, match="seconds must be"):
        sandbox.faults.add("latency", seconds=[1])
    with pytest.raises(Refused, match="chance is not known here"):
        sandbox.faults.preset("flaky", chance=1)  # type: ignore[call-arg]
    assert_type(sandbox.faults.preset("flaky"), FaultsPlaced)
    assert_type(sandbox.faults["slow"], FaultRecord)
    assert_type(sandbox.faults.change("slow", {"seconds": 2}), FaultRecord)
    assert_type(sandbox.faults.pause("slow"), FaultRecord)
    assert_type(sandbox.faults.resume("slow"), FaultRecord)
    assert_type(sandbox.faults.replace(sandbox.faults.list()), FaultsPlaced)
    assert_type(sandbox.faults.remove("slow"), FaultsFound)
    assert_type(sandbox.faults.clear(), FaultsFound)
    assert_type(sandbox.faults.kinds(), KindsFound)
    assert_type(sandbox.faults.presets(), PresetsFound)
    assert_type(sandbox.outside.when("P3D"), Outside)
    assert_type(sandbox.outside.register("wanted.com", years=2), Played)
    assert_type(sandbox.outside.when("P3D").adjust_balance("main", to=0), Played)
    assert_type(sandbox.plans.list(), PlansFound)
    assert_type(sandbox.plans.remove(1), PlanRecord)
    assert_type(sandbox.assumptions.list(), Assumed)
    assert_type(sandbox.assumptions.set({"v3.ids": "integer"}), Assumed)
    assert_type(sandbox.assumptions["v3.ids"], Any)


def test_what_came_of_requests() -> None:
    """The journal, the ledger, the events and the advice."""
    sandbox = Sandbox(REGISTRY)
    sandbox.client().get("/v3/balance")
    assert_type(sandbox.journal.find(limit=1), RequestsFound)
    assert_type(sandbox.journal["r1"], RequestRecord)
    assert_type(sandbox.journal.follow(operation="v3.*"), Following[RequestLine])
    assert_type(sandbox.journal.verify({"operation": "v3.balance"}, times=1), Verification)
    assert_type(sandbox.journal.expect(operation="v3.balance"), tuple[RequestLine, ...])
    assert_type(sandbox.journal.expect_in_order({"operation": "v3.balance"}), tuple[RequestLine, ...])
    assert_type(sandbox.journal.count(), int)
    assert_type(sandbox.journal.why("r1"), Why | None)
    assert_type(sandbox.history.rewind("r1"), WentBack)
    assert_type(sandbox.journal.clear(), Cleared)
    assert_type(sandbox.ledger.find(account="main"), MovementsFound)
    assert_type(sandbox.events.find(), EventsFound)
    assert_type(sandbox.events.follow(), Following[Logged])
    assert_type(sandbox.advice.list(), AdviceGiven)


def test_the_short_forms() -> None:
    """What a sandbox itself does is what its powers do."""
    with Sandbox(REGISTRY) as sandbox:
        assert_type(sandbox.snapshot("here"), CheckpointRecord)
        assert_type(sandbox.restore("here"), WentBack)
        assert_type(sandbox.diff(), Difference)
        assert_type(sandbox.export(), str)
        assert_type(sandbox.reset(), WorldStanding)
        assert_type(sandbox.load({"zones": {}}), Loaded)
        with sandbox.fork() as fork:
            assert_type(fork, Sandbox)
        with suppress(Refused):
            assert_type(sandbox.rewind("r7"), WentBack)


def test_wrong_calls_are_seen() -> None:
    """A type checker complains of them, which is why each says that it is ignored; here they are refused."""
    sandbox = Sandbox(REGISTRY)
    for wrong in _wrong(sandbox):
        assert wrong == "invalid_parameter"


def _wrong(sandbox: Sandbox) -> Iterator[str]:
    try:
        sandbox.clock.advance(bye="P1D")  # type: ignore[call-arg]
    except Refused as refused:
        yield refused.code
    try:
        sandbox.names.list(limit="many")
    except Refused as refused:
        yield refused.code
    try:
        sandbox.outside.register(domain=7)
    except Refused as refused:
        yield refused.code
