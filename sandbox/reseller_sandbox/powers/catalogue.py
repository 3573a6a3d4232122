"""Every power there is, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.powers.advice import Advice
from reseller_sandbox.powers.assumptions import Assumptions
from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.faults import Faults
from reseller_sandbox.powers.health import Health
from reseller_sandbox.powers.history import Branches, History, Snapshots
from reseller_sandbox.powers.journal import Journal
from reseller_sandbox.powers.ledger import Ledger
from reseller_sandbox.powers.outside import Outside
from reseller_sandbox.powers.people import Accounts, Contacts, Customers
from reseller_sandbox.powers.plans import Plans
from reseller_sandbox.powers.power import Power
from reseller_sandbox.powers.registry import Hosts, Names, Transfers
from reseller_sandbox.powers.worlds import Worlds

POWERS: Mapping[str, type[Power]] = {
    power.name: power
    for power in (
        Health,
        Clock,
        Worlds,
        History,
        Snapshots,
        Branches,
        Names,
        Accounts,
        Customers,
        Contacts,
        Hosts,
        Transfers,
        Faults,
        Outside,
        Plans,
        Journal,
        Ledger,
        Events,
        Assumptions,
        Advice,
    )
}
