"""A persistent sorted set: pages of an account's orders, the calendar of due events.

A B+-tree whose nodes are never changed: adding or removing a key copies the
path to it and shares the rest, so that an older set stays what it was and a
snapshot of a million keys is one reference.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=tuple[Any, ...])

_WIDEST = 32
_NARROWEST = _WIDEST // 4


class _Leaf:
    __slots__ = ("keys",)

    def __init__(self, keys: tuple[Any, ...]) -> None:
        self.keys = keys

    @property
    def size(self) -> int:
        return len(self.keys)

    first = property(lambda self: self.keys[0])
    parts = property(lambda self: self.keys)

    def with_parts(self, parts: tuple[Any, ...]) -> _Leaf:
        return _Leaf(parts)

    def add(self, key: Any) -> _Leaf:
        at = bisect_left(self.keys, key)
        return _Leaf((*self.keys[:at], key, *self.keys[at:]))

    def remove(self, key: Any) -> _Leaf:
        at = bisect_left(self.keys, key)
        return _Leaf(self.keys[:at] + self.keys[at + 1 :])

    def contains(self, key: Any) -> bool:
        at = bisect_left(self.keys, key)
        return at < len(self.keys) and bool(self.keys[at] == key)

    def rank(self, key: Any) -> int:
        return bisect_left(self.keys, key)

    def walk(self, start: int) -> Iterator[Any]:
        return islice(self.keys, start, None)


class _Branch:
    __slots__ = ("children", "firsts", "size")

    def __init__(self, children: tuple[Any, ...]) -> None:
        self.children = children
        self.firsts = tuple(child.first for child in children)
        self.size: int = sum(child.size for child in children)

    first = property(lambda self: self.firsts[0])
    parts = property(lambda self: self.children)

    def with_parts(self, parts: tuple[Any, ...]) -> _Branch:
        return _Branch(parts)

    def _place(self, key: Any) -> int:
        return max(bisect_right(self.firsts, key) - 1, 0)

    def add(self, key: Any) -> _Branch:
        at = self._place(key)
        return self._replaced(at, at + 1, _split(self.children[at].add(key)))

    def remove(self, key: Any) -> _Branch:
        at = self._place(key)
        child = self.children[at].remove(key)
        if child.size == 0:
            return self._replaced(at, at + 1, ())
        if len(child.parts) >= _NARROWEST or len(self.children) == 1:
            return self._replaced(at, at + 1, (child,))
        left = max(at - 1, 0)  # a thin node is joined with a neighbour, so that the tree stays shallow
        pair = (self.children[left], child) if left < at else (child, self.children[at + 1])
        return self._replaced(left, left + 2, _split(pair[0].with_parts(pair[0].parts + pair[1].parts)))

    def _replaced(self, start: int, stop: int, children: tuple[Any, ...]) -> _Branch:
        return _Branch(self.children[:start] + children + self.children[stop:])

    def contains(self, key: Any) -> bool:
        return bool(self.children[self._place(key)].contains(key))

    def rank(self, key: Any) -> int:
        at = self._place(key)
        before: int = sum(child.size for child in self.children[:at])
        return before + int(self.children[at].rank(key))

    def walk(self, start: int) -> Iterator[Any]:
        for at, child in enumerate(self.children):
            if start < child.size:
                rest = (other.walk(0) for other in self.children[at + 1 :])
                return chain(child.walk(start), chain.from_iterable(rest))
            start -= child.size
        return iter(())


def _split(node: Any) -> tuple[Any, ...]:
    parts = node.parts
    if len(parts) <= _WIDEST:
        return (node,)
    half = len(parts) // 2
    return (node.with_parts(parts[:half]), node.with_parts(parts[half:]))


class Ordered(Generic[Key]):
    """An immutable sorted set of tuples; each change answers a new set."""

    __slots__ = ("_root",)

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        nodes: list[Any] = []
        ordered = sorted(set(keys))
        fill = _WIDEST * 3 // 4
        nodes = [_Leaf(tuple(ordered[at : at + fill])) for at in range(0, len(ordered), fill)]
        while len(nodes) > 1:
            nodes = [_Branch(tuple(nodes[at : at + fill])) for at in range(0, len(nodes), fill)]
        self._root: Any = nodes[0] if nodes else _Leaf(())

    @classmethod
    def _of(cls, root: Any) -> Ordered[Key]:
        made = cls.__new__(cls)
        made._root = root
        return made

    def add(self, key: Key) -> Ordered[Key]:
        """The set with ``key`` in it."""
        if key in self:
            return self
        nodes = _split(self._root.add(key))
        return self._of(nodes[0] if len(nodes) == 1 else _Branch(nodes))

    def remove(self, key: Key) -> Ordered[Key]:
        """The set without ``key``; the same set when it was not there."""
        if key not in self:
            return self
        root = self._root.remove(key)
        if root.size == 0:
            return self._of(_Leaf(()))
        while isinstance(root, _Branch) and len(root.children) == 1:
            root = root.children[0]
        return self._of(root)

    def rank(self, key: tuple[Any, ...]) -> int:
        """How many keys are smaller than ``key``, which need not be in the set."""
        return int(self._root.rank(key)) if self._root.size else 0

    def walk(self, start: int = 0) -> Iterator[Key]:
        """The keys in order, from the one at offset ``start``."""
        return iter(self._root.walk(start))

    def count(self, prefix: tuple[Any, ...]) -> int:
        """How many keys begin with ``prefix``, whose last part is a whole number."""
        return self.rank((*prefix[:-1], prefix[-1] + 1)) - self.rank(prefix)

    def first(self) -> Key | None:
        """The smallest key, or None when the set is empty."""
        return next(self.walk(), None)

    def beginning(self, prefix: tuple[Any, ...], start: int = 0) -> Iterator[Key]:
        """The keys that begin with ``prefix``, in order, from the ``start``-th of them."""
        width = len(prefix)
        for key in self.walk(self.rank(prefix) + start):
            if key[:width] != prefix:
                return
            yield key

    def __contains__(self, key: Key) -> bool:
        return bool(self._root.size and self._root.contains(key))

    def __iter__(self) -> Iterator[Key]:
        return self.walk()

    def __len__(self) -> int:
        return int(self._root.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ordered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
