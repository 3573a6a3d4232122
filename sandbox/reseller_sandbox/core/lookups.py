"""What is looked up in a state in several places."""

from __future__ import annotations

from reseller_sandbox.core.model import OUTSIDE, Account, Order, Transfer
from reseller_sandbox.core.state import State


def own_accounts(state: State) -> list[Account]:
    """Return the accounts by their numbers, without that of the other registrars."""
    return [state.accounts[number] for number in sorted(state.accounts) if number != OUTSIDE]


def account_named(state: State, name: str | None) -> Account | None:
    """Return the account of that name, if there is one."""
    accounts = (state.accounts[number] for number in sorted(state.accounts))
    return next((one for one in accounts if one.name == name), None)


def held_order(state: State, name: str) -> Order | None:
    """Return the order of whoever holds a name, if anybody does."""
    number = state.holding_order.get(name)
    return state.orders[number] if number is not None else None


def own_order(state: State, client_id: int, name: str) -> Order | None:
    """Return an account's order for a name, if it has one; it may wait for a transfer."""
    number = state.own_order.get((client_id, name))
    return state.orders[number] if number is not None else None


def order_met(state: State, account: Account | None, name: str) -> Order | None:
    """Return the account's own order for a name where it has one, else that of whoever holds it."""
    own = own_order(state, account.client_id, name) if account is not None else None
    return own or held_order(state, name)


def pending_transfer(state: State, name: str) -> Transfer | None:
    """Return the transfer of a name that goes on, if one does."""
    transfer = state.transfers.get(name)
    return transfer if transfer is not None and transfer.pending else None
