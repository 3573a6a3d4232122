"""The parts of advice: the input of rules, cases, findings, and helpers that several rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.model import LedgerEntry, Purpose
from reseller_sandbox.values.matching import NO_OPERATION
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.values.text_checks import abridged, plural
from reseller_sandbox.worlds import Entry, Snapshot

_SHOWN = 5


class Severity(StrEnum):
    """The damage that the finding would cause in production."""

    MONEY = "money"
    """Money was spent unnecessarily."""
    DATA = "data"
    """A domain was lost, or existing data was not read."""
    RISK = "risk"
    """Nothing was lost yet."""


class Record(Struct, frozen=True, kw_only=True):
    """The input of a rule: the requests in the journal, in order, and the first and last snapshot.

    ``operations`` are the operations of the contract by id.
    """

    entries: tuple[Entry, ...]
    beginning: Snapshot
    present: Snapshot
    operations: Mapping[str, ApiOperation]

    def operation(self, entry: Entry) -> ApiOperation | None:
        """Return the operation that the request calls, None if the contract has no such operation."""
        return self.operations.get(entry.operation)

    def orders(self, entry: Entry) -> Purpose | None:
        """Return the purpose of the order that the request places, None if it places no order."""
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


class Case(Struct, frozen=True):
    """One case in which a rule applies: the requests that show it, in order, and a summary.

    ``domains`` are the affected domains in Unicode, by default all domains of the requests. ``amount`` is the
    money spent unnecessarily, if any.
    """

    entries: Sequence[Entry]
    summary: str
    domains: tuple[str, ...] | None = None
    amount: Decimal | None = None


#: The function of a rule. It yields the cases that it finds in a record.
Find = Callable[[Record], Iterable[Case]]


class AdviceRule(Struct, frozen=True, kw_only=True):
    """A rule of advice, with a description (``about``) and a recommendation (``instead``)."""

    name: str
    severity: Severity
    about: str
    instead: str
    find_cases: Find


def rule(severity: Severity, *, instead: str = "") -> Callable[[Find], AdviceRule]:
    """Return a decorator that makes a function a rule of advice. The rule has the name of the function.

    The first paragraph of its docstring is the description. The section ``Instead:`` is the recommendation,
    unless several rules share the recommendation ``instead``.
    """

    def declare(find_cases: Find) -> AdviceRule:
        about, _, recommendation = docstring(find_cases).partition("\n\nInstead:\n")
        return AdviceRule(
            name=find_cases.__name__,
            severity=severity,
            about=" ".join(about.partition("\n\n")[0].split()),
            instead=instead or " ".join(recommendation.split()),
            find_cases=find_cases,
        )

    return declare


class Finding(Struct, frozen=True, kw_only=True):
    """A finding of advice: the rule, the account, the requests (``entries``) and a summary.

    ``account`` is the name of the account. ``domains`` lists domain names in Unicode. If money was spent
    unnecessarily, ``amount`` is the sum in ``currency``.
    """

    rule: str
    severity: Severity
    account: str | None
    domains: tuple[str, ...]
    summary: str
    instead: str
    amount: Decimal | None
    currency: str | None
    entries: tuple[str, ...]


def by_account(entries: Iterable[Entry]) -> Iterable[list[Entry]]:
    """Return the requests of each account, in the order of each account's first request."""
    groups: dict[str | None, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.account, []).append(entry)
    return groups.values()


def charges(entry: Entry) -> list[LedgerEntry]:
    """Return the ledger entries with which the request was charged."""
    return [charge for charge in entry.charges if charge.amount < 0]


def renewals(entry: Entry) -> list[LedgerEntry]:
    """Return the ledger entries for the renewals that the request paid.

    There are two if a fault carried out the request twice.
    """
    return [charge for charge in charges(entry) if charge.purpose is Purpose.RENEWAL]


def cost(entry: Entry, cause: str | None = None) -> Decimal:
    """Return the sum of the request's charges. With ``cause``, count only the charges with this cause."""
    return -sum((charge.amount for charge in charges(entry) if cause in (None, charge.cause)), Decimal(0))


def currency(entry: Entry) -> str | None:
    """Return the currency in which the request was charged, None if it was not charged."""
    accounts = entry.after.state.accounts
    return next((accounts[charge.account].currency for charge in charges(entry)), None)


def clock_runs(entry: Entry) -> bool:
    """Whether the world's clock ran at the request. A frozen clock does not show the pauses of a client."""
    return not entry.before.clock.frozen


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault lost or delayed its response."""
    return bool(entry.changes) and (entry.lost or "delayed" in entry.fault_effects)


def names(*entries: Entry) -> tuple[str, ...]:
    """Return the domain names in the requests, in Unicode and without duplicates."""
    return tuple(dict.fromkeys(to_unicode(name) for entry in entries for name in entry.domains))


def span(length: timedelta) -> str:
    """Return a duration in words: ``within the same second``, ``within 40 seconds``."""
    seconds = int(length.total_seconds())
    if not seconds:
        return "within the same second"
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count, rest = divmod(seconds, size)
        if (count and not rest) or count > 1:
            return f"within {plural(count + bool(rest), unit)}"
    return f"within {plural(seconds, 'second')}"


def times(count: int) -> str:
    """Return a frequency in words: ``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def listed(words: Iterable[str]) -> str:
    """Join words with commas, without duplicates. Long lists end with the number of the other words."""
    return abridged(list(dict.fromkeys(words)), _SHOWN)
