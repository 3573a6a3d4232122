"""State, the whole registry as one immutable value, and Draft, a transaction over it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from rpds import HashTrieMap

from reseller_sandbox.core.actions import Action
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.copies import copied
from reseller_sandbox.core.model import (
    OUTSIDE,
    Account,
    Contact,
    Customer,
    Host,
    LedgerEntry,
    Order,
    Plan,
    Record,
    Stage,
    Transfer,
    Zone,
)
from reseller_sandbox.core.ordered import Ordered
from reseller_sandbox.core.refusals import Refused

T = TypeVar("T")
Keys = tuple[tuple[str, Any], ...]
Values = tuple[tuple[str, Any, Any], ...]

#: An entry of the calendar: when, what kind of thing, and which one.
Due = tuple[datetime, str, Any]


class _Table(NamedTuple):
    """How records of one type are kept: under which key, and in which indexes they are found.

    ``listed`` answers (sorted index, key) pairs, ``looked_up`` (map, key, value) triples. Both are
    functions of the record alone, so that an index cannot fall out of step with its table.
    """

    name: str
    key: Callable[[Any], Any]
    listed: Callable[[Any], Keys] = lambda _: ()
    looked_up: Callable[[Any], Values] = lambda _: ()


def _account_lookups(account: Account) -> Values:
    if account.client_id == OUTSIDE:
        return ()
    working = (
        ("key", ("account_by_key", account.key, account.client_id)),
        ("token", ("account_by_token", account.token, account.client_id)),
    )
    return tuple(lookup for credential, lookup in working if credential not in account.revoked)


def _order_lookups(order: Order) -> Values:
    own = ("own_order", (order.account, order.name), order.id)
    return (own,) if order.stage is Stage.ARRIVING else (own, ("holding_order", order.name, order.id))


def _order_keys(order: Order) -> Keys:
    listed: Keys = (("orders_of_account", (order.account, order.id)),)
    if order.due is not None:
        listed += (("calendar", (order.due, "order", order.id)),)
    if order.retry is not None:
        listed += (("calendar", (order.retry, "retry", order.id)),)
    if order.customer_id is not None:
        listed += (("linked", ("customer", order.customer_id, order.id)),)
    for handle in sorted(set(order.contacts.handles())):
        listed += (("linked", ("contact", handle, order.id)),)
    for server in order.nameservers:
        listed += (("linked", ("nameserver", server, order.id)),)
    return listed


def _zone_keys(zone: Zone) -> Keys:
    promotions = {
        "registration_promotion": zone.registration_promotion,
        "renewal_promotion": zone.renewal_promotion,
    }
    return tuple(
        ("calendar", (promotion.until, event, zone.name))
        for event, promotion in promotions.items()
        if promotion is not None
    )


def _transfer_keys(transfer: Transfer) -> Keys:
    if not transfer.pending:
        return ()
    return (("calendar", (transfer.completes, "transfer", transfer.name)),)


def _plan_keys(plan: Plan) -> Keys:
    if plan.struck is not None:
        return ()
    if plan.at is not None:
        return (("calendar", (plan.at, "plan", plan.id)),)
    return (("waiting", (plan.id,)),)


_TABLES: dict[type, _Table] = {
    Account: _Table("accounts", lambda account: account.client_id, looked_up=_account_lookups),
    Customer: _Table(
        "customers",
        lambda customer: customer.customer_id,
        looked_up=lambda customer: (
            ("customer_by_mail", (customer.account, customer.card.mail.lower()), customer.customer_id),
        ),
        listed=lambda customer: (("customers_of_account", (customer.account, customer.customer_id)),),
    ),
    Contact: _Table(
        "contacts",
        lambda contact: contact.handle,
        listed=lambda contact: (
            (("linked", ("customer_contact", contact.customer_id, contact.handle)),)
            if contact.customer_id is not None
            else ()
        ),
    ),
    Zone: _Table("zones", lambda zone: zone.name, listed=_zone_keys),
    Order: _Table("orders", lambda order: order.id, listed=_order_keys, looked_up=_order_lookups),
    Host: _Table(
        "hosts", lambda host: host.name, listed=lambda host: (("hosts_of_domain", (host.domain, host.name)),)
    ),
    Transfer: _Table("transfers", lambda transfer: transfer.name, listed=_transfer_keys),
    LedgerEntry: _Table(
        "ledger",
        lambda entry: entry.id,
        listed=lambda entry: (("ledger_of_account", (entry.account, entry.id)),),
    ),
    Plan: _Table("plans", lambda plan: plan.id, listed=_plan_keys),
}

#: The names of the tables, in the order of the kinds of records.
TABLES = tuple(table.name for table in _TABLES.values())


def _map() -> Any:
    return field(default_factory=HashTrieMap)


def _set() -> Any:
    return field(default_factory=Ordered)


@dataclass(frozen=True, slots=True)
class State:
    """Everything the registry knows at one moment.

    Tables hold records under their keys; the rest are indexes that follow from the records.
    Iterate tables only in sorted order: the order of a hash map is no fact of the registry.
    """

    seed: str = "sandbox"
    #: The extra parameters that contacts may carry, each with the pattern of its values.
    contact_params: tuple[tuple[str, str], ...] = ()
    #: The stages at which other actions are possible than usual, each with those that are.
    permits: tuple[tuple[Stage, tuple[Action, ...]], ...] = ()
    accounts: HashTrieMap[int, Account] = _map()
    customers: HashTrieMap[int, Customer] = _map()
    contacts: HashTrieMap[str, Contact] = _map()
    zones: HashTrieMap[str, Zone] = _map()
    orders: HashTrieMap[int, Order] = _map()
    hosts: HashTrieMap[str, Host] = _map()
    transfers: HashTrieMap[str, Transfer] = _map()
    ledger: HashTrieMap[int, LedgerEntry] = _map()
    plans: HashTrieMap[int, Plan] = _map()
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
    #: The plans that wait for a request, by id.
    waiting: Ordered[tuple[int]] = _set()

    def find(self, kind: type[Any], key: Any) -> Any:
        """The record of type ``kind`` under ``key``, or None."""
        return getattr(self, _TABLES[kind].name).get(key)

    def put(self, record: Record) -> State:
        """The state with ``record`` in its table, in place of the one under the same key."""
        changing = _Changing(self)
        changing.put(record)
        return changing.made()


class _Changing(dict[str, Any]):
    """A state that is being changed: those of its parts that are others by now, over those of ``base``.

    ``due`` is given each entry that a record written to it has in the calendar.
    """

    def __init__(self, base: State, due: list[Due] | None = None) -> None:
        super().__init__()
        self.base = base
        self.due: list[Due] = [] if due is None else due

    def __missing__(self, part: str) -> Any:
        return getattr(self.base, part)

    def made(self) -> State:
        """The state with every change made so far."""
        return copied(self.base, self)

    def put(self, record: Record) -> Any:
        """Write ``record``; answers the one whose place it takes, or None."""
        table = _TABLES[type(record)]
        key = table.key(record)
        before = self[table.name].get(key)
        self[table.name] = self[table.name].insert(key, record)
        self._reindex(table, before, record)
        return before

    def remove(self, record: Record) -> None:
        """Take ``record`` out."""
        table = _TABLES[type(record)]
        self[table.name] = self[table.name].remove(table.key(record))
        self._reindex(table, record, None)

    def _reindex(self, table: _Table, before: Any, after: Any) -> None:
        old_listed, new_listed = _of(table.listed, before), _of(table.listed, after)
        for index, key in old_listed:
            if (index, key) not in new_listed:
                self[index] = self[index].remove(key)
        for index, key in new_listed:
            if index == "calendar":  # the same entry again where one stage ends as soon as it begins
                self.due.append(key)
            if (index, key) not in old_listed:
                self[index] = self[index].add(key)
        old_found, new_found = _of(table.looked_up, before), _of(table.looked_up, after)
        for found in old_found:
            index, key, value = found
            if found not in new_found and self[index].get(key) == value:
                self[index] = self[index].remove(key)
        for found in new_found:
            if found not in old_found:
                index, key, value = found
                self[index] = self[index].insert(key, value)


def _of(index: Callable[[Any], tuple[T, ...]], record: Any) -> tuple[T, ...]:
    return index(record) if record is not None else ()


class Change(NamedTuple):
    """What became of one record: ``before`` is None for a new one, ``after`` for a removed one."""

    table: str
    key: Any
    before: Any
    after: Any


class Draft:
    """A transaction: it collects changes on a state of its own, which its owner commits or drops.

    ``now`` is the instant at which everything in it happens, ``assumed`` what the contract's
    silences are taken to mean. The ledger will name ``cause``, the request or event that it serves, and
    ``operation``, what that does.
    """

    __slots__ = ("_changes", "_changing", "assumed", "base", "cause", "now", "operation")

    def __init__(
        self, base: State, now: datetime, assumed: Assumptions, cause: str, operation: str = ""
    ) -> None:
        self.base = base
        self._changing = _Changing(base)
        self.now = now
        self.assumed = assumed
        self.cause = cause
        self.operation = operation
        self._changes: dict[tuple[str, Any], Change] = {}

    @property
    def state(self) -> State:
        """The registry as the draft has it by now."""
        if self._changing:
            self._changing = _Changing(self._changing.made(), self._changing.due)
        return self._changing.base

    def put(self, record: Record) -> None:
        """Write ``record``, new or in place of its earlier self."""
        self._note(record, self._changing.put(record), record)

    def remove(self, record: Record) -> None:
        """Take ``record`` out."""
        self._note(record, record, None)
        self._changing.remove(record)

    def _note(self, record: Record, before: Any, after: Record | None) -> None:
        table = _TABLES[type(record)]
        at = (table.name, table.key(record))
        earlier = self._changes.get(at)
        self._changes[at] = Change(*at, earlier.before if earlier else before, after)

    def attempt(self, work: Callable[[Draft], T]) -> T:
        """What ``work`` answers; where it refuses, what it wrote is taken back before the refusal goes on."""
        state, due, changes = self.state, list(self._changing.due), dict(self._changes)
        try:
            return work(self)
        except Refused:
            self._changing, self._changes = _Changing(state, due), changes
            raise

    def next(self, counter: str) -> int:
        """The next number of ``counter``: 1, 2, 3, …"""
        counters = self._changing["counters"]
        number: int = counters.get(counter, 0) + 1
        self._changing["counters"] = counters.insert(counter, number)
        return number

    def next_code(self, counter: str, alphabet: str, length: int) -> str:
        """A code that looks random and follows from the state's seed and the counter alone."""
        source = f"{self.base.seed}/{counter}/{self.next(counter)}"
        number = int.from_bytes(hashlib.sha256(source.encode()).digest())
        letters = []
        for _ in range(length):
            number, at = divmod(number, len(alphabet))
            letters.append(alphabet[at])
        return "".join(letters)

    @property
    def made_due(self) -> Sequence[Due]:
        """The entries in the calendar of what the draft has written; some may have left it again."""
        return self._changing.due

    def changes(self) -> list[Change]:
        """What the draft changed, in the order of the first touch."""
        return [change for change in self._changes.values() if change.before != change.after]


#: So many records are put one by one: to fill many in at once, every index is made anew.
_FEW = 16


def filled(state: State, records: Iterable[Record]) -> State:
    """``state`` with ``records`` put into it: what ``State.put`` makes of them one by one, in one go."""
    every = list(records)
    maps: dict[str, dict[Any, Any]] = defaultdict(dict)
    sets: dict[str, list[Any]] = defaultdict(list)
    for record in every:
        table = _TABLES[type(record)]
        maps[table.name][table.key(record)] = record
        for index, key in table.listed(record):
            sets[index].append(key)
        for index, key, value in table.looked_up(record):
            maps[index][key] = value
    new = [(table.name, key) for table in _TABLES.values() for key in maps.get(table.name, ())]
    if len(every) < _FEW or len(new) < len(every) or any(key in getattr(state, name) for name, key in new):
        return reduce(State.put, every, state)  # one takes the place of another, and of its index entries
    changed: dict[str, Any] = {index: getattr(state, index).update(found) for index, found in maps.items()}
    changed |= {index: Ordered([*getattr(state, index), *found]) for index, found in sets.items()}
    return replace(state, **changed)
