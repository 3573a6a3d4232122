"""What a run has left in the registry, in words that two runs can be compared by.

Identifiers and generated codes are drawn from counters, so that they depend on the order of requests that
have nothing else to do with each other; they are left out, and what is new is told by its content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.model import (
    CARD_FIELDS,
    OUTSIDE,
    Account,
    Card,
    Contact,
    Customer,
    LedgerEntry,
    Order,
    RoleHandles,
    Transfer,
)
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.orders import drawn_at
from reseller_sandbox.core.signatures import field_names
from reseller_sandbox.core.state import State
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.worlds.diff import changes

#: The fields that name a record, follow from a counter or repeat another record.
_UNTOLD: dict[type, set[str]] = {
    Account: {"client_id", "name"},
    Contact: {"handle"},
    Customer: {"customer_id"},
    LedgerEntry: {"id", "at", "cause", "order", "operation"},
    Order: {"id", "name", "zone", "since", "due", "retry", "registration", "renewals"},
    Transfer: {"name", "gaining_order", "losing_order", "charges"},
}

#: The fields that hold the number of an account.
_ACCOUNTS = {"account", "gaining", "losing"}


def outcome(begin: State, end: State, ended: Ended) -> Counter[str]:
    """Return what differs between two states of a world, and what the program says that it has ordered.

    These are lines, of which some may be there twice.
    """
    telling, found = _Telling(begin, end), Counter[str]()
    found.update(f"the program says: an order of {to_unicode(one.name)}" for one in ended.view or ())
    for change in changes(begin, end):
        found.update(telling.lines(change.before, change.after))
    return found


class _Telling:
    def __init__(self, begin: State, end: State) -> None:
        self._begin = begin
        self._end = end
        first, last = begin.counters.get("auth_code", 0), end.counters.get("auth_code", 0)
        self._drawn = {drawn_at(end.seed, number) for number in range(first + 1, last + 1)}

    def lines(self, before: Any, after: Any) -> Iterator[str]:
        """Yield what has become of a record, a line for each thing."""
        title = self._title(before if after is None else after)
        if after is None:
            yield f"{title}: gone"
            return
        untold = _UNTOLD.get(type(after), set())
        told = {
            name: self._text(name, getattr(after, name))
            for name in field_names(after)
            if name not in untold and (before is None or getattr(before, name) != getattr(after, name))
        }
        if isinstance(after, LedgerEntry | Contact | Customer):
            yield f"{title}: " + ", ".join(f"{name} {text}" for name, text in told.items() if text)
            return
        for name, text in told.items():
            if text or before is not None:
                yield f"{title}: {name.replace('_', ' ')} {text or 'none'}"

    def _title(self, record: Any) -> str:
        match record:
            case Account():
                return f"account {record.name}"
            case Order():
                return f"{to_unicode(record.name)} of {self._account(record.account)}"
            case Contact():
                return self._contact(record.handle)
            case Customer():
                return f"customer {record.card.mail}"
            case LedgerEntry():
                return "money"
        return f"{type(record).__name__.lower()} {getattr(record, 'name', '')}".rstrip()

    def _text(self, name: str, value: Any) -> str:
        if value is None or value is False or value == "" or value == 0:
            return ""
        if name in _ACCOUNTS:
            return self._account(value)
        if name == "customer_id":
            customer = self._end.customers.get(value)
            return customer.card.mail if customer is not None else ""
        if name == "auth_code":
            return "drawn" if value in self._drawn else str(value)
        if name == "refunds":
            return "given back"
        return self._plain(value)

    def _plain(self, value: Any) -> str:
        match value:
            case Decimal():
                return money.write(value)
            case datetime():
                return wire(value)
            case Enum():
                return str(value.value)
            case Card():
                return " ".join(text for name in CARD_FIELDS if (text := getattr(value, name)))
            case RoleHandles():
                return ", ".join(map(self._contact, value.handles()))
            case frozenset():
                return ", ".join(sorted(map(self._plain, value)))
            case tuple():
                return ", ".join(map(self._plain, value))
        return str(value)

    def _account(self, number: int) -> str:
        return "another registrar" if number == OUTSIDE else self._end.accounts[number].name

    def _contact(self, handle: str) -> str:
        if handle in self._begin.contacts or handle not in self._end.contacts:
            return f"contact {handle}"
        return f"contact {self._plain(self._end.contacts[handle].card)}"
