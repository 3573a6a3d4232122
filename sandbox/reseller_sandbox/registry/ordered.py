"""A persistent sorted set, for pages of orders and the calendar of due events.

The set is a B+-tree whose nodes never change. Adding or removing a key copies the path to it and shares all
other nodes. Older sets therefore stay valid, and a snapshot of a million keys is one reference.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import lt
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=tuple[Any, ...])

_WIDEST = 32
_NARROWEST = _WIDEST // 4
_FILLED = _WIDEST * 3 // 4

#: The maximum number of waiting changes. Without waiting, a registration takes 20 %
#: longer among 20,000 names, and an event of the clock 40 %.
_WAITING = 1024

#: Waiting changes: the earlier changes, the key of the latest one, and whether it is added.
_Waiting = tuple[Any, Any, bool]

#: Stands for the smallest key after its removal. The tree then has the next smallest one.
_UNKNOWN = object()


#: The tree, the waiting changes and their number, and the smallest key of the set.
_Held = tuple[Any, _Waiting | None, int, Any]


class _Leaf:
    __slots__ = ("first", "parts", "size")

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self.size = len(self.parts)
        self.first = self.parts[0] if self.parts else None

    def merged(self, changes: _Changes, start: int, stop: int) -> list[_Leaf]:
        keys = list(self.parts)
        for number in range(start, stop):
            key = changes.keys[number]
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                if not changes.adds[key]:
                    del keys[at]
            elif changes.adds[key]:
                keys.insert(at, key)
        return _cut(_Leaf, keys)

    def rank(self, key: Any) -> int:
        return bisect_left(self.parts, key)

    def walk(self, start: int) -> Iterator[Any]:
        return islice(self.parts, start, None)


class _Branch:
    __slots__ = ("first", "firsts", "parts", "size")

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self.firsts = [part.first for part in parts]
        self.first = self.firsts[0]
        self.size: int = sum([part.size for part in parts])

    def _place(self, key: Any) -> int:
        return max(bisect_right(self.firsts, key) - 1, 0)

    def merged(self, changes: _Changes, start: int, stop: int) -> list[_Branch]:
        parts: list[Any] = []
        copied, thin = 0, False
        while start < stop:
            at = self._place(changes.keys[start])
            last = at + 1 == len(self.firsts)
            end = stop if last else bisect_left(changes.keys, self.firsts[at + 1], start, stop)
            made = self.parts[at].merged(changes, start, end)
            thin = thin or not made or len(made[0].parts) < _NARROWEST
            parts += self.parts[copied:at]
            parts += made
            copied, start = at + 1, end
        parts += self.parts[copied:]
        return _cut(_Branch, _joined(parts) if thin else parts)

    def rank(self, key: Any) -> int:
        at = self._place(key)
        before: int = sum(part.size for part in self.parts[:at])
        return before + int(self.parts[at].rank(key))

    def walk(self, start: int) -> Iterator[Any]:
        for at, part in enumerate(self.parts):
            if start < part.size:
                rest = (other.walk(0) for other in self.parts[at + 1 :])
                return chain(part.walk(start), chain.from_iterable(rest))
            start -= part.size
        return iter(())


class _Changes:
    """Keys to add (True) and to remove (False), and the same keys sorted."""

    __slots__ = ("adds", "keys")

    def __init__(self, waiting: _Waiting | None) -> None:
        self.adds: dict[Any, bool] = {}
        while waiting is not None:
            waiting, key, added = waiting
            self.adds.setdefault(key, added)  # the latest change wins
        self.keys = sorted(self.adds)


def _cut(kind: Any, parts: Sequence[Any]) -> list[Any]:
    """Return nodes of type ``kind`` that hold ``parts``, none wider than ``_WIDEST``."""
    if len(parts) <= _WIDEST:
        return [kind(parts)] if parts else []
    width = -(-len(parts) // -(-len(parts) // _FILLED))
    return [kind(parts[at : at + width]) for at in range(0, len(parts), width)]


def _joined(nodes: list[Any]) -> list[Any]:
    """Return ``nodes`` with each narrow one joined to a neighbour.

    Otherwise the tree would grow deeper than necessary.
    """
    joined: list[Any] = []
    for node in nodes:
        if joined and min(len(node.parts), len(joined[-1].parts)) < _NARROWEST:
            joined += _cut(type(node), joined.pop().parts + node.parts)
        else:
            joined.append(node)
    return joined


def _rooted(nodes: list[Any]) -> Any:
    """Return the root node over ``nodes``, which are on one level."""
    while len(nodes) > 1:
        nodes = _cut(_Branch, nodes)
    root = nodes[0] if nodes else _Leaf(())
    while isinstance(root, _Branch) and len(root.parts) == 1:
        root = root.parts[0]
    return root


def _held(keys: Sequence[Any]) -> _Held:
    """Return the contents of a set with ``keys``, which are sorted."""
    root = _rooted(_cut(_Leaf, keys))
    return root, None, 0, root.first


class Ordered(Generic[Key]):
    """An immutable sorted set of tuples. Each change makes a new set.

    Changes wait beside the tree until a caller needs the order, or until many are waiting. Applying them
    together costs a fraction of applying them one by one.
    """

    __slots__ = ("_held",)

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        # Do not deduplicate with a set: that loses the sorted runs which make ``sorted`` fast.
        ordered = sorted(keys)
        unique = [key for key, before in zip(ordered, [None, *ordered], strict=False) if key != before]
        self._held: _Held = _held(unique)

    @classmethod
    def of_sorted(cls, keys: Sequence[Key]) -> Ordered[Key]:
        """Return the set of ``keys``. Raise ValueError unless sorted and unique."""
        if not all(map(lt, keys, islice(keys, 1, None))):
            raise ValueError("keys that are not in order")
        made: Ordered[Key] = cls.__new__(cls)
        made._held = _held(keys)
        return made

    def _with(self, key: Key, *, added: bool) -> Ordered[Key]:
        root, waiting, count, first = self._held
        if first is not _UNKNOWN:
            if added:
                first = key if first is None or key < first else first
            elif key == first:
                first = _UNKNOWN
        made: Ordered[Key] = Ordered.__new__(Ordered)
        made._held = (root, (waiting, key, added), count + 1, first)
        if count >= _WAITING:
            made._tree()
        return made

    def _tree(self) -> Any:
        """Apply the waiting changes and return the tree. The set's value does not change."""
        root, waiting, _, _ = self._held
        if waiting is not None:
            changes = _Changes(waiting)
            root = _rooted(root.merged(changes, 0, len(changes.keys)))
            self._held = (root, None, 0, root.first)
        return root

    def add(self, key: Key) -> Ordered[Key]:
        """Return the set with ``key``."""
        return self._with(key, added=True)

    def remove(self, key: Key) -> Ordered[Key]:
        """Return the set without ``key``, which may be absent."""
        return self._with(key, added=False)

    def rank(self, key: tuple[Any, ...]) -> int:
        """Return the number of keys smaller than ``key``, which may be absent."""
        return int(self._tree().rank(key))

    def walk(self, start: int = 0) -> Iterator[Key]:
        """Return an iterator over the keys in order, from offset ``start``."""
        return iter(self._tree().walk(start))

    def count(self, prefix: tuple[Any, ...]) -> int:
        """Return the number of keys with ``prefix``, whose last part is an integer."""
        return self.rank((*prefix[:-1], prefix[-1] + 1)) - self.rank(prefix)

    def first(self) -> Key | None:
        """Return the smallest key, or None if the set is empty."""
        smallest: Key | None = self._held[3]
        if smallest is _UNKNOWN:
            smallest = self._tree().first
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
        return int(self._tree().size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ordered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
