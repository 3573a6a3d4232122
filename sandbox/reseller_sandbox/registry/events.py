"""What time and the rest of the world have done, as it is reported."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from reseller_sandbox.registry.model import OUTSIDE, Account, Order, Stage
from reseller_sandbox.registry.money import NOTHING
from reseller_sandbox.registry.state import Draft


class RegistryEvent(NamedTuple):
    """One event that has happened: when, what, to which name, zone or account, and whom it concerned.

    ``charged`` is what ``account`` paid for it (below zero: what it got back), ``balance`` what it
    has left. ``note`` says why something that was to happen did not. ``stage`` is that of its order before.
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
    """Return what has just happened in ``draft`` to an order or an account, with the balance that it left."""
    order, account, stage = (
        (of.id, of.account, of.stage) if isinstance(of, Order) else (None, of.client_id, None)
    )
    balance = draft.state.accounts[account].balance if account != OUTSIDE else None
    return RegistryEvent(draft.now, event, of.name, account, order, charged, balance, note, stage)
