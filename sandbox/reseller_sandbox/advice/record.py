"""The record that advice is drawn from: a world's requests, and what can be said of one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

from reseller_sandbox.core.matching import NO_OPERATION
from reseller_sandbox.core.model import LedgerEntry, Purpose
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.worlds import Entry, Moment

#: The operation that lists an account's names.
LIST = "v3.listDomains"

#: What an operation orders, in a word that is the same in both generations.
ORDERS = {
    "v3.createDomain": "registration",
    "v2.domain.register": "registration",
    "v3.requestTransfer": "transfer",
    "v2.transfer.request": "transfer",
    "v3.renewDomain": "renewal",
    "v2.domain.renew": "renewal",
    "v2.domain.restore": "restore",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The requests that the journal holds, in order, and the moments the world began at and has come to."""

    entries: tuple[Entry, ...]
    beginning: Moment
    present: Moment


def charges(entry: Entry) -> Iterator[LedgerEntry]:
    """What the request took from a balance."""
    for change in entry.changes:
        if change.table == "ledger" and change.before is None and change.after.amount < 0:
            yield change.after


def renewals(entry: Entry) -> list[LedgerEntry]:
    """The renewals that the request paid for: one, or none; two where a fault had it carried out twice."""
    return [charge for charge in charges(entry) if charge.purpose is Purpose.RENEWAL]


def renewed_itself(entry: LedgerEntry) -> bool:
    """Whether time, not a request, made this payment of a renewal."""
    return entry.purpose is Purpose.RENEWAL and entry.refunds is None and entry.cause.startswith("event:")


def cost(entry: Entry, cause: str | None = None) -> Decimal:
    """What the request took in all, or of that what was taken for ``cause``."""
    taken = (charge.amount for charge in charges(entry) if cause in (None, charge.cause))
    return -sum(taken, Decimal(0))


def currency(entry: Entry) -> str | None:
    """The currency that the request was paid in."""
    accounts = entry.after.state.accounts
    return next((accounts[charge.account].currency for charge in charges(entry)), None)


def order_asked_for(entry: Entry) -> str | None:
    """Return what the request orders, be it carried out or not: ``registration``, ``transfer``, …"""
    return ORDERS.get(entry.operation)


def clock_runs(entry: Entry) -> bool:
    """Whether time passed by itself when the request came, so that a pause before it would show."""
    return not entry.before.clock.frozen


def names(entry: Entry) -> tuple[str, ...]:
    """The names the request is about, in Unicode."""
    return tuple(to_unicode(name) for name in entry.domains)


def reads(entry: Entry) -> bool:
    """Whether the request asked something and was not made to change anything."""
    return entry.operation != NO_OPERATION and (
        entry.method == "GET" or entry.operation == "v3.checkAvailability"
    )


def asked(entry: Entry) -> dict[str, Any]:
    """The request's body, JSON or a form; empty when it is neither."""
    found = _json(entry.body)
    if isinstance(found, dict):
        return found
    return dict(parse_qsl(entry.body.decode("utf-8", "replace"))) if found is None else {}


def query(entry: Entry) -> dict[str, str]:
    """The elements of the request's query string."""
    return dict(parse_qsl(entry.target.partition("?")[2]))


def path(entry: Entry) -> str:
    """The request's path."""
    return entry.target.partition("?")[0]


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
