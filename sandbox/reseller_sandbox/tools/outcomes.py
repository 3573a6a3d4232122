"""The outcome of a run: its names, money, requests, advice and registry changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from reseller_sandbox.advice.finding import Finding, Severity
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.control.records import NameRecord
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.model import (
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
from reseller_sandbox.registry.orders import auth_code_at
from reseller_sandbox.registry.state import State
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.values.names import normalise, to_unicode
from reseller_sandbox.values.parameters import field_names
from reseller_sandbox.worlds.redact import plain
from reseller_sandbox.worlds.snapshot import changes

#: Ledger purposes for a year of a name, which is paid once.
PURPOSES = ("registration", "renewal", "restore", "transfer")

#: The most requests and the most ledger entries that are read from a world.
MOST = 10_000


class Paid(NamedTuple):
    """A payment for a name: the registration by an account, for example."""

    account: str
    name: str
    purpose: str

    def __str__(self) -> str:
        """Return the payment in words."""
        return f"the {self.purpose} of {self.name}"


class Outcome(Struct, frozen=True):
    """The outcome of a run: its requests, their names, unrefunded charges, and advice.

    ``names`` are by account and name. The value is None if the account does not have the name.
    """

    ended: Ended
    requests: tuple[RequestRecord, ...]
    names: Mapping[tuple[str, str], NameRecord | None]
    paid: Mapping[Paid, tuple[Decimal, ...]]
    findings: tuple[Finding, ...]

    @property
    def of_money(self) -> list[Finding]:
        """The advice about money."""
        return [finding for finding in self.findings if finding.severity == Severity.MONEY]


def in_a_line(finding: Finding) -> str:
    """Return a finding as a line of a report."""
    return f"{finding.rule}: {finding.summary}"


def outcome_of(world: Sandbox, ended: Ended) -> Outcome:
    """Return the outcome of a run that has ``ended`` in ``world``."""
    requests = world.journal.find(limit=MOST).requests
    about = {
        (request.account, normalise(name))
        for request in requests
        if request.account is not None
        for name in request.domains
    }
    names = {key: _held(world, *key) for key in sorted(about)}
    return Outcome(
        ended,
        requests,
        names,
        _paid(world, {request.id for request in requests}),
        world.advice.list().findings,
    )


def _held(world: Sandbox, account: str, name: str) -> NameRecord | None:
    try:
        return world.names.get(name, account=account)
    except Refused:
        return None


def _paid(world: Sandbox, requests: Collection[str]) -> dict[Paid, tuple[Decimal, ...]]:
    """Return the charges of these requests that were not refunded."""
    movements = world.ledger.find(limit=MOST).entries
    refunded = {entry.refunds for entry in movements}
    paid: dict[Paid, tuple[Decimal, ...]] = {}
    for entry in movements:
        counts = entry.kind == "charge" and entry.request in requests and entry.id not in refunded
        if counts and entry.domain and entry.purpose in PURPOSES:
            key = Paid(entry.account, normalise(entry.domain), entry.purpose)
            paid[key] = (*paid.get(key, ()), -entry.amount)
    return paid


def write_recording(world: Sandbox, folder: Path, name: str) -> str:
    """Write the recording of a world to a folder, and return the file.

    Raise ``BadSetting`` if the file cannot be written.
    """
    file = folder / re.sub(r"[^\w.=-]+", "_", f"{name}.recording")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        world.recording.write(file)
    except OSError as problem:
        raise BadSetting(f"{file}: {problem.strerror}") from None
    return str(file)


#: Fields that identify a record, come from a counter or repeat another record. Reports leave them out.
_OMITTED: dict[type, set[str]] = {
    Account: {"client_id", "name"},
    Contact: {"handle"},
    Customer: {"customer_id"},
    LedgerEntry: {"id", "at", "cause", "order", "operation"},
    Order: {"id", "name", "zone", "since", "due", "retry", "registration", "renewals"},
    Transfer: {"name", "gaining_order", "losing_order", "charges"},
}

#: Fields that hold the number of an account.
_ACCOUNTS = {"account", "gaining", "losing"}


def changed(begin: State, end: State, ended: Ended) -> Counter[str]:
    """Return the changes from ``begin`` to ``end`` as lines, with the reported orders.

    The lines of two runs can be compared. They leave out identifiers and generated codes, because counters
    produce them, and so they depend on the order of unrelated requests.
    """
    text, lines = _ChangeText(begin, end), Counter[str]()
    lines.update(f"the program says: an order of {to_unicode(order.name)}" for order in ended.view or ())
    for change in changes(begin, end):
        lines.update(text.lines(change.before, change.after))
    return lines


class _ChangeText:
    def __init__(self, begin: State, end: State) -> None:
        self._begin = begin
        self._end = end
        first, last = begin.counters.get("auth_code", 0), end.counters.get("auth_code", 0)
        self._drawn = {auth_code_at(end.seed, number) for number in range(first + 1, last + 1)}

    def lines(self, before: Any, after: Any) -> Iterator[str]:
        """Yield the changes of a record, one line for each field."""
        title = self._title(before if after is None else after)
        if after is None:
            yield f"{title}: gone"
            return
        omitted = _OMITTED.get(type(after), set())
        texts = {
            name: self._text(name, getattr(after, name))
            for name in field_names(after)
            if name not in omitted and (before is None or getattr(before, name) != getattr(after, name))
        }
        if isinstance(after, LedgerEntry | Contact | Customer):
            yield f"{title}: " + ", ".join(f"{name} {text}" for name, text in texts.items() if text)
            return
        for name, text in texts.items():
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
        if value in (None, "", 0):
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
            case Enum():
                return str(value.value)
            case Card():
                return " ".join(text for name in CARD_FIELDS if (text := getattr(value, name)))
            case RoleHandles():
                return ", ".join(map(self._contact, value.handles()))
            case frozenset() | tuple():
                parts = map(self._plain, value)
                return ", ".join(sorted(parts) if isinstance(value, frozenset) else parts)
        return str(plain(value))

    def _account(self, number: int) -> str:
        return "another registrar" if number == OUTSIDE else self._end.accounts[number].name

    def _contact(self, handle: str) -> str:
        if handle in self._begin.contacts or handle not in self._end.contacts:
            return f"contact {handle}"
        return f"contact {self._plain(self._end.contacts[handle].card)}"
