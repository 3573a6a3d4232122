"""The clock of a world: read it, move it, list due events."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal, Required, TypedDict, Unpack, cast

from dateutil.relativedelta import relativedelta
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.control.events import event_stream
from reseller_sandbox.control.records import client_id_of
from reseller_sandbox.control.resource import Resource, Subscription, read, stream, write
from reseller_sandbox.control.results import (
    PerSecond,
    RegistryEventRecord,
    Result,
    Since,
    changed_by,
    event_record,
    record_of,
)
from reseller_sandbox.refusals import INVALID_NAME, INVALID_PARAMETER, SET_BACK, Refused
from reseller_sandbox.registry import timers
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.indexes import Due
from reseller_sandbox.registry.model import OUTSIDE, Order, Stage
from reseller_sandbox.registry.state import Draft, State, own_order
from reseller_sandbox.registry.third_parties import find_account
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.values.clock import later, real_now, wire
from reseller_sandbox.values.kinds import DAY, Instant, Length, Switch, Text, choice, either, whole
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.parameters import record
from reseller_sandbox.worlds import World
from reseller_sandbox.worlds.snapshot import BY_ITSELF, Advance, Event, to_next_due, until_event, until_stage
from reseller_sandbox.worlds.snapshot import to as travel_to

#: The largest ``limit`` of ``clock.due``.
MOST_DUE = 1000

Listed = Annotated[int, whole(0, 100_000), "Largest number of events to list, earliest first."]


class UntilStage(TypedDict, total=False):
    """Advance until the order for ``domain`` reaches ``stage``.

    ``account`` selects the order if several accounts have one for the domain.
    """

    domain: Required[Text]
    stage: Required[Annotated[str, choice(*(stage.value for stage in Stage))]]
    account: Text


class UntilEvent(TypedDict, total=False):
    """Advance until an event of the kind ``event`` happens.

    If ``domain`` or ``account`` is set, the event must be about it.
    """

    event: Required[Annotated[str, choice(*timers.names())]]
    domain: Text
    account: Text


Until = Annotated[
    Literal["next"] | UntilStage | UntilEvent, either(choice("next"), record(UntilEvent), record(UntilStage))
]


#: The longest time in one unit that ``clock.advance`` adds, in days.
MOST_DAYS = 36_500


class TimeUnits(TypedDict, total=False):
    """The time to add in units, such as ``days=1, hours=12``. Months and years follow the calendar."""

    seconds: Annotated[int, whole(1, MOST_DAYS * DAY), "The time to add, in seconds."]
    minutes: Annotated[int, whole(1, MOST_DAYS * DAY // 60), "The time to add, in minutes."]
    hours: Annotated[int, whole(1, MOST_DAYS * 24), "The time to add, in hours."]
    days: Annotated[int, whole(1, MOST_DAYS), "The time to add, in days."]
    weeks: Annotated[int, whole(1, MOST_DAYS // 7), "The time to add, in weeks."]
    months: Annotated[int, whole(1, MOST_DAYS // 30), "The time to add, in months of the calendar."]
    years: Annotated[int, whole(1, MOST_DAYS // 365), "The time to add, in years of the calendar."]


@changed_by(now="clock.set or clock.advance", frozen="clock.freeze or clock.run")
class ClockState(Result, frozen=True, kw_only=True):
    """The time on a clock, and whether the clock is frozen."""

    now: datetime
    frozen: bool


class ClockMove(ClockState, frozen=True, kw_only=True):
    """The clock after a move, and the events that became due during the move, in order.

    ``total`` counts all events, and ``events`` lists the first ``limit`` events. After a dry run, the record
    describes the move, but the clock has not moved.
    """

    dry_run: bool
    total: int
    events: tuple[RegistryEventRecord, ...]


class DueEvents(Result, frozen=True, kw_only=True):
    """The next due events, soonest first. ``total`` counts all events in the calendar."""

    now: datetime
    total: int
    due: tuple[RegistryEventRecord, ...]


class Tick(ClockState, frozen=True, kw_only=True):
    """The clock after an event in the registry, or after a control call that changed the clock.

    ``number`` and ``name`` are the number and the name of the log event. ``registry_event`` is the event in
    the registry, if there is one.
    """

    number: int
    name: str
    registry_event: RegistryEventRecord | None

    @property
    def mark(self) -> int:
        """Return the value for ``since`` with which a new stream continues after this record."""
        return self.number

    @property
    def line(self) -> str:
        """Return this record as one line of text for a terminal."""
        about = f" {self.registry_event.subject}" if self.registry_event is not None else ""
        return f"{wire(self.now)} {'frozen' if self.frozen else 'running'} {self.name}{about}"


class Clock(Resource):
    """The clock of this world: read the clock, move the clock, and list due events."""

    @property
    def now(self) -> datetime:
        """Return the time in the world."""
        return self.show().now

    @property
    def frozen(self) -> bool:
        """Whether the clock moves only when you move it."""
        return self.show().frozen

    @read("GET clock")
    def show(self) -> ClockState:
        """Return the time on the clock, and whether the clock is frozen."""
        return ClockState(now=self._world.now(), frozen=self._world.clock.frozen)

    @write("POST clock/freeze")
    def freeze(self) -> ClockState:
        """Stop the clock. Afterwards the clock moves only when you move it."""
        self._world.change(clock=self._world.clock.freeze())
        return self.show()

    @write("POST clock/run")
    def run(self) -> ClockState:
        """Let the clock run at the speed of the machine's clock."""
        self._world.change(clock=self._world.clock.run())
        return self.show()

    @write("POST clock/set", SET_BACK, long=True)
    def set(self, to: Instant, *, limit: Listed = 1000) -> ClockMove:
        """Set the clock to an instant that is not before the world's current time.

        Every event that is due by that instant happens at its own time.

        Args:
            to: The instant in ISO 8601. An instant without a time zone is in UTC.
        """
        return _clock_move(self._world, travel_to(lambda _: cast(datetime, to)), limit)

    def follow(self) -> ClockMove:
        """Set the clock to the current time in this Python process, and let the clock run.

        If your test freezes or shifts the time of its process, the world follows that time. A server in
        another process also moves to that time, and then runs by its own clock. Refuse as ``set`` does.
        """
        move = self.set(real_now())
        return replace(move, frozen=self.run().frozen)

    @write(
        "POST clock/advance",
        SET_BACK,
        refusals.NOTHING_DUE,
        refusals.NOT_HELD,
        INVALID_NAME,
        refusals.UNKNOWN_ACCOUNT,
        long=True,
    )
    def advance(
        self,
        by: Length | None = None,
        *,
        to: Instant | None = None,
        until: Until | None = None,
        dry_run: Switch = False,
        limit: Listed = 1000,
        **units: Unpack[TimeUnits],
    ) -> ClockMove:
        """Move the clock forward. Every event that comes due happens at its own time.

        Pass exactly one of these: ``by``, units of time such as ``days``, ``to``, or ``until``. Several units
        add up.

        Args:
            by: The time to add: ``30d``, ``1mo``, ``90m``, ``P30D``, or a number of seconds.
            to: The instant to move to.
            until: The event to stop at. ``next`` is the next due event. To stop when a domain reaches a
                stage, set ``domain`` and ``stage`` (in a shell: ``domain=shop.com,stage=overdue``). To stop
                at a kind of event, set ``event``. You can add ``domain`` or ``account`` to ``event``.
            dry_run: Whether to only predict the events, without moving the clock.
        """
        if [by, units or None, to, until].count(None) != 3:
            known = ", ".join(TimeUnits.__annotations__)
            problem = f"clock.advance takes exactly one of by, units ({known}), to and until"
            raise Refused(INVALID_PARAMETER, problems=problem)
        world = self._world
        if until is not None:
            advance = _advance_until(world.state, until)
        elif to is not None:
            advance = travel_to(lambda _: cast(datetime, to))
        else:
            distance = by if by is not None else relativedelta(**cast(Any, units))
            advance = travel_to(lambda now: _later(now, distance))
        return _clock_move(world, advance, limit, dry_run=dry_run)

    @read("GET clock/due", INVALID_NAME, long=True)
    def due(
        self, *, limit: Annotated[int, whole(1, MOST_DUE)] = 100, domain: Text | None = None
    ) -> DueEvents:
        """Return the next due events, soonest first.

        Each event is predicted as if no other event happened before it.

        Args:
            limit: Largest number of events to list.
            domain: Domain name. List only events of this name.
        """
        world = self._world
        snapshot = world.present()
        calendar = (
            snapshot.state.calendar if domain is None else timers.about(snapshot.state, parse_name(domain))
        )

        # The events happen on a draft that is never committed, so the world does not change.
        def predicted(due: Due) -> list[RegistryEvent]:
            return timers.fire(Draft(snapshot.state, due[0], snapshot.assumptions, "", BY_ITSELF), due)

        events = [event for due in islice(calendar, limit) for event in predicted(due)]
        return DueEvents(
            now=snapshot.clock.now(),
            total=len(snapshot.state.calendar),
            due=tuple(event_record(snapshot.state, event, world.secrecy) for event in events),
        )

    @stream("GET clock/watch")
    def watch(self, *, since: Since | None = None, per_second: PerSecond | None = None) -> Subscription[Tick]:
        """Yield a record when the clock moves, stops or starts, and when an event comes due."""
        world = self._world
        return event_stream("clock", world, _is_tick, lambda event: _tick(world, event), since, per_second)


def _is_tick(event: Event) -> bool:
    """Whether an event changed the clock or happened in the registry."""
    return event.registry_event is not None or any(name.startswith("clock.") for name, _, _ in event.changed)


def _tick(world: World, event: Event) -> Tick:
    changed = {name: after for name, _, after in event.changed if name.startswith("clock.")}
    return record_of(
        Tick,
        event,
        now=changed.get("clock.now", event.at),
        frozen=changed.get("clock.frozen", world.clock.frozen),
        registry_event=event.registry_event
        and event_record(world.state, event.registry_event, world.secrecy),
    )


def _clock_move(world: World, advance: Advance, limit: int, *, dry_run: bool = False) -> ClockMove:
    snapshot, events = world.travel(advance, dry=dry_run)
    return ClockMove(
        now=snapshot.clock.now(),
        frozen=snapshot.clock.frozen,
        dry_run=dry_run,
        total=len(events),
        events=tuple(event_record(snapshot.state, event, world.secrecy) for event in events[:limit]),
    )


def _advance_until(state: State, until: Any) -> Advance:
    """Return the advance to the event ``until``, a value of the kind ``Until``."""
    if until == "next":
        return to_next_due
    domain, account = until.get("domain"), until.get("account")
    name = parse_name(domain) if domain is not None else None
    if "event" in until:
        return until_event(until["event"], name, client_id_of(state, account))
    assert name is not None
    order = _order(state, name, account)
    return until_stage(order.id, order.name, Stage(until["stage"]))


def _later(now: datetime, by: Any) -> datetime:
    try:
        return later(now, by)
    except ValueError as error:
        raise Refused(INVALID_PARAMETER, problems=f"the time to add is too long: {error}") from None


def _order(state: State, name: str, account: str | None) -> Order:
    """Return the order that ``account`` has for the domain ``name``.

    Without ``account``, one account of this service must have an order for the name. If none has one, return
    the order of another registrar.
    """
    client_ids = sorted(state.accounts) if account is None else [find_account(state, account).client_id]
    orders = [order for number in client_ids if (order := own_order(state, number, name)) is not None]
    candidates = [order for order in orders if order.account != OUTSIDE] or orders
    if not candidates:
        raise Refused(refusals.NOT_HELD, name=to_unicode(name))
    if len(candidates) > 1:
        owners = ", ".join(state.accounts[order.account].name for order in candidates)
        problem = f"until.account is missing: {to_unicode(name)} has orders of {owners}"
        raise Refused(INVALID_PARAMETER, problems=problem)
    return candidates[0]
