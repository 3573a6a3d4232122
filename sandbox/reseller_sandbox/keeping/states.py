"""States as what they change in another: worlds and their moments share most of what they hold.

Which records differ is known where one request led from a state to the next, or is found out by comparing the
tables that two states do not share. Indexes follow from the records, and are not compared.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import is_
from typing import Any

from msgspec.structs import replace
from rpds import Queue

from reseller_sandbox.core.state import Change, State, changed
from reseller_sandbox.core.tables import TABLES
from reseller_sandbox.keeping.codec import Body, Columns, Sort, Writer
from reseller_sandbox.worlds.diff import changes
from reseller_sandbox.worlds.eventlog import Event
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.kept import KeptWorld

#: What a state says of itself, beside its records and the indexes that follow from them.
OWN = ("seed", "contact_params", "permits", "counters")

_TABLES = tuple(table.name for table in TABLES.values())


class States:
    """Writes the states of worlds, one after the other."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._kind = StateChanges()
        self._holding: dict[int, State] = {}

    def take(self, world: KeptWorld) -> None:
        """Write every state of a world that has not been written."""
        before: State | None = None
        for state, led in _states(world):
            if not self._writer.knows(state):
                self._take(state, before, led)
                for name in _TABLES:
                    self._holding.setdefault(id(getattr(state, name)), state)
            before = state

    def _take(self, state: State, before: State | None, led: Sequence[Change] | None) -> None:
        if before is None or led is None:
            before, led = self._nearest(state, before), None
        if before is None:
            self._writer.number(state)
            return
        found = list(changes(before, state)) if led is None else led
        if led is None and 2 * len(found) > sum(len(getattr(state, name)) for name in _TABLES):
            self._writer.number(state)
            return
        gone = tuple(one.before for one in found if one.after is None)
        self._kind.put(
            self._writer, state, before, gone, tuple(one.after for one in found if one.after is not None)
        )

    def _nearest(self, state: State, before: State | None) -> State | None:
        """Return the state to compare this one with: one with the same largest table, or that before it."""
        tables = sorted((getattr(state, name) for name in _TABLES), key=len, reverse=True)
        same = self._holding.get(id(tables[0]))
        if same is not None or before is not None:
            return same or before
        return next((self._holding[id(one)] for one in tables if len(one) and id(one) in self._holding), None)


def _states(world: KeptWorld) -> Iterator[tuple[State, Sequence[Change] | None]]:
    """Yield the states of a world, each with what changed since the one before it, where that is known."""
    yield world.first.state, None
    yield world.origin.state, None
    for kept in (*world.snapshots, *world.branches):
        yield from _of_entries(kept.entries)
        yield kept.moment.state, None
    yield from _of_entries(world.entries)
    yield world.moment.state, None


def _of_entries(entries: Iterable[Entry]) -> Iterator[tuple[State, Sequence[Change] | None]]:
    for entry in entries:
        yield entry.before.state, None
        yield entry.after.state, entry.changes if _led_alone(entry) else None


def _led_alone(entry: Entry) -> bool:
    """Whether nothing but the request itself led from the moment before it to that after it."""
    before, after = entry.before, entry.after
    alone = after.requests == before.requests + 1 and after.log.kept is before.log.kept
    return alone and not entry.faults


class StateChanges(Sort):
    """A state by another, what it has no longer, what it has instead or beside that, and its own fields."""

    name = "changed State"

    def put(self, writer: Writer, state: State, base: State, gone: Sequence[Any], new: Sequence[Any]) -> None:
        """Write ``state`` as a change of ``base``."""
        body = Body(writer)
        for values in ([base], gone, new, [getattr(state, name) for name in OWN]):
            body.refer(values)
        (number,) = writer.write(self, [state], body)
        writer.note(state, number)

    def read(self, columns: Columns) -> list[Any]:
        (base,) = columns.values()
        state = changed(base, columns.values(), columns.values())
        return [replace(state, **dict(zip(OWN, columns.values(), strict=True)))]


class Queues(Sort):
    """The events that a log keeps: most logs hold those of another, without its oldest and with some new."""

    name = "queue"

    def __init__(self) -> None:
        self._last: tuple[Any, Sequence[Event], int] = (None, (), 0)

    def write(self, writer: Writer, values: Sequence[Any]) -> Iterable[int]:
        """Write each queue by the one that was written last, if it holds some of its events."""
        return [self._one(writer, queue) for queue in values]

    def _one(self, writer: Writer, queue: Queue[Event]) -> int:
        events = tuple(queue)
        _, held, number = self._last
        dropped = _overlap(held, events)
        body = Body(writer)
        body.add(array("I", [number if dropped is not None else 0]))
        body.add(array("I", [dropped or 0]))
        body.refer(events if dropped is None else events[len(held) - dropped :])
        (made,) = writer.write(self, [queue], body)
        self._last = queue, events, made
        return made

    def read(self, columns: Columns) -> list[Any]:
        """Return the queue of a block."""
        (base,), (dropped,), new = columns.values(), columns.numbers(), columns.values()
        if base is None:
            return [Queue(new)]
        for _ in range(dropped):
            base = base.dequeue()
        for event in new:
            base = base.enqueue(event)
        return [base]


def _overlap(held: Sequence[Event], events: Sequence[Event]) -> int | None:
    """Return how many of those held are missing at the beginning of ``events``; None where all are."""
    if not events or not held:
        return None
    dropped = next((at for at, one in enumerate(held) if one is events[0]), None)
    if dropped is None or len(held) - dropped > len(events):
        return None
    return dropped if all(map(is_, held[dropped:], events)) else None
