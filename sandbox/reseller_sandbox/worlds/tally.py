"""The tally: what requests to a world and its clock have exercised, whatever becomes of the journal.

It only grows: neither a rewind nor a journal that drops its oldest entries takes anything from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import Struct

from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.state import Change
from reseller_sandbox.faults import Phase

if TYPE_CHECKING:
    from reseller_sandbox.worlds.journal import Entry

T = TypeVar("T")

#: From which stage an order went to which; None is before it began, or after it ended.
Move = tuple[Stage | None, Stage | None]


class Exercise(NamedTuple):
    """What a request exercised; requests of which all this is the same are counted as one kind.

    ``stage`` is that of the name it was about, before it. ``rule`` is by what it was refused, ``error`` what
    the client was told, as faults name it, and ``injected`` whether a fault made that up.
    """

    operation: str
    stage: Stage | None
    carried_out: bool
    rule: str
    error: str
    injected: bool
    moves: tuple[Move, ...]
    faults: tuple[tuple[str, Phase], ...]
    assumed: tuple[tuple[str, object], ...]


#: What happened by itself, and the stage at which the order was before it.
Passed = tuple[str, Stage | None]

#: What requests have exercised, how often and which first; and what has happened by itself, how often.
Counts = tuple[tuple[tuple[Exercise, int, str], ...], tuple[tuple[Passed, int], ...]]


class Counted(Struct):
    """How often something was exercised, and by which request for the first time: ``default/r12``."""

    times: int
    first: str


class Tally:
    """What has been exercised in the world called ``world``, or in several."""

    def __init__(self, world: str = "") -> None:
        self._world = world
        self._requests: dict[Exercise, Counted] = {}
        self._events: dict[Passed, Counted] = {}

    @property
    def requests(self) -> Iterator[tuple[Exercise, Counted]]:
        """What requests have exercised."""
        return iter(list(self._requests.items()))

    @property
    def events(self) -> Iterator[tuple[Passed, Counted]]:
        """What has happened by itself, each with the stage at which the order was before it."""
        return iter(list(self._events.items()))

    def note(self, entry: Entry) -> None:
        """Count a request."""
        exercise = Exercise(
            entry.operation,
            entry.stage,
            entry.carried_out,
            entry.refused.rule.code if entry.refused is not None else "",
            entry.error,
            entry.lost and bool(entry.error),
            _moves(entry.changes) if entry.changes else (),
            tuple((rule.kind.name, rule.phase) for rule in entry.faults) if entry.faults else (),
            entry.assumed,
        )
        _count(self._requests, exercise, 1, entry.id, self._world)

    def note_events(self, fired: Iterable[Happening]) -> None:
        """Count what has happened by itself."""
        for one in fired:
            _count(self._events, (one.event, one.stage), 1)

    def take(self, other: Tally) -> None:
        """Add what ``other`` has counted."""
        self.add(other.counts())

    def counts(self) -> Counts:
        """Return what has been counted, as a value."""
        requests = tuple((one, seen.times, seen.first) for one, seen in self.requests)
        return requests, tuple((event, seen.times) for event, seen in self.events)

    def add(self, counts: Counts) -> None:
        """Add what has been counted elsewhere."""
        requests, events = counts
        for exercise, times, first in requests:
            _count(self._requests, exercise, times, first)
        for event, times in events:
            _count(self._events, event, times)

    def clear(self) -> None:
        """Forget everything."""
        self._requests.clear()
        self._events.clear()


def _count(counts: dict[T, Counted], key: T, times: int, request: str = "", world: str = "") -> None:
    seen = counts.get(key)
    if seen is None:
        counts[key] = Counted(times, f"{world}/{request}" if world else request)
    else:
        seen.times += times


def _moves(changes: Sequence[Change]) -> tuple[Move, ...]:
    """Return between which stages orders have gone."""
    orders = [(change.before, change.after) for change in changes if change.table == "orders"]
    stages = [(before and before.stage, after and after.stage) for before, after in orders]
    return tuple([(earlier, later) for earlier, later in stages if earlier is not later])
