"""The record for advice: a world's requests, and functions to examine them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from msgspec import Struct

from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.model import LedgerEntry, Purpose
from reseller_sandbox.values.matching import NO_OPERATION
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry, Snapshot


class Record(Struct, frozen=True, kw_only=True):
    """The requests in the journal, in order, and the world's first and last snapshot.

    ``operations`` are the operations of the contract by id.
    """

    entries: tuple[Entry, ...]
    beginning: Snapshot
    present: Snapshot
    operations: Mapping[str, ApiOperation]

    def operation(self, entry: Entry) -> ApiOperation | None:
        """Return the operation of the request, or None if no operation of the contract matched."""
        return self.operations.get(entry.operation)

    def orders(self, entry: Entry) -> Purpose | None:
        """Return the purpose of the order that the request places, or None."""
        operation = self.operation(entry)
        return operation.orders if operation is not None else None

    def lists_names(self, entry: Entry) -> bool:
        """Whether the request lists an account's names."""
        operation = self.operation(entry)
        return operation is not None and operation.lists_names

    def is_read(self, entry: Entry) -> bool:
        """Whether the request cannot change anything."""
        operation = self.operation(entry)
        reads = operation.reads if operation is not None else entry.method == "GET"
        return entry.operation != NO_OPERATION and reads


def by_account(entries: Iterable[Entry]) -> Iterable[list[Entry]]:
    """Return the requests of each account, in the order of each account's first request."""
    groups: dict[str | None, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.account, []).append(entry)
    return groups.values()


def charges(entry: Entry) -> list[LedgerEntry]:
    """Return the charges of the request."""
    return [charge for charge in entry.charges if charge.amount < 0]


def renewals(entry: Entry) -> list[LedgerEntry]:
    """Return the renewals that the request paid for.

    There are two if a fault carried the request out twice.
    """
    return [charge for charge in charges(entry) if charge.purpose is Purpose.RENEWAL]


def is_automatic_renewal(entry: LedgerEntry) -> bool:
    """Whether the entry is an automatic renewal, made by the clock."""
    return entry.purpose is Purpose.RENEWAL and entry.refunds is None and entry.cause.startswith("event:")


def cost(entry: Entry, cause: str | None = None) -> Decimal:
    """Return the total charge of the request, or the part for ``cause``."""
    return -sum((charge.amount for charge in charges(entry) if cause in (None, charge.cause)), Decimal(0))


def currency(entry: Entry) -> str | None:
    """Return the currency in which the request was charged, or None."""
    accounts = entry.after.state.accounts
    return next((accounts[charge.account].currency for charge in charges(entry)), None)


def clock_runs(entry: Entry) -> bool:
    """Whether the clock ran at the request, so that earlier pauses are visible."""
    return not entry.before.clock.frozen


def names(*entries: Entry) -> tuple[str, ...]:
    """Return the domains of the requests in Unicode, without duplicates."""
    return tuple(dict.fromkeys(to_unicode(name) for entry in entries for name in entry.domains))
