"""What time and the rest of the world have done, as it is reported."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from reseller_sandbox.core.model import OUTSIDE, Account, Order
from reseller_sandbox.core.state import Draft


class Happening(NamedTuple):
    """One event that has happened: when, what, to which name, zone or account, and whom it concerned.

    ``charged`` is what ``account`` paid for it (below zero: what it got back), ``balance`` what it
    has left. ``note`` says why something that was to happen did not.
    """

    at: datetime
    event: str
    subject: str
    account: int | None = None
    order: int | None = None
    charged: Decimal = Decimal(0)
    balance: Decimal | None = None
    note: str = ""


def concerning(
    draft: Draft, event: str, order: Order, charged: Decimal = Decimal(0), note: str = ""
) -> Happening:
    """What has just happened to ``order`` in ``draft``, with the balance that it left."""
    return Happening(
        at=draft.now,
        event=event,
        subject=order.name,
        account=order.account,
        order=order.id,
        charged=charged,
        balance=_balance(draft, order.account),
        note=note,
    )


def concerning_account(
    draft: Draft, event: str, account: Account, charged: Decimal = Decimal(0)
) -> Happening:
    """What has just happened to ``account`` in ``draft``, with the balance that it left."""
    return Happening(
        at=draft.now,
        event=event,
        subject=account.name,
        account=account.client_id,
        charged=charged,
        balance=_balance(draft, account.client_id),
    )


def _balance(draft: Draft, account: int) -> Decimal | None:
    return draft.state.accounts[account].balance if account != OUTSIDE else None
