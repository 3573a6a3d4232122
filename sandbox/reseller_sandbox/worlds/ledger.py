"""The ledger of a world: every charge and refund, what caused it, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.ledger import request_of
from reseller_sandbox.core.model import OUTSIDE, LedgerEntry
from reseller_sandbox.core.names import BadName, normalise
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_ACCOUNT, Refused
from reseller_sandbox.core.state import State
from reseller_sandbox.worlds.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which movements of money are meant; None leaves a thing open.

    ``operation`` is a pattern with ``*`` and ``?``; what time does by itself is ``time``. ``request`` is
    the name of the one that caused it, for both times where a fault had it carried out twice.
    """

    account: str | None = None
    order: int | None = None
    domain: str | None = None
    operation: str | None = None
    purpose: str | None = None
    request: str | None = None
    since: datetime | None = None

    def takes(
        self, entry: LedgerEntry, client_id: int | None, name: str | None, operation: Glob | None
    ) -> bool:
        """Whether an entry is meant; account, domain and operation are those looked up."""
        return (
            (client_id is None or entry.account == client_id)
            and (self.order is None or entry.order == self.order)
            and (name is None or entry.name == name)
            and (operation is None or operation.matches(operation_of(entry)))
            and (self.purpose is None or entry.purpose == self.purpose)
            and (self.request is None or self.request in (entry.cause, request_of(entry.cause)))
            and (self.since is None or entry.at >= self.since)
        )


@dataclass(slots=True)
class Total:
    """What movements come to: ``charged`` and ``refunded`` are both positive, ``balance`` is their effect."""

    key: Any
    entries: int = 0
    charged: Decimal = Decimal(0)
    refunded: Decimal = Decimal(0)
    added: Decimal = Decimal(0)
    balance: Decimal = Decimal(0)

    def take(self, entry: LedgerEntry) -> None:
        """Count an entry in."""
        self.entries += 1
        self.balance += entry.amount
        if entry.refunds is not None:
            self.refunded += entry.amount
        elif entry.amount < 0:
            self.charged -= entry.amount
        else:
            self.added += entry.amount


@dataclass(frozen=True, slots=True)
class Ledger:
    """Movements of money, oldest first, and the state that they are in."""

    entries: tuple[LedgerEntry, ...]
    state: State

    def totals(self, key: Callable[[LedgerEntry], Any]) -> list[Total]:
        """What the movements come to for each ``key``, in its order; those that have none are left out."""
        found: dict[Any, Total] = {}
        for entry in self.entries:
            one = key(entry)
            if one is not None:
                found.setdefault(one, Total(one)).take(entry)
        return [found[one] for one in sorted(found)]

    def by_order(self) -> list[Total]:
        """What each order came to."""
        return self.totals(lambda entry: entry.order)

    def by_operation(self) -> list[Total]:
        """What each operation came to."""
        return self.totals(operation_of)

    def by_purpose(self) -> list[Total]:
        """What each purpose came to."""
        return self.totals(lambda entry: str(entry.purpose))

    def by_account(self) -> list[Total]:
        """What each account's movements came to."""
        return self.totals(lambda entry: self.state.accounts[entry.account].name)


def of(world: World, wanted: Wanted | None = None) -> Ledger:
    """The movements of a world that are ``wanted``.

    Refuses with ``unknown_account``, and with ``invalid_parameter`` a pattern that is none.
    """
    wanted = wanted or Wanted()
    state = world.present().state
    client_id = _client_id(state, wanted.account)
    name, operation = _name(wanted.domain), _operation(wanted.operation)
    entries = (state.ledger[number] for number in _numbers(state, client_id))
    meant = (entry for entry in entries if wanted.takes(entry, client_id, name, operation))
    return Ledger(tuple(meant), state)


def operation_of(entry: LedgerEntry) -> str:
    """The operation that an entry is from, or what caused it where that was none."""
    return entry.operation or entry.cause


def movement(entry: LedgerEntry, state: State) -> dict[str, Any]:
    """A movement of money as data."""
    return {
        "id": entry.id,
        "at": entry.at,
        "account": state.accounts[entry.account].name,
        "amount": money.write(entry.amount),
        "kind": "refund" if entry.refunds is not None else "charge" if entry.amount < 0 else "credit",
        "purpose": str(entry.purpose),
        "operation": operation_of(entry),
        "cause": entry.cause,
        "request": request_of(entry.cause),
        "order": entry.order,
        "domain": entry.name or None,
        "years": entry.years or None,
        "refunds": entry.refunds,
    }


def balances(state: State) -> list[dict[str, Any]]:
    """Each account's money: at the beginning of its ledger, and now."""
    return [
        {"account": one.name, "currency": one.currency, "opening": one.opening, "balance": one.balance}
        for one in (state.accounts[number] for number in sorted(state.accounts))
        if one.client_id != OUTSIDE
    ]


def _numbers(state: State, client_id: int | None) -> Iterable[int] | Iterator[int]:
    if client_id is None:
        return sorted(state.ledger)
    return (number for _, number in state.ledger_of_account.beginning((client_id,)))


def _client_id(state: State, name: str | None) -> int | None:
    if name is None:
        return None
    for number in sorted(state.accounts):
        if state.accounts[number].name == name:
            return number
    known = ", ".join(sorted(account.name for account in state.accounts.values()))
    raise Refused(UNKNOWN_ACCOUNT, account=name[:80], known=known)


def _operation(pattern: str | None) -> Glob | None:
    try:
        return None if pattern is None else Glob(pattern)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"operation {problem}") from None


def _name(domain: str | None) -> str | None:
    if domain is None:
        return None
    try:
        return normalise(domain)
    except BadName:
        return domain.lower()
