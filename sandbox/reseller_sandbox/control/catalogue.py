"""All resources, in the order in which the manual describes them."""

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
    """The status of the sandbox (always ``ok``), the name and the clock of the world, and the header prefix.

    The headers that sign a request begin with ``header_prefix``, which is a setting of the server.
    """

    status: str
    world: str
    now: datetime
    frozen: bool
    header_prefix: str


class Health(Resource):
    """Whether the sandbox answers requests."""

    @read("GET health")
    def show(self) -> HealthRecord:
        """Return the status of the sandbox, the name and the clock of the world, and the header prefix."""
        world = self._world
        return HealthRecord(
            status="ok",
            world=world.name,
            now=world.now(),
            frozen=world.clock.frozen,
            header_prefix=self._local.worlds.header_prefix,
        )


class Resources:
    """All resources of one world, each as an attribute.

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
        """Return the classes of the resources by name, from the annotations of this class."""
        hints = get_type_hints(cls)
        return {
            name: hint
            for name, hint in hints.items()
            if isinstance(hint, type) and issubclass(hint, Resource)
        }

    def reach(self, transport: Transport) -> None:
        """Create all resources, with ``transport`` as their connection to a world."""
        for name, resource in self.resources().items():
            setattr(self, name, resource(transport))


RESOURCES = Resources.resources()
