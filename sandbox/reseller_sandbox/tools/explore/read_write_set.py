"""What a request touches of the registry: which parts of it are read, and which are written.

Of two requests neither of which writes what the other touches, the order does not matter: either does the
same before and after the other. Nothing in here is in use unless somebody asks for it, by a ``WatchedDraft``
in place of a ``Draft``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from rpds import HashTrieMap

from reseller_sandbox.registry.indexes import TABLES
from reseller_sandbox.registry.model import Account, Record
from reseller_sandbox.registry.ordered import Ordered
from reseller_sandbox.registry.state import Change, Draft, State

T = TypeVar("T")
R = TypeVar("R", bound=Record)

#: A part of the registry: a table or an index, and a key in it. What is not there has a place, too.
Place = tuple[str, Any]

#: The balance of an account has a place of its own: the rest of an account is read by every request.
BALANCE = "balance"


class Footprint(Struct):
    """What a request touches: the places that it ``reads`` and ``writes``.

    ``ranges`` are tables and indexes of which it reads every key that begins so. ``everything`` is for what
    nobody can tell: it touches all there is. ``state`` is the registry, as far as it is known by now.
    """

    state: State | None = None
    reads: set[Place] = field(default_factory=set)
    ranges: set[tuple[str, tuple[Any, ...]]] = field(default_factory=set)
    writes: set[Place] = field(default_factory=set)
    everything: bool = False

    def conflicts(self, other: Footprint) -> bool:
        """Whether it matters which of the two comes first."""
        return self.everything or other.everything or self._disturbs(other) or other._disturbs(self)

    def take(self, other: Footprint) -> bool:
        """Touch all that ``other`` touches, too; return whether that is more than before."""
        before = self._size()
        self.reads |= other.reads
        self.ranges |= other.ranges
        self.writes |= other.writes
        self.everything |= other.everything
        return self._size() > before

    def _size(self) -> int:
        return len(self.reads) + len(self.ranges) + len(self.writes) + self.everything

    def _disturbs(self, other: Footprint) -> bool:
        mine = self.writes
        if not mine:
            return False
        if not mine.isdisjoint(other.writes) or not mine.isdisjoint(other.reads):
            return True
        return any(
            part == table and (not begin or key[: len(begin)] == begin)
            for table, begin in other.ranges
            for part, key in mine
        )

    def drafts(self, base: State, *given: Any) -> Draft:
        """Return a draft of ``Draft(base, *given)`` that notes here what it touches."""
        return WatchedDraft(self, base, *given)

    def follow(self, base: State) -> None:
        """Take ``base`` for what the registry is now; what has led there beside the drafts is not known."""
        if self.state is not base:
            self.state, self.everything = base, True


class WatchedDraft(Draft):
    """A draft that notes in a footprint what it reads, and once it is whole what it has written."""

    __slots__ = ("_footprint",)

    def __init__(self, footprint: Footprint, base: State, *given: Any) -> None:
        super().__init__(base, *given)
        self._footprint = footprint
        footprint.follow(base)

    @property
    def state(self) -> State:
        """The registry as the draft has it by now; what is read of it is noted."""
        return cast(State, _WatchedState(super().state, self._footprint))

    def put(self, record: R) -> R:
        """Write ``record``, new or in place of its earlier self, and return it."""
        return super().put(_plain(record))

    def next(self, counter: str) -> int:
        """Return the next number of ``counter``: 1, 2, 3, …"""
        self._footprint.reads.add(("counters", counter))
        return super().next(counter)

    def changes(self) -> list[Change]:
        """Return what the draft changed, and note all that it has written: it is about to be committed."""
        made, writes = self.made(), self._footprint.writes
        for change in self._changes.values():
            writes.update(_written(change))
        counters = self.base.counters
        writes.update(
            ("counters", one) for one, number in made.counters.items() if counters.get(one) != number
        )
        self._footprint.state = made
        return super().changes()


def _written(change: Change) -> Iterator[Place]:
    """Yield the places that a change of a record writes: its own, and those where it is found."""
    before, after = change.before, change.after
    if isinstance(before, Account) and isinstance(after, Account):
        yield BALANCE, change.key
        if replace(before, balance=after.balance) == after:
            return
    yield change.table, change.key
    if before is None and after is None:  # made and taken out again
        return
    table = TABLES[type(before if after is None else after)]
    for entries in (table.listed, table.looked_up, _calendar):
        old, new = (set(entries(one)) if one is not None else set() for one in (before, after))
        yield from ((entry[0], entry[1]) for entry in old ^ new)


def _calendar(record: Record) -> Iterable[Place]:
    return [("calendar", due) for due in TABLES[type(record)].due(record)]


class _WatchedState:
    """A state for reading only, that notes what is read of it."""

    __slots__ = ("_footprint", "_state")

    find = State.find
    is_due = State.is_due

    def __init__(self, state: State, footprint: Footprint) -> None:
        self._state = state
        self._footprint = footprint

    def __getattr__(self, name: str) -> Any:
        part = getattr(self._state, name)
        return _WatchedPart(name, part, self._footprint) if isinstance(part, HashTrieMap | Ordered) else part


class _WatchedPart(Mapping[Any, Any]):
    """A table, or a sorted index, for reading only. It notes which keys and ranges are looked at."""

    __slots__ = ("_footprint", "_name", "_part")

    def __init__(self, name: str, part: Any, footprint: Footprint) -> None:
        self._name = name
        self._part = part
        self._footprint = footprint

    def _range(self, prefix: tuple[Any, ...] = ()) -> Any:
        self._footprint.ranges.add((self._name, prefix))
        return self._part

    def __getitem__(self, key: Any) -> Any:
        self._footprint.reads.add((self._name, key))
        value = self._part[key]
        return _watched(value, self._footprint) if isinstance(value, Account) else value

    def __contains__(self, key: object) -> bool:
        self._footprint.reads.add((self._name, key))
        return key in self._part

    def __iter__(self) -> Iterator[Any]:
        return iter(self._range())

    def __len__(self) -> int:
        return len(self._range())

    def beginning(self, prefix: tuple[Any, ...], start: int = 0) -> Any:
        """Return the keys of an index that begin with ``prefix``, in order, from the ``start``-th of them."""
        return self._range(prefix).beginning(prefix, start)

    def count(self, prefix: tuple[Any, ...]) -> Any:
        """Return how many keys of an index begin with ``prefix``."""
        return self._range(prefix).count(prefix)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._range(), name)


#: The fields of an account as they are stored.
_STORED: dict[str, Any] = {name: Account.__dict__[name] for name in Account.__struct_fields__}


class _WatchedAccount(Account, frozen=True):
    """An account that notes when its balance is read."""

    footprint: Footprint = field(default_factory=Footprint)

    @property  # type: ignore[misc]
    def balance(self) -> Any:
        """What the account holds; the read is noted."""
        self.footprint.reads.add((BALANCE, self.client_id))
        return _STORED["balance"].__get__(self)


def _watched(account: Account, footprint: Footprint) -> Account:
    return _WatchedAccount(**asdict(account), footprint=footprint)


def _plain(record: R) -> R:
    if isinstance(record, _WatchedAccount):
        stored = {name: _STORED[name].__get__(record) for name in Account.__struct_fields__}
        return cast(R, Account(**stored))
    return record
