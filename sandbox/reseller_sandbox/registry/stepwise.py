"""Long work in steps: it blocks no other thread, and it can end between two steps.

One call into C, such as ``sorted`` of 100,000 records, blocks every thread until it ends. A loop in Python
yields to other threads after each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from heapq import merge
from itertools import islice
from threading import Event
from typing import Any, TypeVar

from rpds import HashTrieMap

Key = TypeVar("Key")
Item = TypeVar("Item")

#: The number of keys that one call sorts.
_SLICE = 4096

#: The maximum length of a string (``LONG``), and of a list (``_FEW``), that one call handles.
LONG, _FEW = 1 << 18, 16


#: The event that ends the long work of this thread. None means that this thread does no long work.
ENDING: ContextVar[Event | None] = ContextVar("ending", default=None)


class Interrupted(BaseException):
    """Long work has ended between two steps, because the server stops. No handler of errors catches it."""


@contextmanager
def interruptible(ending: Event) -> Iterator[None]:
    """Mark the block as long work, which ends at its next step after ``ending`` is set."""
    token = ENDING.set(ending)
    try:
        yield
    finally:
        ENDING.reset(token)


def begin_step() -> None:
    """Raise ``Interrupted`` if the long work of this thread must end."""
    ending = ENDING.get()
    if ending is not None and ending.is_set():
        raise Interrupted


def stepwise(items: Iterable[Item]) -> Iterator[Item]:
    """Yield ``items`` one by one, so that other threads can run between two items."""
    for item in items:  # noqa: UP028 - ``yield from`` does not let other threads run
        yield item


def keys_in_order(table: Iterable[Any]) -> Iterator[Any]:
    """Yield the keys of ``table`` in order, without blocking other threads."""
    rest = stepwise(table)
    return merge(*iter(lambda: sorted(islice(rest, _SLICE)), []))


def empty(sections: dict[Any, object]) -> None:
    """Remove all entries from the dicts in ``sections``, one by one.

    Freeing 100,000 entries at once blocks every thread.
    """
    for section in sections.values():
        while isinstance(section, dict) and section:
            section.popitem()


def json_pieces(value: object, text: Callable[[object], str]) -> Iterator[str]:
    """Yield the compact JSON of ``value`` in pieces. ``text`` encodes each piece as JSON.

    Objects must have string keys.
    """
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
    """Return ``table`` with ``entries`` added, in steps that do not block other threads."""
    rest = iter(entries.items())
    while some := dict(islice(rest, _SLICE)):
        table = table.update(some)
    return table


def in_order(table: HashTrieMap[Key, Item] | dict[Key, Item]) -> Iterator[tuple[Key, Item]]:
    """Yield keys and values of ``table`` in the order of the keys."""
    for key in keys_in_order(table):
        yield key, table[key]


class TextSource:
    """A string as a file object, for a parser in C.

    Each ``read`` is a call into Python, so the parser lets other threads run.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self, size: int) -> str:
        """Return the next ``size`` characters, or the remaining characters at the end."""
        piece = self._text[self._at : self._at + size]
        self._at += size
        return piece
