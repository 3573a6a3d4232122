"""The ledger: each charge and refund changes an account's balance and adds an entry.

An account's balance is always its opening balance plus the sum of its entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.refusals import INSUFFICIENT_FUNDS, Refused
from reseller_sandbox.registry.model import OUTSIDE, Account, LedgerEntry, Order, Purpose
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.values import money

_CAUSE = re.compile(r"(r[0-9]{1,18})(?::duplicate)?")


def can_pay(account: Account, amount: Decimal) -> bool:
    """Whether the account's balance covers ``amount``. Other registrars can always pay."""
    return account.client_id == OUTSIDE or account.balance >= amount


def require_funds(account: Account, amount: Decimal) -> None:
    """Refuse with ``insufficient_funds`` unless the balance covers ``amount``."""
    if not can_pay(account, amount):
        raise Refused(
            INSUFFICIENT_FUNDS,
            amount=money.write(amount),
            currency=account.currency,
            balance=money.write(account.balance),
        )


def total_charged(entries: Iterable[LedgerEntry]) -> Decimal:
    """Return the sum of the charges in ``entries``, without refunds."""
    return -sum((entry.amount for entry in entries if entry.amount < 0 and entry.refunds is None), Decimal(0))


def charge(draft: Draft, order: Order, amount: Decimal, purpose: Purpose, years: int = 0) -> tuple[int, ...]:
    """Charge ``amount`` to the order's account. Return the ids of the new ledger entries.

    An amount of 0, and an order of another registrar, have no ledger entry.
    """
    account = draft.state.accounts[order.account]
    require_funds(account, amount)
    if not amount or account.client_id == OUTSIDE:
        return ()
    return (_enter(draft, account, -amount, purpose, order=order.id, name=order.name, years=years).id,)


def refund(draft: Draft, entries: Iterable[int], grace: str | None = None) -> Decimal:
    """Refund the charges whose ids are in ``entries``. Return the refunded sum.

    ``grace`` is the period of the zone's policy that grants the refund.
    """
    total = money.NOTHING
    for number in entries:
        charged = draft.state.ledger[number]
        account = draft.state.accounts[charged.account]
        same = {"order": charged.order, "name": charged.name, "years": charged.years, "grace": grace}
        total += _enter(draft, account, -charged.amount, charged.purpose, refunds=charged.id, **same).amount
    return total


def adjust(draft: Draft, account: Account, amount: Decimal) -> LedgerEntry:
    """Add ``amount`` to the balance for a reason outside the registry, such as a top-up."""
    return _enter(draft, account, amount, Purpose.ADJUSTMENT)


def total(draft: Draft, entries: Iterable[int]) -> Decimal:
    """Return the sum of the charges whose ids are in ``entries``, as a positive amount."""
    amounts = [draft.state.ledger[number].amount for number in entries]
    return -sum(amounts, money.NOTHING)


def _enter(draft: Draft, account: Account, amount: Decimal, purpose: Purpose, **more: Any) -> LedgerEntry:
    entry = LedgerEntry(
        id=draft.next("ledger"),
        at=draft.now,
        account=account.client_id,
        amount=amount,
        purpose=purpose,
        cause=draft.cause,
        operation=draft.operation,
        **more,
    )
    draft.put(entry)
    draft.put(replace(account, balance=account.balance + amount))
    return entry


def latest_request(state: State) -> int:
    """Return the number of the latest request in the ledger: 12 for ``r12``, or 0.

    Later requests get higher numbers, so that no two requests share a name.
    """
    named = (request_of(entry.cause) for entry in state.ledger.values())
    return max((int(name[1:]) for name in named if name), default=0)


def request_of(cause: str) -> str | None:
    """Return the name of the request (``r12``) in a ledger entry's ``cause``, or None.

    The repetition of a duplicated request counts as the request itself.
    """
    match = _CAUSE.fullmatch(cause)
    return match[1] if match else None
