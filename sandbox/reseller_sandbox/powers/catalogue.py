"""Every power there is, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from reseller_sandbox.powers.advice import Advice
from reseller_sandbox.powers.assumptions import Assumptions
from reseller_sandbox.powers.capsule import Capsule
from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.coverage import Coverage
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.faults import Faults
from reseller_sandbox.powers.health import Health
from reseller_sandbox.powers.history import Branches, History, Snapshots
from reseller_sandbox.powers.journal import Journal
from reseller_sandbox.powers.ledger import Ledger
from reseller_sandbox.powers.outside import Outside
from reseller_sandbox.powers.people import Accounts, Contacts, Customers
from reseller_sandbox.powers.plans import Plans
from reseller_sandbox.powers.power import Door, Power
from reseller_sandbox.powers.registry import Hosts, Names, Transfers
from reseller_sandbox.powers.worlds import Worlds


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
    def powers(cls) -> Mapping[str, type[Power]]:
        """Return the powers that it has, by name, as its annotations say."""
        holder: Any = cls
        return _powers_of(holder)

    def reach(self, door: Door) -> None:
        """Make the powers over the world that ``door`` leads to."""
        for name, power in self.powers().items():
            setattr(self, name, power(door))


@cache
def _powers_of(holder: Any) -> Mapping[str, type[Power]]:
    hints = get_type_hints(holder)
    return {name: one for name, one in hints.items() if isinstance(one, type) and issubclass(one, Power)}


POWERS = Powers.powers()
