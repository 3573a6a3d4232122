"""The record that advice is drawn from: a world's requests, and what can be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct

from reseller_sandbox.registry.matching import NO_OPERATION
from reseller_sandbox.registry.model import LedgerEntry, Purpose
from reseller_sandbox.registry.names import to_unicode
from reseller_sandbox.worlds import Entry, Snapshot

Key = TypeVar("Key")

#: The operation that lists an account's names.
LIST = "v3.listDomains"

#: What an operation orders, in a word that is the same in both interfaces.
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
    """The requests that the journal holds, in order, and the moments the world began at and has come to."""

    entries: tuple[Entry, ...]
    beginning: Snapshot
    present: Snapshot


def grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    """Return the requests by their ``key``, in the order of the first of each."""
    groups: dict[Key, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


def charges(entry: Entry) -> list[LedgerEntry]:
    """Return what the request took from a balance."""
    return [charge for charge in entry.charges if charge.amount < 0]


def renewals(entry: Entry) -> list[LedgerEntry]:
    """Return the renewals that the request paid for: two where a fault had it carried out twice."""
    return [charge for charge in charges(entry) if charge.purpose is Purpose.RENEWAL]


def renewed_itself(entry: LedgerEntry) -> bool:
    """Whether time, not a request, made this payment of a renewal."""
    return entry.purpose is Purpose.RENEWAL and entry.refunds is None and entry.cause.startswith("event:")


def cost(entry: Entry, cause: str | None = None) -> Decimal:
    """Return what the request took in all, or of that what was taken for ``cause``."""
    return -sum((one.amount for one in charges(entry) if cause in (None, one.cause)), Decimal(0))


def currency(entry: Entry) -> str | None:
    """Return the currency that the request was paid in."""
    accounts = entry.after.state.accounts
    return next((accounts[charge.account].currency for charge in charges(entry)), None)


def order_asked_for(entry: Entry) -> str | None:
    """Return what the request orders, carried out or not: ``registration``, ``transfer``, …"""
    return ORDERS.get(entry.operation)


def clock_runs(entry: Entry) -> bool:
    """Whether time passed by itself when the request came, so that a pause before it would show."""
    return not entry.before.clock.frozen


def names(*entries: Entry) -> tuple[str, ...]:
    """Return the names that the requests are about, in Unicode, each once."""
    return tuple(dict.fromkeys(to_unicode(name) for entry in entries for name in entry.domains))


def reads(entry: Entry) -> bool:
    """Whether the request asked something and was not made to change anything."""
    return entry.operation != NO_OPERATION and (
        entry.method == "GET" or entry.operation == "v3.checkAvailability"
    )
