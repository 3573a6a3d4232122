"""Snapshots of a world: how they advance in time, and how they differ.

The event log of a snapshot lists every change to the world except requests. Control calls, timed events and
scheduled actions share one sequence of numbers with the requests. Each event names its cause. A rewind takes
the log back too.

No function in this module changes a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import islice, takewhile
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace
from rpds import Queue

from reseller_sandbox.answers import CannedAnswer
from reseller_sandbox.faults import FaultBook
from reseller_sandbox.fixture.responses import written_answers, written_faults
from reseller_sandbox.refusals import NOTHING_DUE, SET_BACK, Refused
from reseller_sandbox.registry import timers
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.indexes import TABLES
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import Change, Draft, State
from reseller_sandbox.registry.stepwise import begin_step, keys_in_order
from reseller_sandbox.values.clock import LATEST, WorldClock, wire
from reseller_sandbox.values.matching import Request
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.parameters import Quiet

#: The name of the operation in ledger entries that the passing of time causes.
BY_ITSELF = "time"

#: How far ``until_stage`` and ``until_event`` look ahead: twice the longest registration term (10 years).
HORIZON = timedelta(days=366 * 20)


Kind = Literal["request", "control", "time", "scheduled"]


class TimedEvent(Struct, frozen=True, gc=False):
    """A registry event that time or a scheduled action caused.

    ``scheduled`` is the number of the scheduled action, or None.
    """

    registry_event: RegistryEvent
    scheduled: int | None


class Event(Struct, frozen=True, kw_only=True, gc=False):
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

    def with_events(self, events: Sequence[TimedEvent]) -> EventLog:
        """Return the log with events that time or a scheduled action caused."""
        # Skip the events that the limit would drop at once.
        skipped = max(len(events) - self.limit, 0)
        log = replace(self, number=self.number + skipped, dropped=self.dropped + skipped)
        return log.noted(
            [
                Event(
                    number=number,
                    at=event.registry_event.at,
                    kind="time" if event.scheduled is None else "scheduled",
                    name=event.registry_event.event,
                    cause=self.cause,
                    registry_event=event.registry_event,
                    effect={} if event.scheduled is None else {"scheduled": event.scheduled},
                )
                for number, event in enumerate(events[skipped:], log.number + 1)
            ]
        )

    def noted(self, events: Sequence[Event]) -> EventLog:
        """Return the log with ``events`` added, and without the oldest events beyond the limit."""
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


class Snapshot(Quiet, frozen=True):
    """The complete state of a world at one instant.

    A snapshot is immutable, so keeping one costs nothing.
    """

    state: State
    clock: WorldClock
    assumptions: Assumptions
    requests: int = 0
    faults: FaultBook = FaultBook()
    answers: Mapping[str, CannedAnswer] = {}
    log: EventLog = field(default_factory=EventLog)

    def settled(self, until: datetime) -> tuple[Snapshot, list[RegistryEvent]]:
        """Apply all events due by ``until``. Return the new snapshot and the events."""
        state = self.state
        first = state.calendar.first()
        if first is None or first[0] > until:  # Nothing is due: the usual case for a request.
            return self, []
        events: list[TimedEvent] = []
        # A sorted list is a valid heap.
        coming = list(takewhile(lambda due: due[0] <= until, state.calendar))
        draft = Draft(state, first[0], self.assumptions, "", BY_ITSELF)
        while coming:
            begin_step()
            due = heappop(coming)
            if not draft.state.is_due(due):
                continue
            at, kind, key = due
            draft.restart(at, f"event:{kind}:{key}")
            scheduled = key if kind == "scheduled" else None
            events += [TimedEvent(registry_event, scheduled) for registry_event in timers.fire(draft, due)]
            for later in draft.written_due:
                if later[0] <= until:
                    heappush(coming, later)
        return self.after(draft.result(), events), [event.registry_event for event in events]

    def after(self, state: State, events: Sequence[TimedEvent]) -> Snapshot:
        """Return this snapshot with the new ``state``, and with ``events`` in its log."""
        return replace(self, state=state, log=self.log.with_events(events)) if events else self

    def followed(self) -> Snapshot:
        """Return this snapshot with its clock, if it runs, moved to the present."""
        clock = self.clock.caught_up()
        return self if clock is self.clock else replace(self, clock=clock)

    def at(self, instant: datetime) -> Snapshot:
        """Return this snapshot with its clock at ``instant``."""
        clock = self.clock.at(instant)
        return self if clock is self.clock else replace(self, clock=clock)


#: A function that advances a snapshot in time. It returns the new snapshot and the events in between.
Advance = Callable[[Snapshot], tuple[Snapshot, list[RegistryEvent]]]


def to(target: Callable[[datetime], datetime]) -> Advance:
    """Return a function that advances a snapshot to the instant ``target(now)``.

    The function refuses with ``set_back`` if that instant is in the past.
    """

    def go(snapshot: Snapshot) -> tuple[Snapshot, list[RegistryEvent]]:
        now = snapshot.clock.now()
        instant = target(now)
        if instant < now:
            raise Refused(SET_BACK, now=wire(now), to=wire(instant))
        reached, events = snapshot.settled(instant)
        return reached.at(instant), events

    return go


def to_next_due(snapshot: Snapshot) -> tuple[Snapshot, list[RegistryEvent]]:
    """Advance ``snapshot`` to the instant of its next due event.

    Refuse with ``nothing_due`` if there is none.
    """
    settled, events = snapshot.settled(snapshot.clock.now())
    due = settled.state.calendar.first()
    if due is None:
        raise Refused(NOTHING_DUE, reason="no event is due: time alone does not change this world")
    if due[0] > LATEST:
        raise Refused(
            NOTHING_DUE, reason=f"the next event is due after {wire(LATEST)}, the latest time of a clock"
        )
    reached, more = settled.settled(due[0])
    return reached.at(due[0]), events + more


def until_stage(order: int, name: str, stage: Stage) -> Advance:
    """Return a function that advances a snapshot until time brings the order to ``stage``.

    The function refuses with ``nothing_due`` if time never does.
    """
    reason = f"time alone does not bring {to_unicode(name)} to {stage.value}"

    def is_reached(snapshot: Snapshot, _: Sequence[RegistryEvent]) -> bool:
        held = snapshot.state.orders.get(order)
        if held is None and stage is not Stage.RELEASED:
            raise Refused(NOTHING_DUE, reason=reason)
        return held is None or held.stage is stage

    return _until(is_reached, reason)


def until_event(event: str, name: str | None = None, account: int | None = None) -> Advance:
    """Return a function that advances a snapshot to the next event called ``event``.

    ``name`` and ``account`` restrict the events. The function refuses with ``nothing_due`` if there is none.
    """
    about = f" of {to_unicode(name)}" if name is not None else ""

    def is_reached(_: Snapshot, events: Sequence[RegistryEvent]) -> bool:
        return any(
            later.event == event and name in (None, later.subject) and account in (None, later.account)
            for later in events
        )

    return _until(is_reached, f"time alone does not lead to {event}{about} in {HORIZON.days // 366} years")


def _until(is_reached: Callable[[Snapshot, Sequence[RegistryEvent]], bool], reason: str) -> Advance:
    """Return a function that advances a snapshot event by event until ``is_reached`` is true.

    ``is_reached`` receives the snapshot and the latest events. The function refuses with ``reason``.
    """

    def go(snapshot: Snapshot) -> tuple[Snapshot, list[RegistryEvent]]:
        now = snapshot.clock.now()
        reached, events = snapshot.settled(now)
        instant, furthest = now, min(now + HORIZON, LATEST)
        latest = list(events)
        while not is_reached(reached, latest):
            due = reached.state.calendar.first()
            if due is None or due[0] > furthest:
                raise Refused(NOTHING_DUE, reason=reason)
            instant = due[0]
            reached, latest = reached.settled(instant)
            events += latest
        return reached.at(instant), events

    return go


def after_request(request: Request) -> Advance:
    """Return a function that applies the actions scheduled after ``request`` to a snapshot.

    The clock does not move.
    """

    def go(snapshot: Snapshot) -> tuple[Snapshot, list[RegistryEvent]]:
        state, now = snapshot.state, snapshot.clock.now()
        events: list[TimedEvent] = []
        for action in list(timers.waiting_for(state, request)):
            draft = Draft(state, now, snapshot.assumptions, f"event:plan:{action.id}", BY_ITSELF)
            events.append(TimedEvent(timers.apply_scheduled(draft, action), action.id))
            state = draft.result()
        return snapshot.after(state, events), [event.registry_event for event in events]

    return go


def changes(earlier: State, later: State) -> Iterator[Change]:
    """Yield the change of each record that differs between two states.

    The states can be of two worlds. A table that both states share costs nothing. Every record of any other
    table is compared.
    """
    for table in TABLES.values():
        old, new = getattr(earlier, table.name), getattr(later, table.name)
        if old is new:
            continue
        touched = [key for key, record in new.items() if old.get(key) is not record]
        touched += [key for key in old if key not in new]
        for key in keys_in_order(touched):
            before, after = old.get(key), new.get(key)
            if before != after:
                yield Change(table.name, key, before, after)


def changed_settings(earlier: Snapshot, later: Snapshot) -> Iterator[tuple[str, object, object]]:
    """Yield each setting that differs between two snapshots: its name, old value and new value."""
    pairs = [
        ("clock.now", earlier.clock.instant, later.clock.instant),
        ("clock.frozen", earlier.clock.frozen, later.clock.frozen),
        ("seed", earlier.state.seed, later.state.seed),
    ]
    if earlier.assumptions is not later.assumptions:
        old, new = earlier.assumptions.values(), later.assumptions.values()
        pairs += [(f"assume.{name}", old[name], new[name]) for name in old]
    if earlier.faults is not later.faults:
        pairs += _by_name("faults", written_faults(earlier.faults), written_faults(later.faults))
    if earlier.answers is not later.answers:
        pairs += _by_name("answers", written_answers(earlier.answers), written_answers(later.answers))
    return (pair for pair in pairs if pair[1] != pair[2])


def _by_name(
    setting: str, old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the old and new value of each name in a setting. For equal names, yield both lists of names."""
    for name in dict.fromkeys([*old, *new]):
        yield f"{setting}.{name}", old.get(name), new.get(name)
    if old.keys() == new.keys():
        yield setting, list(old), list(new)
