"""The state of the registry as an immutable value, its transactions, and lookups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace
from rpds import HashTrieMap

from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.indexes import HOLDERS, TABLES, Due, Ordered, RecordKey, Table
from reseller_sandbox.registry.model import (
    OUTSIDE,
    Account,
    Action,
    Contact,
    Customer,
    Host,
    LedgerEntry,
    Order,
    Record,
    ScheduledAction,
    Stage,
    Transfer,
    Zone,
)
from reseller_sandbox.registry.stepwise import updated

T = TypeVar("T")
R = TypeVar("R", bound=Record)


def _map() -> Any:
    return field(default_factory=HashTrieMap)


def _set() -> Any:
    return field(default_factory=Ordered)


class State(Struct, frozen=True):
    """The state of the registry at one instant.

    Tables hold records by key. All other fields are indexes derived from the records. Iterate tables in
    sorted order, because a hash map has no defined order.
    """

    seed: str = "sandbox"
    #: The extra parameters that contacts can have, each with the pattern of its values.
    contact_params: tuple[tuple[str, str], ...] = ()
    #: The stages for which the fixture overrides the possible actions, each with its new actions.
    permits: tuple[tuple[Stage, tuple[Action, ...]], ...] = ()
    accounts: HashTrieMap[int, Account] = _map()
    customers: HashTrieMap[int, Customer] = _map()
    contacts: HashTrieMap[str, Contact] = _map()
    zones: HashTrieMap[str, Zone] = _map()
    orders: HashTrieMap[int, Order] = _map()
    hosts: HashTrieMap[str, Host] = _map()
    transfers: HashTrieMap[str, Transfer] = _map()
    ledger: HashTrieMap[int, LedgerEntry] = _map()
    scheduled: HashTrieMap[int, ScheduledAction] = _map()
    counters: HashTrieMap[str, int] = _map()

    account_by_key: HashTrieMap[str, int] = _map()
    account_by_token: HashTrieMap[str, int] = _map()
    customer_by_mail: HashTrieMap[tuple[int, str], int] = _map()
    own_order: HashTrieMap[tuple[int, str], int] = _map()
    holding_order: HashTrieMap[str, int] = _map()
    orders_of_account: Ordered[tuple[int, int]] = _set()
    customers_of_account: Ordered[tuple[int, int]] = _set()
    ledger_of_account: Ordered[tuple[int, int]] = _set()
    hosts_of_domain: Ordered[tuple[str, str]] = _set()
    linked: Ordered[tuple[Any, ...]] = _set()
    calendar: Ordered[Due] = _set()
    #: The ids of scheduled actions that wait for a request.
    waiting: Ordered[tuple[int]] = _set()

    def is_due(self, due: Due) -> bool:
        """Whether the calendar still has the entry ``due``."""
        _, event, key = due
        table = TABLES[HOLDERS[event]]
        record = getattr(self, table.name).get(key)
        return record is not None and due in table.due(record)


class Change(Struct, frozen=True, gc=False):
    """A change of a record: ``before`` is None for a new record, ``after`` for a removed one."""

    table: str
    key: RecordKey
    before: Record | None
    after: Record | None


class _StateBuilder:
    """A mutable state that begins as ``base``. The first write copies ``base``."""

    __slots__ = ("_changes", "_copied", "_state", "written_due")

    def __init__(self, base: State) -> None:
        self._state = base
        self._copied = False
        self._changes: dict[tuple[str, RecordKey], Change] = {}
        #: The calendar entries of all records written. Later writes may have removed some of these entries.
        self.written_due: list[Due] = []

    def result(self) -> State:
        """Return the state with all writes until now. Later writes do not change the returned state."""
        self._copied = False
        return self._state

    def put(self, record: R) -> R:
        """Add ``record``, or replace the record under the same key. Return ``record``."""
        table: Table[R] = TABLES[type(record)]
        records: HashTrieMap[RecordKey, R] = getattr(self._state, table.name)
        key = table.key(record)
        before = records.get(key)
        self._write(table.name, records.insert(key, record))
        self._note(table, key, before, record)
        return record

    def remove(self, record: Record) -> None:
        """Remove ``record`` from its table."""
        table = TABLES[type(record)]
        key = table.key(record)
        self._write(table.name, getattr(self._state, table.name).remove(key))
        self._note(table, key, record, None)

    def _write(self, part: str, value: object) -> None:
        """Replace the table or index named ``part`` with ``value``."""
        if not self._copied:
            self._state, self._copied = replace(self._state), True
        force_setattr(self._state, part, value)

    def _note(self, table: Table[R], key: RecordKey, before: R | None, after: R | None) -> None:
        """Record a change of a record, and update the indexes."""
        at = (table.name, key)
        earlier = self._changes.get(at)
        self._changes[at] = Change(*at, earlier.before if earlier else before, after)
        old, new = table.entries(before), table.entries(after)
        # An entry can occur twice, if a stage ends at the instant at which it begins.
        if after is not None:
            self.written_due += table.due(after)
        for entry in old:
            name, place, value = entry
            index = getattr(self._state, name)
            if entry not in new and (value is None or index.get(place) == value):
                self._write(name, index.remove(place))
        for entry in new:
            if entry not in old:
                name, place, value = entry
                index = getattr(self._state, name)
                self._write(name, index.add(place) if value is None else index.insert(place, value))


class Draft(_StateBuilder):
    """A transaction over a state. Its owner commits or discards the changes.

    ``now`` is the instant of the transaction, and ``assumed`` holds the assumptions in force. Ledger entries
    name ``cause``, the request or event, and ``operation``, its operation.
    """

    __slots__ = ("assumed", "base", "cause", "now", "operation")

    def __init__(
        self, base: State, now: datetime, assumed: Assumptions, cause: str, operation: str = ""
    ) -> None:
        super().__init__(base)
        self.base = base
        self.now = now
        self.assumed = assumed
        self.cause = cause
        self.operation = operation

    @property
    def state(self) -> State:
        """The state with the changes of this draft, for reading only.

        Later writes of the draft change this object.
        """
        return self._state

    def restart(self, now: datetime, cause: str) -> None:
        """Begin a new transaction, with the result of this draft as its base state."""
        self.now, self.cause = now, cause
        self._changes, self.written_due = {}, []

    def attempt(self, work: Callable[[Draft], T]) -> T:
        """Call ``work`` and return its result. If ``work`` refuses, undo its writes."""
        state, changes, due = self.result(), dict(self._changes), list(self.written_due)
        try:
            return work(self)
        except Refused:
            self._state, self._changes, self.written_due = state, changes, due
            self._copied = False
            raise

    def next(self, counter: str) -> int:
        """Return the next number of ``counter``: 1, 2, 3, …"""
        counters = self._state.counters
        number = counters.get(counter, 0) + 1
        self._write("counters", counters.insert(counter, number))
        return number

    def changes(self) -> list[Change]:
        """Return the changed records of this draft, in the order of their first write."""
        return [change for change in self._changes.values() if change.before != change.after]


def changed(state: State, gone: Iterable[Record], new: Iterable[Record]) -> State:
    """Return a state without the records ``gone`` and with the records ``new``.

    A new record replaces the record under the same key.
    """
    builder = _StateBuilder(state)
    for record in gone:
        builder.remove(record)
    for record in new:
        builder.put(record)
    return builder.result()


#: For fewer records, use ``changed``, because adding many at once rebuilds every sorted index.
_FEW = 16


def filled(state: State, records: Iterable[Record]) -> State:
    """Return a state with ``records`` added. For many records, this is faster than ``changed``."""
    every = list(records)
    if len(every) < _FEW:
        return changed(state, (), every)
    maps: dict[str, dict[object, object]] = defaultdict(dict)
    sets: dict[str, list[object]] = defaultdict(list)
    for record in every:
        table = TABLES[type(record)]
        maps[table.name][table.key(record)] = record
        for index, key, value in table.entries(record):
            if value is None:
                sets[index].append(key)
            else:
                maps[index][key] = value
    new = [(table.name, key) for table in TABLES.values() for key in maps.get(table.name, ())]
    if len(new) < len(every) or any(key in getattr(state, name) for name, key in new):
        return changed(state, (), every)  # this also removes the index entries of replaced records
    parts: dict[str, Any] = {index: updated(getattr(state, index), values) for index, values in maps.items()}
    parts |= {index: Ordered([*getattr(state, index), *keys]) for index, keys in sets.items()}
    return replace(state, **parts)


def own_accounts(state: State) -> list[Account]:
    """Return all accounts in order of id, except ``OUTSIDE`` (other registrars)."""
    return [state.accounts[number] for number in sorted(state.accounts) if number != OUTSIDE]


def account_with(state: State, kind: str, credential: str) -> Account | None:
    """Return the account with this ``credential``, or None. ``kind`` is key or token."""
    number = (state.account_by_key if kind == "key" else state.account_by_token).get(credential)
    return None if number is None else state.accounts[number]


def account_named(state: State, name: str | None) -> Account | None:
    """Return the account with ``name``, or None."""
    accounts = (state.accounts[number] for number in sorted(state.accounts))
    return next((account for account in accounts if account.name == name), None)


def held_order(state: State, name: str) -> Order | None:
    """Return the order that holds the domain ``name``, or None."""
    number = state.holding_order.get(name)
    return state.orders[number] if number is not None else None


def own_order(state: State, client_id: int, name: str) -> Order | None:
    """Return an account's order for the domain ``name``, or None.

    The order may be a pending transfer to the account.
    """
    number = state.own_order.get((client_id, name))
    return state.orders[number] if number is not None else None


def relevant_order(state: State, account: Account | None, name: str) -> Order | None:
    """Return the account's order for ``name``, or else the order of the domain's holder."""
    own = own_order(state, account.client_id, name) if account is not None else None
    return own or held_order(state, name)


def pending_transfer(state: State, name: str) -> Transfer | None:
    """Return the pending transfer of ``name``, or None."""
    transfer = state.transfers.get(name)
    return transfer if transfer is not None and transfer.pending else None
