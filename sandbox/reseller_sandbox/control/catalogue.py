"""Every resource, in the order in which the manual presents them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import get_type_hints

from reseller_sandbox.control.answers import Answers
from reseller_sandbox.control.clock import Clock
from reseller_sandbox.control.contract import Advice, Assumptions, Coverage
from reseller_sandbox.control.events import Events
from reseller_sandbox.control.faults import Faults
from reseller_sandbox.control.journal import Journal
from reseller_sandbox.control.ledger import Ledger
from reseller_sandbox.control.records import Accounts, Contacts, Customers, Hosts, Names, Transfers
from reseller_sandbox.control.resource import Resource, Transport, read
from reseller_sandbox.control.results import Result
from reseller_sandbox.control.simulate import Scheduled, Simulate
from reseller_sandbox.control.worlds import Branches, History, Recording, Snapshots, Worlds


class HealthRecord(Result, frozen=True, kw_only=True):
    """The status of the sandbox (``ok``), the world that answers, and its clock."""

    status: str
    world: str
    now: datetime
    frozen: bool


class Health(Resource):
    """Whether the sandbox is up."""

    @read()
    def show(self) -> HealthRecord:
        """Return the status of the sandbox and the world that answers."""
        world = self._world
        return HealthRecord(status="ok", world=world.name, now=world.now(), frozen=world.clock.frozen)


class Resources:
    """Every resource over one world.

    Each annotation declares a resource. A subclass may add or replace resources.
    """

    health: Health
    clock: Clock
    worlds: Worlds
    history: History
    snapshots: Snapshots
    branches: Branches
    names: Names
    accounts: Accounts
    customers: Customers
    contacts: Contacts
    hosts: Hosts
    transfers: Transfers
    faults: Faults
    answers: Answers
    simulate: Simulate
    scheduled: Scheduled
    journal: Journal
    recording: Recording
    ledger: Ledger
    events: Events
    assumptions: Assumptions
    advice: Advice
    coverage: Coverage

    @classmethod
    @cache
    def resources(cls) -> Mapping[str, type[Resource]]:
        """Return the annotated resources by name."""
        hints = get_type_hints(cls)
        return {
            name: hint
            for name, hint in hints.items()
            if isinstance(hint, type) and issubclass(hint, Resource)
        }

    def reach(self, transport: Transport) -> None:
        """Create the resources over the world that ``transport`` leads to."""
        for name, resource in self.resources().items():
            setattr(self, name, resource(transport))


RESOURCES = Resources.resources()
