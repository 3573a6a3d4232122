"""The read-write set of a request: the parts of the registry that it reads and writes.

Two requests commute if neither of them writes a place that the other reads or writes. Payments from one
balance commute, too, unless little of the balance is left. Generated numbers and codes do not count as
places, because reports ignore them. Only a ``WatchedDraft`` records a set, so other requests are not slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from rpds import HashTrieMap

from reseller_sandbox.registry.indexes import TABLES, Ordered
from reseller_sandbox.registry.model import Account, LedgerEntry, Order, Record
from reseller_sandbox.registry.state import Change, Draft, State

T = TypeVar("T")
R = TypeVar("R", bound=Record)

#: A table or an index of the registry, and a key in it. The key need not exist.
Place = tuple[str, Any]

#: The table name for balances. A balance is a separate place, because every request reads the other fields of
#: its account.
BALANCE = "balance"

#: If the remaining balance is at least this many times a payment, the sequence of payments does not matter.
_PLENTY = 20


class Footprint(Struct):
    """The places in the registry that a request ``reads`` and ``writes``.

    ``ranges`` are key prefixes: the request reads every key of that table or index with the prefix. ``adds``
    are numbers that the request increases or decreases without reading them, so two such changes commute. If
    ``everything`` is true, the places are unknown, and the request conflicts with every other. ``state`` is
    the latest registry state whose changes are recorded.
    """

    state: State | None = None
    reads: set[Place] = field(default_factory=set)
    ranges: set[tuple[str, tuple[Any, ...]]] = field(default_factory=set)
    writes: set[Place] = field(default_factory=set)
    adds: set[Place] = field(default_factory=set)
    everything: bool = False

    @property
    def pays(self) -> bool:
        """Whether the request moves money."""
        return any(table == BALANCE for table, _ in (*self.adds, *self.writes))

    def conflicts(self, other: Footprint) -> bool:
        """Whether the order of the two requests matters."""
        return self.everything or other.everything or self._disturbs(other) or other._disturbs(self)

    def take(self, other: Footprint) -> bool:
        """Add the places of ``other``. Return whether this set has grown."""
        before = self._size()
        self.reads |= other.reads
        self.ranges |= other.ranges
        self.writes |= other.writes
        self.adds |= other.adds
        self.everything |= other.everything
        return self._size() > before

    def _size(self) -> int:
        return len(self.reads) + len(self.ranges) + len(self.writes) + len(self.adds) + self.everything

    def _disturbs(self, other: Footprint) -> bool:
        changed = self.writes | self.adds
        if not changed.isdisjoint(other.writes) or not changed.isdisjoint(other.reads):
            return True
        if not self.writes.isdisjoint(other.adds):
            return True
        return any(
            part == table and (not begin or key[: len(begin)] == begin)
            for table, begin in other.ranges
            for part, key in changed
        )

    def drafts(self, base: State, *given: object) -> Draft:
        """Return ``Draft(base, *given)`` as a draft that records its reads and writes in this set."""
        return WatchedDraft(self, base, *given)

    def follow(self, base: State) -> None:
        """Record the current registry state. If other code has changed the state, set ``everything``.

        The places that such code has changed are unknown.
        """
        if self.state is not base:
            self.state, self.everything = base, True


class WatchedDraft(Draft):
    """A draft that records its reads when they happen, and its writes before the commit."""

    __slots__ = ("_footprint",)

    def __init__(self, footprint: Footprint, base: State, *given: Any) -> None:
        super().__init__(base, *given)
        self._footprint = footprint
        footprint.follow(base)

    @property
    def state(self) -> State:
        """The registry state of the draft. It records which of its parts are read."""
        return cast(State, _WatchedState(super().state, self._footprint))

    def put(self, record: R) -> R:
        """Write ``record``, new or in place of its earlier version, and return it."""
        return super().put(_plain(record))

    def changes(self) -> list[Change]:
        """Return the changes of the draft, and record its writes."""
        state, footprint = self.result(), self._footprint
        for change in self._changes.values():
            before, after = change.before, change.after
            if isinstance(before, Account) and isinstance(after, Account):
                if before.balance != after.balance:
                    self._paid(before, after)
                if replace(before, balance=after.balance) == after:
                    continue
            if isinstance(after, LedgerEntry):
                footprint.adds.add(("ledger_of_account", (after.account, "new")))
            else:
                footprint.writes.update(_written(change))
        footprint.state = state
        return super().changes()

    def _paid(self, before: Account, after: Account) -> None:
        """Record a change of a balance: in ``adds`` if the balance is large, otherwise in ``writes``."""
        footprint, place = self._footprint, (BALANCE, after.client_id)
        if after.balance >= _PLENTY * (before.balance - after.balance):
            footprint.adds.add(place)
            footprint.reads.discard(place)  # this request read the balance only to check the funds
        else:
            footprint.writes.add(place)


def _written(change: Change) -> Iterator[Place]:
    """Yield the places that a change writes: the record, and its index entries."""
    before, after = change.before, change.after
    record = before if after is None else after
    if record is None:  # if the record was created and deleted in the same draft
        return
    yield change.table, _place_of(record, change.key)
    table = TABLES[type(record)]
    changed = set(table.entries(before)) ^ set(table.entries(after))
    yield from ((name, _place_of(record, key)) for name, key, _ in changed)


def _place_of(record: object, key: object) -> object:
    """Return the key of a record. In the key of an order, the domain replaces the order's number.

    Numbers of orders depend on the order of requests.
    """
    if not isinstance(record, Order):
        return key
    if isinstance(key, tuple) and key[-1] == record.id:
        return *key[:-1], record.name
    return record.name if key == record.id else key


class _WatchedState:
    """A read-only state that records which tables and keys are read."""

    __slots__ = ("_footprint", "_state")

    is_due = State.is_due

    def __init__(self, state: State, footprint: Footprint) -> None:
        self._state = state
        self._footprint = footprint

    def __getattr__(self, name: str) -> object:
        part = getattr(self._state, name)
        return _WatchedPart(name, part, self._footprint) if isinstance(part, HashTrieMap | Ordered) else part


class _WatchedPart(Mapping[Any, Any]):
    """A read-only table or sorted index that records which keys and ranges are read."""

    __slots__ = ("_footprint", "_name", "_part")

    def __init__(self, name: str, part: Any, footprint: Footprint) -> None:
        self._name = name
        self._part = part
        self._footprint = footprint

    def _range(self, prefix: tuple[object, ...] = ()) -> Any:
        self._footprint.ranges.add((self._name, prefix))
        return self._part

    def __getitem__(self, key: object) -> object:
        value = self._part.get(key)
        self._footprint.reads.add((self._name, _place_of(value, key)))
        if value is None:
            raise KeyError(key)
        if isinstance(value, Account):
            return _WatchedAccount(**asdict(value), footprint=self._footprint)
        return value

    def __contains__(self, key: object) -> bool:
        self._footprint.reads.add((self._name, key))
        return key in self._part

    def __iter__(self) -> Iterator[object]:
        return iter(self._range())

    def __len__(self) -> int:
        return len(self._range())

    def beginning(self, prefix: tuple[object, ...], start: int = 0) -> object:
        """Return the keys of an index that begin with ``prefix``, in order.

        The first ``start`` keys are skipped.
        """
        return self._range(prefix).beginning(prefix, start)

    def count(self, prefix: tuple[object, ...]) -> Any:
        """Return the number of keys of an index that begin with ``prefix``."""
        return self._range(prefix).count(prefix)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._range(), name)


#: The field descriptors of an account. They return stored values without recording a read.
_STORED: dict[str, Any] = {name: Account.__dict__[name] for name in Account.__struct_fields__}


class _WatchedAccount(Account, frozen=True):
    """An account that records reads of its balance."""

    footprint: Footprint = field(default_factory=Footprint)

    @property  # type: ignore[misc]
    def balance(self) -> Any:
        """The balance of the account. Each read is recorded."""
        self.footprint.reads.add((BALANCE, self.client_id))
        return _STORED["balance"].__get__(self)


def _plain(record: R) -> R:
    if isinstance(record, _WatchedAccount):
        stored = {name: _STORED[name].__get__(record) for name in Account.__struct_fields__}
        return cast(R, Account(**stored))
    return record
