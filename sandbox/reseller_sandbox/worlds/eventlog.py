"""The event log: every change to a world except requests.

Control calls, timed events and scheduled actions share one sequence of numbers with the requests. Each event
names its cause. The log is part of the snapshot of a world, so a rewind takes the log back too.
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
    """A registry event that time or a scheduled action caused.

    ``scheduled`` is the number of the scheduled action, or None.
    """

    registry_event: RegistryEvent
    scheduled: int | None


class Event(Struct, frozen=True, kw_only=True):
    """One change to a world.

    ``number`` is its place in the sequence of the world. ``cause`` is the number of its cause: the control
    call that moved the clock, or the request that triggered a scheduled action. It is None for an event that
    a running clock made due. ``name`` is the operation or the kind of event. ``parameters`` are those of a
    control call. ``changed`` holds the changed settings (name, before, after), and ``effect`` any other
    results.
    """

    number: int
    at: datetime
    kind: Kind
    name: str
    cause: int | None = None
    registry_event: RegistryEvent | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    changed: Sequence[tuple[str, Any, Any]] = ()
    effect: Mapping[str, Any] = field(default_factory=dict)


class EventLog(Struct, frozen=True):
    """The latest events, at most ``limit``, and the count of events and requests.

    ``cause`` is the number of the current control call or request, if it can cause other events. ``line``
    distinguishes the sequences of a world that was restarted from another fixture.
    """

    limit: int = 10_000
    number: int = 0
    dropped: int = 0
    cause: int | None = None
    line: int = 0
    kept: Queue[Event] = field(default_factory=Queue)

    def counted(self) -> EventLog:
        """Return the log with one more number used: for a request, or for a later event."""
        return replace(self, number=self.number + 1)

    def during(self, cause: int | None) -> EventLog:
        """Return the log with ``cause`` as the cause of the next events."""
        return replace(self, cause=cause)

    def with_events(self, events: Sequence[TimedEvent]) -> EventLog:
        """Return the log with events that time or a scheduled action caused."""
        skipped = max(len(events) - self.limit, 0)  # because the limit would drop these at once
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
        """Return the log with more events, without the oldest beyond the limit."""
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
        """Return the events added after ``earlier``, a previous state of this log."""
        count = len(self.kept) + self.dropped - len(earlier.kept) - earlier.dropped
        return tuple(islice(self.kept, max(len(self.kept) - count, 0), None)) if count > 0 else ()

    @property
    def events(self) -> tuple[Event, ...]:
        """The events in the order of their numbers."""
        return tuple(sorted(self.kept, key=lambda event: event.number))


class LoggedAction(Struct):
    """A control call in progress: its arguments and its effects until now.

    ``number`` is its place in the sequence of the world, once it has one. ``forgotten`` is whether the log
    leaves it out, because the world was reset or the call changes another world.
    """

    name: str
    parameters: Mapping[str, Any]
    number: int | None = None
    registry_event: RegistryEvent | None = None
    effect: dict[str, Any] = field(default_factory=dict)
    forgotten: bool = False
