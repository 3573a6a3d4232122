"""Every power there is, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.powers.advice import Advice
from reseller_sandbox.powers.assumptions import Assumptions
from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.journal import Journal
from reseller_sandbox.powers.ledger import Ledger
from reseller_sandbox.powers.outside import Outside
from reseller_sandbox.powers.plans import Plans
from reseller_sandbox.powers.power import Power
from reseller_sandbox.powers.registry import Accounts, Contacts, Customers, Hosts, Names, Transfers

POWERS: Mapping[str, type[Power]] = {
    power.name: power
    for power in (
        Clock,
        Names,
        Accounts,
        Customers,
        Contacts,
        Hosts,
        Transfers,
        Outside,
        Plans,
        Journal,
        Ledger,
        Events,
        Assumptions,
        Advice,
    )
}
