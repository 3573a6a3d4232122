"""Objects as blocks, and back: each object is written once, however many others refer to it.

Objects get numbers in the order in which they are written, those that an object refers to before itself. A
block holds many objects of one kind; what they refer to stands in columns of numbers. A column is told as
``=`` (one number for all), ``+`` (numbers that follow one another), or the width of each of its numbers.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, TypeAlias

from reseller_sandbox.core.signatures import field_names
from reseller_sandbox.keeping.file import BadFile, Block, Put

#: So many objects stand in a block at most: what is done to one of its columns keeps no other thread waiting.
SLICE = 4096

#: The objects that every file begins with.
FIRST = (None, False, True)

_WIDTHS = tuple((array(code).itemsize, code) for code in "BHI")

Numbers: TypeAlias = "array[int]"


class Writer:
    """Gives objects numbers, and puts each that is new into a block."""

    def __init__(self, put: Put, kinds: Mapping[type, Sort]) -> None:
        self._put = put
        self._kinds = kinds
        self._known: dict[type, dict[Any, int]] = {kind: {} for kind in kinds}
        for number, one in enumerate(FIRST):
            self._known.setdefault(type(one), {})[one] = number
        self._count = len(FIRST)

    def number(self, value: Any) -> int:
        """Return the number of an object; write it if it is new."""
        return self.numbers([value])[0]

    def numbers(self, values: Iterable[Any], *, once: bool = False) -> Numbers:
        """Return the numbers of objects; ``once`` says that no other object refers to those."""
        found, rest = array("I"), iter(values)
        while some := list(islice(rest, SLICE)):
            found += self._of(some, once)
        return found

    def knows(self, value: Any) -> bool:
        """Whether an object that is known by itself, and not by its value, has been written."""
        return id(value) in self._known[type(value)]

    def write(self, kind: Sort, values: Sequence[Any], body: Body) -> range:
        """Put a block of new objects; return their numbers."""
        told = range(self._count, self._count + len(values))
        self._put([kind.name, len(values), body.specs], b"".join(body.parts))
        self._count = told.stop
        return told

    def note(self, value: Any, number: int) -> None:
        """Remember the number of an object that is known by itself."""
        self._known[type(value)][id(value)] = number

    def _of(self, values: list[Any], once: bool) -> Numbers:
        types = list(dict.fromkeys(map(type, values)))
        if len(types) == 1:
            return self._of_one(types[0], values, once)
        found = {one: iter(self._of_one(one, [v for v in values if type(v) is one], once)) for one in types}
        return array("I", [next(found[type(value)]) for value in values])

    def _of_one(self, typed: type, values: list[Any], once: bool) -> Numbers:
        known = self._known.get(typed)
        if known is None:
            raise TypeError(f"{typed.__qualname__} is no kind of object that can be kept")
        if typed in _SINGLE:
            return array("I", map(known.__getitem__, values))
        kind = self._kinds[typed]
        if once and kind.key is id:
            return array("I", kind.write(self, values))
        keys = list(values if kind.key is None else map(kind.key, values))
        new = {key: value for key, value in zip(keys, values, strict=True) if key not in known}
        if new:
            known.update(zip(new, kind.write(self, list(new.values())), strict=True))
        return array("I", map(known.__getitem__, keys))


_SINGLE = frozenset(map(type, FIRST))


class Body:
    """Columns on their way into a block."""

    def __init__(self, writer: Writer) -> None:
        self.numbers = writer.numbers
        self.specs: list[Any] = []
        self.parts: list[bytes] = []

    def refer(self, values: Iterable[Any], *, once: bool = False) -> None:
        """Add a column that refers to objects; see ``Writer.numbers``."""
        self.add(self.numbers(values, once=once))

    def add(self, numbers: Numbers) -> None:
        """Add a column."""
        first, count = (numbers[0], len(numbers)) if numbers else (0, 0)
        if count and numbers[-1] == first and numbers.count(first) == count:
            self.specs.append(["=", count, first])
        elif (
            count and numbers[-1] - first == count - 1 and numbers == array("I", range(first, first + count))
        ):
            self.specs.append(["+", count, first])
        else:
            most = max(numbers, default=0)
            width, code = next(one for one in _WIDTHS if most < 1 << 8 * one[0])
            self.specs.append([width, count])
            self.parts.append(_little(array(code, numbers)).tobytes())

    def raw(self, content: bytes) -> None:
        """Add bytes as they are."""
        self.specs.append(["raw", len(content)])
        self.parts.append(content)


def _little(numbers: Numbers) -> Numbers:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Reader:
    """The objects of a file, by their numbers."""

    def __init__(self, kinds: Iterable[Sort]) -> None:
        self.objects: list[Any] = list(FIRST)
        self._kinds = {kind.name: kind for kind in kinds}

    def take(self, block: Block) -> None:
        """Make the objects of a block; raise ``BadFile`` without the name of the file."""
        name = str(block.head[0])[:60]
        try:
            kind = self._kinds[name]
            _, count, specs = block.head
            columns = Columns(self.objects, count, specs, block.body)
            made = kind.read(columns)
            columns.end()
        except _WRONG:
            raise BadFile(f"byte {block.at}: the content of a block of {name!r} is damaged") from None
        if len(made) != count:
            raise BadFile(f"byte {block.at}: a block of {name!r} holds {len(made)} objects, not {count}")
        self.objects += made


#: What reading raises where the numbers or words of a block are none that the program wrote.
_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError)


class Columns:
    """The columns of a block of ``count`` objects, one after the other."""

    def __init__(self, objects: list[Any], count: int, specs: Any, body: memoryview) -> None:
        self.count = count
        self._objects = objects
        self._specs = iter(specs)
        self._body = body
        self._at = 0

    def _cut(self, size: int) -> memoryview:
        found = self._body[self._at : self._at + size]
        if size < 0 or len(found) != size:
            raise ValueError("a column is too long")
        self._at += size
        return found

    def numbers(self) -> Sequence[int]:
        """Return the numbers of the next column."""
        sort, count, *first = next(self._specs, (0, 0))
        if sort in ("=", "+"):
            (begin,) = first
            if min(begin, count) < 0:
                raise ValueError("a number below zero")
            return range(begin, begin + count) if sort == "+" else [begin] * count
        found = array(dict(_WIDTHS)[sort])
        found.frombytes(self._cut(sort * count))
        return _little(found)

    def values(self) -> list[Any]:
        """Return what the next column refers to."""
        found = self.numbers()
        if isinstance(found, range):
            if found.stop > len(self._objects):
                raise IndexError("a number of no object")
            return self._objects[found.start : found.stop]
        if isinstance(found, list):  # of one number alone
            return [self._objects[found[0]]] * len(found) if found else []
        objects = self._objects
        return [objects[number] for number in found]

    def raw(self) -> bytes:
        """Return the bytes that come next."""
        sort, size = next(self._specs, (0, 0))
        if sort != "raw":
            raise ValueError("a column, and no bytes")
        return bytes(self._cut(size))

    def end(self) -> None:
        """Require that nothing is left."""
        if self._at != len(self._body) or next(self._specs, None) is not None:
            raise ValueError("more columns than are read")


class Sort:
    """A kind of objects: how many of them are written, and made again.

    ``key`` is what tells two of them apart: None for the value itself, ``id`` for which of several equal ones
    it is.
    """

    name: str
    key: Callable[[Any], Any] | None = id

    def write(self, writer: Writer, values: Sequence[Any]) -> Iterable[int]:
        """Put objects into blocks, and return their numbers."""
        body = Body(writer)
        self.fill(values, body)
        return writer.write(self, values, body)

    def write_large_alone(self, writer: Writer, values: Sequence[Any]) -> Iterable[int]:
        """Put collections into blocks, each large one into its own."""
        found: list[int] = []
        for large, some in groupby(values, lambda one: len(one) > SLICE):
            for part in ([one] for one in some) if large else (list(some),):
                found += Sort.write(self, writer, part)
        return found

    def fill(self, values: Sequence[Any], body: Body) -> None:
        """Write what the columns of a block say of objects."""
        raise NotImplementedError

    def read(self, columns: Columns) -> list[Any]:
        """Return the objects of a block."""
        raise NotImplementedError


class Records(Sort):
    """A kind of records: a column for each of its fields but those ``left_out``, which are made anew."""

    def __init__(self, typed: Any, names: Sequence[str], left_out: Mapping[str, Callable[[], Any]]) -> None:
        self.name = typed.__name__
        self._typed = typed
        self._names = [name for name in names if name not in left_out]
        self._left_out = left_out
        self.shape = f"{self.name}({','.join(names)})"

    def fill(self, values: Sequence[Any], body: Body) -> None:
        for name in self._names:
            body.refer(map(attrgetter(name), values))

    def read(self, columns: Columns) -> list[Any]:
        held = [columns.values() for _ in self._names]
        if any(len(one) != columns.count for one in held):
            raise ValueError("a column of another length")
        if issubclass(self._typed, tuple):
            return list(map(self._typed._make, zip(*held, strict=True)))
        there = dict(zip(self._names, held, strict=True))
        there |= {name: [new() for _ in range(columns.count)] for name, new in self._left_out.items()}
        names = field_names(self._typed)
        rows = zip(*(there[name] for name in names), strict=True)
        return [self._typed(**dict(zip(names, row, strict=True))) for row in rows]
