"""The ledger of a world: every charge and refund, its cause, and the totals."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from io import StringIO
from typing import Annotated, Any, Literal, TypedDict, Unpack

import msgspec

from reseller_sandbox.control.records import registry_spelling
from reseller_sandbox.control.resource import Resource, read
from reseller_sandbox.control.results import Number, Result, record_of
from reseller_sandbox.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.registry.ledger import request_of
from reseller_sandbox.registry.model import Account, LedgerEntry, Purpose
from reseller_sandbox.registry.state import State, own_accounts
from reseller_sandbox.registry.stepwise import keys_in_order
from reseller_sandbox.registry.third_parties import find_account
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import TEXT, Instant, choice, matching, whole
from reseller_sandbox.values.money import NOTHING, write
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.patterns import Glob

#: The largest and the default ``limit`` of movements in a list.
MOST, LISTED = 10_000, 1000

Month = Annotated[str, matching(r"\d{4}-(0[1-9]|1[0-2])", "a month such as 2026-05")]


class Movement(Result, frozen=True, kw_only=True, gc=False):
    """A movement of money: a charge, a refund of a charge, or a credit.

    ``amount`` is negative if the balance decreased. ``balance`` is the account's balance after the movement.
    ``cause`` is the request or the timed event that made the movement. ``request`` is set only if the cause
    is a request. ``refunds`` is the id of the refunded charge. ``grace`` is the period of the zone's policy
    that grants the refund.
    """

    # A table in a terminal shows as many of these fields as fit, in this order.
    id: int
    at: datetime
    account: str
    amount: Decimal
    balance: Decimal
    purpose: str
    domain: str | None
    kind: Literal["charge", "refund", "credit"]
    operation: str
    cause: str
    request: str | None
    order: int | None
    years: int | None
    refunds: int | None
    grace: str | None


class Total(Result, frozen=True, kw_only=True):
    """The totals of the movements with the same ``key``.

    ``balance`` is the sum of the amounts of these movements.
    """

    key: Any
    entries: int
    charged: Decimal
    refunded: Decimal
    added: Decimal
    balance: Decimal


class Totals(Result, frozen=True, kw_only=True):
    """The totals of all matching movements by operation, purpose and account.

    The totals by order cover only the orders of the listed movements.
    """

    order: tuple[Total, ...]
    operation: tuple[Total, ...]
    purpose: tuple[Total, ...]
    account: tuple[Total, ...]


class AccountBalance(Result, frozen=True, kw_only=True):
    """An account's current balance, and its ``opening`` balance before the first movement of money."""

    account: str
    currency: str
    opening: Decimal
    balance: Decimal


class MovementList(Result, frozen=True, kw_only=True):
    """The latest matching movements, oldest first.

    ``matching`` counts all matching movements. ``totals`` also cover matching movements that are not listed.
    """

    entries: tuple[Movement, ...]
    matching: int
    totals: Totals
    balances: tuple[AccountBalance, ...]


class NameStatement(Result, frozen=True, kw_only=True):
    """The movements of one name in a month. ``domain`` is empty for movements without a name.

    ``balance`` is the sum of the amounts in ``movements``.
    """

    domain: str
    charged: Decimal
    refunded: Decimal
    balance: Decimal
    movements: tuple[Movement, ...]


class AccountStatement(Result, frozen=True, kw_only=True):
    """The movements of an account in a month, grouped by name.

    ``opening`` and ``closing`` are the balances at the beginning and at the end of the month.
    """

    account: str
    currency: str
    month: str
    opening: Decimal
    charged: Decimal
    refunded: Decimal
    added: Decimal
    closing: Decimal
    names: tuple[NameStatement, ...]


class Statement(Result, frozen=True, kw_only=True):
    """The statements of accounts for a month, and a document with the same content."""

    hidden = ("document",)

    accounts: tuple[AccountStatement, ...]
    document: str


class MovementFilter(TypedDict, total=False):
    """Filters of movements. A movement matches if it meets all given filters."""

    account: Annotated[str, TEXT, "Name or client id of the account."]
    order: Annotated[Number, "Id of the order that was paid for."]
    domain: Annotated[str, TEXT, "Domain name that was paid for."]
    operation: Annotated[
        str, TEXT, "Pattern of operations, with * and ?. The operation of timed events is ``time``."
    ]
    purpose: Annotated[str, choice(*map(str, Purpose)), "Purpose of the payment."]
    request: Annotated[str, TEXT, "Id of the request that caused the movement."]
    since: Annotated[Instant, "Earliest time of the movement."]


class Ledger(Resource):
    """Every movement of money, its cause, and the totals."""

    @read("GET ledger", UNKNOWN_ACCOUNT, long=True)
    def list(
        self,
        *,
        before: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **filters: Unpack[MovementFilter],
    ) -> MovementList:
        """Return the matching movements, with totals.

        The totals are grouped by order, operation, purpose and account.

        Args:
            before: Id of a movement. List only earlier movements, to page back. The totals by order cover
                only the orders in the list. The other totals cover all matching movements.
            limit: Largest number of movements to list. The latest movements are listed.
        """
        state = self._world.present().state
        matching = _matching_entries(state, filters)
        listed = deque((entry for entry in matching if before is None or entry.id < before), limit)
        orders = {entry.order for entry in listed}
        return MovementList(
            entries=movements(listed, state),
            matching=len(matching),
            totals=Totals(
                order=_totals(
                    (entry for entry in matching if entry.order in orders), lambda entry: entry.order
                ),
                operation=_totals(matching, _operation),
                purpose=_totals(matching, lambda entry: str(entry.purpose)),
                account=_totals(matching, lambda entry: state.accounts[entry.account].name),
            ),
            balances=tuple(
                record_of(AccountBalance, account, account=account.name) for account in own_accounts(state)
            ),
        )

    @read("GET ledger/statement", UNKNOWN_ACCOUNT, long=True)
    def statement(
        self,
        *,
        month: Month | None = None,
        account: Annotated[str, TEXT] | None = None,
        format: Annotated[str, choice("text", "csv", "json")] = "text",  # noqa: A002 - the word of users
    ) -> Statement:
        """Return the charges and refunds of a month for each name, with opening and closing balance.

        Use the statement to reconcile the account with a billing system. Months begin and end in UTC.

        Args:
            month: Month, such as ``2026-05``. Default: the month of the world's clock.
            account: Name or client id of the account. Default: all accounts.
            format: Format of ``document``.
        """
        world = self._world
        state = world.present().state
        owners = own_accounts(state) if account is None else [find_account(state, account)]
        month = month or f"{world.now():%Y-%m}"
        accounts = tuple(_account_statement(state, owner, month) for owner in owners)
        return Statement(accounts=accounts, document=_DOCUMENTS[format](accounts))


def _account_statement(state: State, account: Account, month: str) -> AccountStatement:
    opening, entries = account.opening, []
    for _, number in state.ledger_of_account.beginning((account.client_id,)):
        entry = state.ledger[number]
        if f"{entry.at:%Y-%m}" < month:
            opening += entry.amount
        elif f"{entry.at:%Y-%m}" == month:
            entries.append(entry)
    total, records = _total(None, entries), {record.id: record for record in movements(entries, state)}
    by_name: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        by_name.setdefault(to_unicode(entry.name), []).append(entry)
    return AccountStatement(
        account=account.name,
        currency=account.currency,
        month=month,
        opening=opening,
        charged=total.charged,
        refunded=total.refunded,
        added=total.added,
        closing=opening + total.balance,
        names=tuple(
            record_of(
                NameStatement,
                _total(None, group),
                domain=domain,
                movements=tuple(records[entry.id] for entry in group),
            )
            for domain, group in sorted(by_name.items())
        ),
    )


#: The columns of a statement in CSV, after account, currency and month.
_COLUMNS = ("id", "at", "domain", "kind", "purpose", "years", "amount", "order", "operation", "cause")


def _as_csv(accounts: Iterable[AccountStatement]) -> str:
    """Return statements as CSV, with a row for each movement, opening balance and closing balance."""
    file = StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(("account", "currency", "month", *_COLUMNS))
    for account in accounts:
        lines: list[Mapping[str, object]] = [{"kind": "opening", "amount": write(account.opening)}]
        for name in account.names:
            for entry in name.movements:
                shown = {column: getattr(entry, column) for column in _COLUMNS}
                lines.append({**shown, "at": wire(entry.at), "amount": write(entry.amount)})
        lines.append({"kind": "closing", "amount": write(account.closing)})
        head = (account.account, account.currency, account.month)
        # ``writerows`` writes None as an empty cell.
        rows.writerows((*head, *(line.get(column) for column in _COLUMNS)) for line in lines)
    return file.getvalue()


def _as_text(accounts: Iterable[AccountStatement]) -> str:
    """Return statements as plain text, with a block of lines for each account."""
    lines: list[str] = []
    for account in accounts:
        lines += ["", f"{account.account}, {account.month}, {account.currency}"]
        lines.append(_line("opening balance", account.opening))
        for name in account.names:
            lines.append(_line(name.domain or "without a name", name.balance, "  "))
            lines += (
                _line(f"{entry.at:%Y-%m-%d} {entry.kind}, {entry.purpose}", entry.amount, "    ")
                for entry in name.movements
            )
        lines += [
            _line("charges", -account.charged),
            _line("refunds", account.refunded),
            _line("credits", account.added),
            _line("closing balance", account.closing),
        ]
    return "\n".join(lines[1:]) + "\n"


def _line(words: str, amount: Decimal, indent: str = "") -> str:
    return f"{indent + words:<50} {write(amount):>14}"


def _as_json(accounts: Iterable[AccountStatement]) -> str:
    return msgspec.json.format(msgspec.json.encode(accounts), indent=2).decode() + "\n"


_DOCUMENTS: Mapping[str, Callable[[Iterable[AccountStatement]], str]] = {
    "text": _as_text,
    "csv": _as_csv,
    "json": _as_json,
}


def _matching_entries(state: State, filters: MovementFilter) -> list[LedgerEntry]:
    """Return the ledger entries that meet ``filters``, oldest first. Refuse with ``unknown_account``."""
    numbers: Iterable[int] = keys_in_order(state.ledger)
    if "account" in filters:
        owner = find_account(state, filters["account"]).client_id
        numbers = (number for _, number in state.ledger_of_account.beginning((owner,)))
    name = registry_spelling(filters["domain"]) if "domain" in filters else None
    pattern = Glob(filters.get("operation", "*"))
    since: Any = filters.get("since")
    return [
        entry
        for entry in map(state.ledger.__getitem__, numbers)
        if filters.get("order") in (None, entry.order)
        and name in (None, entry.name)
        and pattern.matches(_operation(entry))
        and filters.get("purpose") in (None, entry.purpose)
        and filters.get("request") in (None, entry.cause, request_of(entry.cause))
        and (since is None or entry.at >= since)
    ]


def movements(entries: Collection[LedgerEntry], state: State) -> tuple[Movement, ...]:
    """Return a record of each ledger entry. The entries belong to the ledger of ``state``."""
    balances: dict[int, Decimal] = {}
    for account in {entry.account for entry in entries}:
        first = min(entry.id for entry in entries if entry.account == account)
        index = state.ledger_of_account
        start = index.rank((account, first)) - index.rank((account,))
        later = [state.ledger[number] for _, number in index.beginning((account,), start)]
        balance = state.accounts[account].balance - sum((entry.amount for entry in later), NOTHING)
        for entry in later:
            balances[entry.id] = balance = balance + entry.amount
    return tuple(_movement(entry, state, balances[entry.id]) for entry in entries)


def _movement(entry: LedgerEntry, state: State, balance: Decimal) -> Movement:
    return record_of(
        Movement,
        entry,
        account=state.accounts[entry.account].name,
        balance=balance,
        kind=_kind(entry),
        purpose=str(entry.purpose),
        operation=_operation(entry),
        request=request_of(entry.cause),
        domain=entry.name or None,
        years=entry.years or None,
    )


def _kind(entry: LedgerEntry) -> Literal["charge", "refund", "credit"]:
    if entry.refunds is not None:
        return "refund"
    return "charge" if entry.amount < 0 else "credit"


def _operation(entry: LedgerEntry) -> str:
    """Return the operation that made an entry, or the cause of an entry without an operation."""
    return entry.operation or entry.cause


def _totals(entries: Iterable[LedgerEntry], key: Callable[[LedgerEntry], object]) -> tuple[Total, ...]:
    """Group the entries by ``key``, and return the totals of each group. Leave out the key None."""
    by_key: dict[Any, list[LedgerEntry]] = {}
    for entry in entries:
        by_key.setdefault(key(entry), []).append(entry)
    by_key.pop(None, None)
    return tuple(_total(group, by_key[group]) for group in sorted(by_key))


def _total(key: object, entries: list[LedgerEntry]) -> Total:
    sums = {"charge": NOTHING, "refund": NOTHING, "credit": NOTHING}
    for entry in entries:
        sums[_kind(entry)] += entry.amount
    charged, refunded, added = -sums["charge"], sums["refund"], sums["credit"]
    balance = refunded - charged + added
    return Total(
        key=key, entries=len(entries), charged=charged, refunded=refunded, added=added, balance=balance
    )
