"""A persistent sorted set, for pages of orders and the calendar of due events.

The set is a sorted tuple of leaves, and each leaf is a sorted tuple of keys. Adding or removing a key copies
one leaf and the tuple of leaves. Older sets therefore stay valid, and a snapshot is one reference.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=tuple[Any, ...])

_WIDEST = 1024
_NARROWEST = _WIDEST // 4
_FILLED = _WIDEST * 3 // 4

#: The maximum number of waiting changes. Without waiting, a registration takes 20 %
#: longer among 20,000 names, and an event of the clock 40 %.
_WAITING = 1024

#: Waiting changes: the earlier changes, the key of the latest one, and whether it is added.
_Waiting = tuple[Any, Any, bool]

#: Stands for the smallest key after its removal. The leaves then have the next smallest one.
_UNKNOWN = object()


class _Leaves(NamedTuple):
    """The leaves of a set, which are not empty.

    ``starts`` holds the rank of the first key of each leaf, and at the end the number of all keys.
    """

    leaves: Sequence[tuple[Any, ...]]
    starts: Sequence[int]

    def place(self, key: Any) -> int:
        """Return the index of the leaf that holds ``key`` or could take it."""
        return max(bisect_right(self.leaves, (key,), key=lambda leaf: leaf[:1]) - 1, 0)


#: The leaves, the waiting changes and their number, and the smallest key of the set.
_Contents = tuple[_Leaves, _Waiting | None, int, Any]


def _contents(leaves: Sequence[tuple[Any, ...]]) -> _Contents:
    """Return the contents of a set with ``leaves`` and without waiting changes."""
    starts = list(accumulate(map(len, leaves), initial=0))
    return _Leaves(leaves, starts), None, 0, leaves[0][0] if leaves else None


def _cut(keys: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return leaves that hold ``keys``, none wider than ``_WIDEST``."""
    width = len(keys) if len(keys) <= _WIDEST else -(-len(keys) // -(-len(keys) // _FILLED))
    return [tuple(keys[at : at + width]) for at in range(0, len(keys), width or 1)]


def _merged(old: _Leaves, waiting: _Waiting | None) -> list[tuple[Any, ...]]:
    """Return the leaves of ``old`` with the ``waiting`` changes applied."""
    adds: dict[Any, bool] = {}
    while waiting is not None:
        waiting, key, added = waiting
        adds.setdefault(key, added)  # the latest change wins
    changes = sorted(adds)
    leaves: list[tuple[Any, ...]] = []
    copied = start = 0
    while start < len(changes):
        at = old.place(changes[start])
        last = at + 1 >= len(old.leaves)
        stop = len(changes) if last else bisect_left(changes, old.leaves[at + 1][0], start)
        leaves += old.leaves[copied:at]
        keys: list[Any] = list(*old.leaves[at : at + 1])
        for key in changes[start:stop]:
            place = bisect_left(keys, key)
            present = keys[place : place + 1] == [key]
            if present and not adds[key]:
                del keys[place]
            elif adds[key] and not present:
                keys.insert(place, key)
        if leaves and len(keys) < _NARROWEST:
            keys = [*leaves.pop(), *keys]
        leaves += _cut(keys)
        copied, start = at + 1, stop
    return [*leaves, *old.leaves[copied:]]


class Ordered(Generic[Key]):
    """An immutable sorted set of tuples. Each change makes a new set.

    Changes wait beside the leaves until a caller needs the order, or until many are waiting. Applying them
    together costs a fraction of applying them one by one.
    """

    __slots__ = ("_held",)

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        # Do not deduplicate with a set: that loses the sorted runs which make ``sorted`` fast.
        ordered = sorted(keys)
        unique = [key for key, before in zip(ordered, [None, *ordered], strict=False) if key != before]
        self._held: _Contents = _contents(_cut(unique))

    def _with(self, key: Key, *, added: bool) -> Ordered[Key]:
        leaves, waiting, count, first = self._held
        if first is not _UNKNOWN:
            if added:
                first = key if first is None or key < first else first
            elif key == first:
                first = _UNKNOWN
        changed: Ordered[Key] = Ordered.__new__(Ordered)
        changed._held = (leaves, (waiting, key, added), count + 1, first)
        if count >= _WAITING:
            changed._applied()
        return changed

    def _applied(self) -> _Leaves:
        """Apply the waiting changes and return the leaves. The set's value does not change."""
        leaves, waiting, _, _ = self._held
        if waiting is not None:
            self._held = _contents(_merged(leaves, waiting))
        return self._held[0]

    def add(self, key: Key) -> Ordered[Key]:
        """Return the set with ``key``."""
        return self._with(key, added=True)

    def remove(self, key: Key) -> Ordered[Key]:
        """Return the set without ``key``, which may be absent."""
        return self._with(key, added=False)

    def rank(self, key: tuple[Any, ...]) -> int:
        """Return the number of keys smaller than ``key``, which may be absent."""
        contents = self._applied()
        at = contents.place(key)
        return contents.starts[at] + bisect_left(contents.leaves[at], key) if contents.leaves else 0

    def walk(self, start: int = 0) -> Iterator[Key]:
        """Return an iterator over the keys in order, from offset ``start``."""
        contents = self._applied()
        if start >= contents.starts[-1]:
            return iter(())
        at = bisect_right(contents.starts, start) - 1
        leaves = islice(contents.leaves, at, None)
        return islice(chain.from_iterable(leaves), start - contents.starts[at], None)

    def count(self, prefix: tuple[Any, ...]) -> int:
        """Return the number of keys with ``prefix``, whose last part is an integer."""
        return self.rank((*prefix[:-1], prefix[-1] + 1)) - self.rank(prefix)

    def first(self) -> Key | None:
        """Return the smallest key, or None if the set is empty."""
        if self._held[3] is _UNKNOWN:
            self._applied()
        smallest: Key | None = self._held[3]
        return smallest

    def beginning(self, prefix: tuple[Any, ...], start: int = 0) -> Iterator[Key]:
        """Yield the keys with ``prefix`` in order, skipping the first ``start`` of them."""
        width = len(prefix)
        for key in self.walk(self.rank(prefix) + start):
            if key[:width] != prefix:
                return
            yield key

    def __contains__(self, key: Key) -> bool:
        return next(self.walk(self.rank(key)), None) == key

    def __iter__(self) -> Iterator[Key]:
        return self.walk()

    def __len__(self) -> int:
        return self._applied().starts[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ordered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
