"""What time and the rest of the world have done, as it is reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from reseller_sandbox.core.model import OUTSIDE
from reseller_sandbox.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
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

    def settled_in(self, state: State) -> Happening:
        """The event with the balance that it left in ``state``."""
        if self.account is None or self.account == OUTSIDE:
            return self
        return replace(self, balance=state.accounts[self.account].balance)
