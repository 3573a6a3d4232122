"""Events: changes of the registry by the clock or by third parties."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from reseller_sandbox.registry.model import OUTSIDE, Account, Order, Stage
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values.money import NOTHING


class RegistryEvent(NamedTuple):
    """An event that has occurred. Its subject is a domain, a zone or an account.

    ``charged`` is the amount that ``account`` paid (negative for a refund), and ``balance`` its balance after
    the event. ``note`` says why an expected event did not occur. ``stage`` is the earlier stage of the order.
    """

    at: datetime
    event: str
    subject: str
    account: int | None = None
    order: int | None = None
    charged: Decimal = NOTHING
    balance: Decimal | None = None
    note: str = ""
    stage: Stage | None = None


def concerning(
    draft: Draft, event: str, of: Order | Account, charged: Decimal = NOTHING, note: str = ""
) -> RegistryEvent:
    """Return an event about an order or account, with the account's current balance."""
    order, account, stage = (
        (of.id, of.account, of.stage) if isinstance(of, Order) else (None, of.client_id, None)
    )
    balance = draft.state.accounts[account].balance if account != OUTSIDE else None
    return RegistryEvent(draft.now, event, of.name, account, order, charged, balance, note, stage)
