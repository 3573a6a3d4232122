"""The event log: what has changed a world beside its requests, in one line with them.

Control calls, what fired and the scheduled actions that struck each have a number in that line, as requests
have, and name the one that brought them about. The log is part of the world's moment: it goes back with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace
from rpds import Queue

from reseller_sandbox.registry.events import RegistryEvent

Kind = Literal["request", "control", "time", "scheduled"]


class TimedEvent(NamedTuple):
    """Something that has just happened by itself; ``scheduled`` is the number of the scheduled action that
    it was."""

    registry_event: RegistryEvent
    scheduled: int | None


class Event(Struct, frozen=True, kw_only=True):
    """One thing that changed a world.

    ``number`` is its place in the world's line, ``cause`` that of what brought it about: the control call
    that moved the clock, or the request that a scheduled action waited for; None for what a running clock
    made due. ``name`` is the operation or the happening, ``given`` what a control call was told, ``changed``
    the settings that it changed (name, before, after), and ``effect`` what else came of it.
    """

    number: int
    at: datetime
    kind: Kind
    name: str
    cause: int | None = None
    registry_event: RegistryEvent | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    changed: Sequence[tuple[str, Any, Any]] = ()
    effect: Mapping[str, Any] = field(default_factory=dict)


class EventLog(Struct, frozen=True):
    """The latest events up to ``limit`` of them, and how many there have been, requests included.

    ``cause`` is the number of what is going on, where that brings others about. ``line`` tells apart the
    lines of a world that has begun again with other fixtures.
    """

    limit: int = 10_000
    number: int = 0
    dropped: int = 0
    cause: int | None = None
    line: int = 0
    kept: Queue[Event] = field(default_factory=Queue)

    def counted(self) -> EventLog:
        """Return the log with a number given away: to a request, or to what will be noted when it is done."""
        return replace(self, number=self.number + 1)

    def during(self, cause: int | None) -> EventLog:
        """Return the log while ``cause`` is going on."""
        return replace(self, cause=cause)

    def with_events(self, events: Sequence[TimedEvent]) -> EventLog:
        """Return the log with what has happened by itself, or by a scheduled action."""
        skipped = max(len(events) - self.limit, 0)  # what would be dropped at once
        log = replace(self, number=self.number + skipped, dropped=self.dropped + skipped)
        return log.noted(
            [
                Event(
                    number=number,
                    at=registry_event.at,
                    kind="time" if scheduled is None else "scheduled",
                    name=registry_event.event,
                    cause=self.cause,
                    registry_event=registry_event,
                    effect={} if scheduled is None else {"scheduled": scheduled},
                )
                for number, (registry_event, scheduled) in enumerate(events[skipped:], log.number + 1)
            ]
        )

    def noted(self, events: Sequence[Event]) -> EventLog:
        """Return the log with more events, and without the oldest when there are too many."""
        kept, count, dropped = self.kept, len(self.kept), self.dropped
        for event in events:
            kept = kept.enqueue(event)
            count += 1
            if count > self.limit:
                kept = kept.dequeue()  # type: ignore[call-arg]  # the stubs want a value
                count, dropped = count - 1, dropped + 1
        number = max([self.number, *(event.number for event in events)])
        return replace(self, kept=kept, dropped=dropped, number=number)

    def since(self, earlier: EventLog) -> tuple[Event, ...]:
        """Return what has been noted since ``earlier``, from which this log has come."""
        count = len(self.kept) + self.dropped - len(earlier.kept) - earlier.dropped
        return tuple(islice(self.kept, max(len(self.kept) - count, 0), None)) if count > 0 else ()

    @property
    def events(self) -> tuple[Event, ...]:
        """The events in the order of their numbers."""
        return tuple(sorted(self.kept, key=lambda event: event.number))


class LoggedAction(Struct):
    """A control call in the making: what it is told, and what it does as far as is known.

    ``number`` is its place in the world's line, as soon as it has one. ``forgotten`` is whether the log
    leaves it out: the world is as it began, or is not the one that it changes.
    """

    name: str
    given: Mapping[str, Any]
    number: int | None = None
    registry_event: RegistryEvent | None = None
    effect: dict[str, Any] = field(default_factory=dict)
    forgotten: bool = False
