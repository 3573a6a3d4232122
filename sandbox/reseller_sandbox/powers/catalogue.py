"""Every power there is, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import get_type_hints

from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.contract import Advice, Assumptions, Coverage
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.faults import Faults
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.journal import Journal
from reseller_sandbox.powers.ledger import Ledger
from reseller_sandbox.powers.outside import Outside, Plans
from reseller_sandbox.powers.power import Door, Power, look
from reseller_sandbox.powers.records import Result
from reseller_sandbox.powers.registry import Accounts, Contacts, Customers, Hosts, Names, Transfers
from reseller_sandbox.powers.worlds import Branches, Capsule, History, Snapshots, Worlds


class HealthRecord(Result, frozen=True, kw_only=True):
    """The status of the sandbox (``ok``), which world answers, and what its clock shows."""

    status: str
    world: str
    now: datetime
    frozen: bool


class Health(Power):
    """Whether the sandbox is up."""

    @look()
    def show(self) -> HealthRecord:
        """Return that the sandbox is up, and which world answers."""
        world = here(self).world
        return HealthRecord(status="ok", world=world.name, now=world.now(), frozen=world.clock.frozen)


class Powers:
    """Every power over one world. A subclass may add powers, or replace some: each is one annotation."""

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
    outside: Outside
    plans: Plans
    journal: Journal
    capsule: Capsule
    ledger: Ledger
    events: Events
    assumptions: Assumptions
    advice: Advice
    coverage: Coverage

    @classmethod
    @cache
    def powers(cls) -> Mapping[str, type[Power]]:
        """Return the powers that it has, by name, as its annotations say."""
        hints = get_type_hints(cls)
        return {name: one for name, one in hints.items() if isinstance(one, type) and issubclass(one, Power)}

    def reach(self, door: Door) -> None:
        """Make the powers over the world that ``door`` leads to."""
        for name, power in self.powers().items():
            setattr(self, name, power(door))


POWERS = Powers.powers()
