"""A persistent sorted set, for pages of orders and the calendar of due events.

The set is a sorted tuple of leaves, and each leaf is a sorted tuple of keys. Adding or removing a key copies
one leaf and the tuple of leaves. Older sets therefore stay valid, and a snapshot is one reference.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=tuple[Any, ...])

_WIDEST = 512
_NARROWEST = _WIDEST // 4
_FILLED = _WIDEST * 3 // 4

_Leaves = tuple[tuple[Any, ...], ...]


def _cut(keys: Sequence[Any]) -> _Leaves:
    """Return leaves that hold ``keys``, none wider than ``_WIDEST``."""
    if len(keys) <= _WIDEST:
        return (tuple(keys),) if keys else ()
    width = -(-len(keys) // -(-len(keys) // _FILLED))
    return tuple(tuple(keys[at : at + width]) for at in range(0, len(keys), width))


class Ordered(Generic[Key]):
    """An immutable sorted set of tuples. Each change makes a new set."""

    __slots__ = ("_leaves", "_starts")

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        # Do not deduplicate with a set: that loses the sorted runs which make ``sorted`` fast.
        ordered = sorted(keys)
        unique = [key for key, before in zip(ordered, [None, *ordered], strict=False) if key != before]
        self._leaves = _cut(unique)
        #: The rank of the first key of each leaf, and the number of all keys, once a caller needs them.
        self._starts: list[int] | None = None

    def _place(self, key: Any) -> int:
        """Return the index of the leaf that holds ``key`` or could take it."""
        at = bisect_left(self._leaves, (key,))
        begins_with_key = self._leaves[at : at + 1] and self._leaves[at][0] == key
        return at if begins_with_key else max(at - 1, 0)

    def _ranks(self) -> list[int]:
        if self._starts is None:
            self._starts = list(accumulate(map(len, self._leaves), initial=0))
        return self._starts

    def _changed(self, key: Key, *, added: bool) -> Ordered[Key]:
        at = self._place(key)
        (leaf,) = self._leaves[at : at + 1] or ((),)
        place = bisect_left(leaf, key)
        present = leaf[place : place + 1] == (key,)
        if present is added:
            return self
        keys = (*leaf[:place], *((key,) if added else ()), *leaf[place + present :])
        first = at - 1 if at and len(keys) < _NARROWEST else at
        new: Ordered[Key] = Ordered.__new__(Ordered)
        new._leaves = (
            *self._leaves[:first],
            *_cut((*chain.from_iterable(self._leaves[first:at]), *keys)),
            *self._leaves[at + 1 :],
        )
        new._starts = None
        return new

    def add(self, key: Key) -> Ordered[Key]:
        """Return the set with ``key``."""
        return self._changed(key, added=True)

    def remove(self, key: Key) -> Ordered[Key]:
        """Return the set without ``key``, which may be absent."""
        return self._changed(key, added=False)

    def rank(self, key: tuple[Any, ...]) -> int:
        """Return the number of keys smaller than ``key``, which may be absent."""
        at = self._place(key)
        return self._ranks()[at] + bisect_left(self._leaves[at], key) if self._leaves else 0

    def walk(self, start: int = 0) -> Iterator[Key]:
        """Return an iterator over the keys in order, from offset ``start``."""
        starts = self._ranks()
        if start >= starts[-1]:
            return iter(())
        at = bisect_right(starts, start) - 1
        leaves = islice(self._leaves, at, None)
        return islice(chain.from_iterable(leaves), start - starts[at], None)

    def count(self, prefix: tuple[Any, ...]) -> int:
        """Return the number of keys with ``prefix``, whose last part is an integer."""
        return self.rank((*prefix[:-1], prefix[-1] + 1)) - self.rank(prefix)

    def first(self) -> Key | None:
        """Return the smallest key, or None if the set is empty."""
        return self._leaves[0][0] if self._leaves else None

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
        return self._ranks()[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ordered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
