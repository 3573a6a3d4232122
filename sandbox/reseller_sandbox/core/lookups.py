"""What is looked up in a state in several places."""

from __future__ import annotations

from reseller_sandbox.core.model import OUTSIDE, Account, Order, Transfer
from reseller_sandbox.core.state import State


def own_accounts(state: State) -> list[Account]:
    """Return the accounts by their numbers, without that of the other registrars."""
    return [state.accounts[number] for number in sorted(state.accounts) if number != OUTSIDE]


def order_met(state: State, account: Account | None, name: str) -> Order | None:
    """Return the account's own order for a name where it has one, else that of whoever holds it."""
    number = state.own_order.get((account.client_id, name)) if account is not None else None
    if number is None:
        number = state.holding_order.get(name)
    return state.orders[number] if number is not None else None


def pending_transfer(state: State, name: str) -> Transfer | None:
    """Return the transfer of a name that goes on, if one does."""
    transfer = state.transfers.get(name)
    return transfer if transfer is not None and transfer.pending else None
