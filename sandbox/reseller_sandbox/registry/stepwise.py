"""Loops over large tables that let other threads run in between.

One call into C, such as ``sorted`` of a table of 100,000 records, holds up every thread until it ends. A
loop in Python gives way after each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import Any, TypeVar

from rpds import HashTrieMap

Key = TypeVar("Key")
Item = TypeVar("Item")

#: How many keys are sorted in one call.
_SLICE = 4096

#: How many characters of a string, and how many items of a list, are read or written in one call.
LONG, _FEW = 1 << 18, 16


def stepwise(items: Iterable[Item]) -> Iterator[Item]:
    """Yield ``items``, which a function in C may consume without holding up other threads."""
    for one in items:  # noqa: UP028 - ``yield from`` does not give way
        yield one


def keys_in_order(table: Iterable[Any]) -> Iterator[Any]:
    """Yield the keys of ``table`` in order."""
    rest = stepwise(table)
    return merge(*iter(lambda: sorted(islice(rest, _SLICE)), []))


def empty(sections: dict[Any, Any]) -> None:
    """Remove the entries of each of ``sections``: freed together, 100,000 of them hold up every thread."""
    for section in sections.values():
        while isinstance(section, dict) and section:
            section.popitem()


def json_pieces(value: Any, text: Callable[[Any], str]) -> Iterator[str]:
    """Yield in pieces what ``text`` makes of ``value``: compact JSON, whose objects have strings for keys."""
    if type(value) is dict and value:
        for number, (key, part) in enumerate(value.items()):
            yield f"{',' if number else '{'}{text(key)}:"
            yield from json_pieces(part, text)
        yield "}"
    elif type(value) is list and len(value) > _FEW:
        for start in range(0, len(value), _FEW):
            yield f"{',' if start else '['}{text(value[start : start + _FEW])[1:-1]}"
        yield "]"
    elif type(value) is str and len(value) > LONG:
        yield '"'
        for start in range(0, len(value), LONG):
            yield text(value[start : start + LONG])[1:-1]
        yield '"'
    else:
        yield text(value)


def updated(table: HashTrieMap[Key, Item], entries: Mapping[Key, Item]) -> HashTrieMap[Key, Item]:
    """Return ``table`` with ``entries`` in it."""
    rest = iter(entries.items())
    while some := dict(islice(rest, _SLICE)):
        table = table.update(some)
    return table


def in_order(table: HashTrieMap[Key, Item] | dict[Key, Item]) -> Iterator[tuple[Key, Item]]:
    """Yield the entries of ``table`` in the order of their keys."""
    for key in keys_in_order(table):
        yield key, table[key]


class TextSource:
    """A text as a file. Each ``read`` is a call into Python, in which the parser lets other threads run."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self, size: int) -> str:
        """Return the next ``size`` characters, fewer at the end."""
        found = self._text[self._at : self._at + size]
        self._at += size
        return found
