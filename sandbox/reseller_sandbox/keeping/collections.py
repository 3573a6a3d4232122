"""Collections as blocks: lists and tuples, sorted sets, mappings."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from reseller_sandbox.core.ordered import Ordered
from reseller_sandbox.keeping.codec import SLICE, Body, Columns, Sort


class Lists(Sort):
    """A kind of collections: how long each is, and the elements of all of them."""

    def __init__(self, name: str, make: Callable[[Iterable[Any]], Any]) -> None:
        self.name = name
        self._make = make

    write = Sort.write_large_alone

    def fill(self, values: Sequence[Any], body: Body) -> None:
        """Write the elements, which are looked up among all there are only where they are no tuples."""
        body.add(array("I", map(len, values)))
        body.refer(chain.from_iterable(values), once=self._make is not tuple)

    def read(self, columns: Columns) -> list[Any]:
        lengths, elements = columns.numbers(), columns.values()
        if self._make is tuple and lengths and len(set(lengths)) == 1 and lengths[0]:
            return list(zip(*[iter(elements)] * lengths[0], strict=True))
        return [self._make(some) for some in _parted(elements, lengths)]


class Sets(Sort):
    """The kind of sorted sets: how long each is, and a column for each part of the tuples in them."""

    name = "ordered"

    write = Sort.write_large_alone

    def fill(self, values: Sequence[Any], body: Body) -> None:
        width = max((len(key) for one in values for key in one), default=0)
        body.add(array("I", map(len, values)))
        body.add(array("I", [width]))
        for part in range(width):
            body.refer(key[part] for key in chain.from_iterable(values))

    def read(self, columns: Columns) -> list[Any]:
        lengths, (width,) = columns.numbers(), columns.numbers()
        keys = list(zip(*(columns.values() for _ in range(width)), strict=True))
        return [Ordered.of_sorted(some) for some in _parted(keys, lengths)]


class Maps(Sort):
    """A kind of mappings: how long each is, and the keys and the values of all of them."""

    def __init__(self, name: str, make: Callable[[Iterable[Any]], Any]) -> None:
        self.name = name
        self._make = make

    write = Sort.write_large_alone

    def pairs(self, one: Any) -> Iterable[tuple[Any, Any]]:
        """Return the pairs of a mapping, as they are to be written."""
        return one.items()  # type: ignore[no-any-return]

    def fill(self, values: Sequence[Any], body: Body) -> None:
        """Write the pairs, a slice of them at a time."""
        keys, held = array("I"), array("I")
        pairs = chain.from_iterable(map(self.pairs, values))
        while some := list(islice(pairs, SLICE)):
            keys += body.numbers([key for key, _ in some], once=True)
            held += body.numbers([value for _, value in some])
        for column in (array("I", map(len, values)), keys, held):
            body.add(column)

    def read(self, columns: Columns) -> list[Any]:
        lengths, keys, held = columns.numbers(), columns.values(), columns.values()
        parts = zip(_parted(keys, lengths), _parted(held, lengths), strict=True)
        made = [self._make(zip(some, others, strict=True)) for some, others in parts]
        if any(len(one) != length for one, length in zip(made, lengths, strict=True)):
            raise ValueError("a key comes twice")
        return made


class HashMaps(Maps):
    """A kind of mappings whose order means nothing, and which are written in the order of numbers in them.

    What stands together in memory is then read together: else every table of a large world would be read all
    over the place.
    """

    def pairs(self, one: Any) -> Iterable[tuple[Any, Any]]:
        """Return the pairs by their keys, or where those alone are numbers, by their values."""
        key, value = next(iter(one.items()), (0, 0))
        by = itemgetter(1 if type(value) is int and type(key) is not int else 0)
        rest = iter(one.items())
        return merge(*iter(lambda: sorted(islice(rest, SLICE), key=by), []), key=by)


def _parted(values: list[Any], lengths: Sequence[int]) -> Iterator[list[Any]]:
    if sum(lengths) != len(values):
        raise ValueError("lengths that do not add up")
    if len(lengths) == 1:
        yield values
        return
    at = 0
    for length in lengths:
        yield values[at : at + length]
        at += length
