"""The record for advice: a world's requests, and functions to examine them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from msgspec import Struct

from reseller_sandbox.registry.model import LedgerEntry, Purpose
from reseller_sandbox.values.matching import NO_OPERATION
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry, Snapshot

#: The operation that lists an account's names.
LIST = "v3.listDomains"

#: The kind of order that an operation places, with the same word for both interfaces.
ORDERS = {
    "v3.createDomain": "registration",
    "v2.domain.register": "registration",
    "v3.requestTransfer": "transfer",
    "v2.transfer.request": "transfer",
    "v3.renewDomain": "renewal",
    "v2.domain.renew": "renewal",
    "v2.domain.restore": "restore",
}


class Record(Struct, frozen=True, kw_only=True):
    """The requests in the journal, in order, and the world's first and last snapshot."""

    entries: tuple[Entry, ...]
    beginning: Snapshot
    present: Snapshot


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


def is_read(entry: Entry) -> bool:
    """Whether the request cannot change anything."""
    return entry.operation != NO_OPERATION and (
        entry.method == "GET" or entry.operation == "v3.checkAvailability"
    )
