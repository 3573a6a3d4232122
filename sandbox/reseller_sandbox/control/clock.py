"""The clock of a world: look at it, move it, see what is coming."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec.structs import replace

from reseller_sandbox.control.events import followed
from reseller_sandbox.control.local_transport import local_transport
from reseller_sandbox.control.records import client_of
from reseller_sandbox.control.resource import Resource, Subscription, read, stream, write
from reseller_sandbox.control.results import (
    PerSecond,
    RegistryEventRecord,
    Result,
    Since,
    event_record,
    record_of,
)
from reseller_sandbox.registry import refusals, timers
from reseller_sandbox.registry.clock import later, real_now, wire
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.model import OUTSIDE, Order, Stage
from reseller_sandbox.registry.names import to_unicode
from reseller_sandbox.registry.parameters import record
from reseller_sandbox.registry.refusals import INVALID_NAME, INVALID_PARAMETER, SET_BACK, Refused
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.registry.third_parties import account_called
from reseller_sandbox.registry.values import Instant, Length, Switch, Text, by_key, choice, either, whole
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.worlds import World
from reseller_sandbox.worlds.eventlog import Event
from reseller_sandbox.worlds.snapshot import BY_ITSELF, Journey, to_next_due, until_event, until_stage
from reseller_sandbox.worlds.snapshot import to as travel_to

#: How many coming events are listed at the most.
MOST_DUE = 1000

Listed = Annotated[int, whole(0, 100_000), "How many of the events to list, the first ones."]


class Reaches(TypedDict, total=False):
    """An order and the stage that it is to reach; ``account`` says whose, if several accounts have one."""

    domain: Required[Text]
    stage: Required[Annotated[str, choice(*(stage.value for stage in Stage))]]
    account: Text


class Occurs(TypedDict, total=False):
    """An event, by its kind; with ``domain`` or ``account``, only one about those."""

    event: Required[Annotated[str, choice(*timers.names())]]
    domain: Text
    account: Text


Until = Annotated[
    Literal["next"] | Reaches | Occurs,
    either(choice("next"), by_key("event", record(Occurs), record(Reaches))),
]


class Shows(Result, frozen=True, kw_only=True):
    """What a clock shows, and whether it stands still."""

    now: datetime
    frozen: bool


class Moved(Shows, frozen=True, kw_only=True):
    """What the clock shows after a move, and what came due on the way, in order; ``total`` counts it all.

    After a dry run: what it would show, and what would come due.
    """

    dry_run: bool
    total: int
    events: tuple[RegistryEventRecord, ...]


class Coming(Result, frozen=True, kw_only=True):
    """What is coming, the soonest first; ``total`` counts the whole calendar."""

    now: datetime
    total: int
    due: tuple[RegistryEventRecord, ...]


class Tick(Shows, frozen=True, kw_only=True):
    """What the clock shows after it was moved, stopped or let run, or when something came due.

    ``number`` and ``name`` are those of the event, ``registry_event`` is what came due.
    """

    number: int
    name: str
    registry_event: RegistryEventRecord | None

    @property
    def mark(self) -> int:
        """Return what ``since`` takes to go on after this record."""
        return self.number

    @property
    def told(self) -> str:
        """Return the tick in one line, for people who watch."""
        about = f" {self.registry_event.subject}" if self.registry_event is not None else ""
        return f"{wire(self.now)} {'frozen' if self.frozen else 'running'} {self.name}{about}"


class Clock(Resource):
    """Time in this world: look at it, move it, see what is coming."""

    @property
    def now(self) -> datetime:
        """Return the time in the world."""
        return self.show().now

    @property
    def frozen(self) -> bool:
        """Whether it moves only when told."""
        return self.show().frozen

    @read()
    def show(self) -> Shows:
        """Return what the clock shows, and whether it stands still."""
        return _shows(local_transport(self).world)

    @write()
    def freeze(self) -> Shows:
        """Stop the clock; it then moves only when told."""
        local_transport(self).world.freeze()
        return _shows(local_transport(self).world)

    @write()
    def run(self) -> Shows:
        """Let the clock run on with the machine's."""
        local_transport(self).world.run()
        return _shows(local_transport(self).world)

    @write(SET_BACK, long=True)
    def set(self, to: Instant, *, limit: Listed = 1000) -> Moved:
        """Set the clock to an instant, now or later; all that is due by then happens, each at its time.

        Args:
            to: ISO 8601, in UTC where it names no zone.
        """
        return _moved(
            local_transport(self).world, _journey(local_transport(self).world.state, None, to, None), limit
        )

    def follow(self) -> Moved:
        """Go to the time of this process, a test's own where that is frozen or shifted, and run on with it.

        A server in another process goes there too, and runs on by its own clock. Refuse as ``set`` does.
        """
        moved = self.set(real_now())
        return replace(moved, frozen=self.run().frozen)

    @write(
        SET_BACK,
        refusals.NOTHING_DUE,
        refusals.NOT_HELD,
        INVALID_NAME,
        refusals.UNKNOWN_ACCOUNT,
        long=True,
        one_of=("by", "to", "until"),
    )
    def advance(
        self,
        by: Length | None = None,
        *,
        to: Instant | None = None,
        until: Until | None = None,
        dry_run: Switch = False,
        limit: Listed = 1000,
    ) -> Moved:
        """Move the clock on; everything that comes due happens, each thing at its own instant.

        Args:
            by: How far: ``P30D``, ``90m``, or seconds.
            to: The instant to move to.
            until: ``next``, for the next due event; a domain and the stage that it is to reach (in a shell:
                ``domain=shop.com,stage=overdue``); or an event by its kind, about a domain or an account if
                one is named.
            dry_run: Only say what would happen, and change nothing.
        """
        world = local_transport(self).world
        return _moved(world, _journey(world.state, by, to, until), limit, dry_run=dry_run)

    @read(INVALID_NAME, long=True)
    def due(self, *, limit: Annotated[int, whole(1, MOST_DUE)] = 100, domain: Text | None = None) -> Coming:
        """Return what is coming, the soonest first: each event as it would be if it came next.

        Args:
            limit: How many events to list.
            domain: The name whose events alone are listed.
        """
        snapshot = local_transport(self).world.present()
        known = (
            snapshot.state.calendar if domain is None else timers.about(snapshot.state, parse_name(domain))
        )

        def foreseen(due: timers.Due) -> list[RegistryEvent]:  # on a draft that is not committed
            return timers.fire(Draft(snapshot.state, due[0], snapshot.assumptions, "", BY_ITSELF), due)

        coming = [one for due in islice(known, limit) for one in foreseen(due)]
        shown = tuple(event_record(snapshot.state, one) for one in coming)
        return Coming(now=snapshot.clock.now(), total=len(snapshot.state.calendar), due=shown)

    @stream()
    def watch(self, *, since: Since | None = None, per_second: PerSecond | None = None) -> Subscription[Tick]:
        """Yield what the clock shows when it is moved, stopped or let run, and when something comes due."""
        world = local_transport(self).world
        return followed("clock", world, _ticks, lambda event: _tick(world, event), since, per_second)


def _ticks(event: Event) -> bool:
    """Whether the clock is concerned."""
    return event.registry_event is not None or any(name.startswith("clock.") for name, _, _ in event.changed)


def _tick(world: World, event: Event) -> Tick:
    changed = {name: after for name, _, after in event.changed if name.startswith("clock.")}
    return record_of(
        Tick,
        event,
        now=changed.get("clock.now", event.at),
        frozen=changed.get("clock.frozen", world.clock.frozen),
        registry_event=event.registry_event and event_record(world.state, event.registry_event),
    )


def _shows(world: World) -> Shows:
    return Shows(now=world.now(), frozen=world.clock.frozen)


def _moved(world: World, journey: Journey, limit: int, *, dry_run: bool = False) -> Moved:
    reached, happened = world.travel(journey, dry=dry_run)
    return Moved(
        now=reached.clock.now(),
        frozen=reached.clock.frozen,
        dry_run=dry_run,
        total=len(happened),
        events=tuple(event_record(reached.state, one) for one in happened[:limit]),
    )


def _journey(state: State, by: Any, instant: Any, until: Any) -> Journey:
    """Return the journey that the one of the three describes which is told."""
    if by is not None:
        return travel_to(lambda now: _later(now, by))
    if instant is not None:
        return travel_to(lambda _: instant)
    if until == "next":
        return to_next_due
    domain, account = until.get("domain"), until.get("account")
    name = parse_name(domain) if domain is not None else None
    if "event" in until:
        return until_event(until["event"], name, client_of(state, account))
    assert name is not None
    order = _order(state, name, account)
    return until_stage(order.id, order.name, Stage(until["stage"]))


def _later(now: datetime, by: Any) -> datetime:
    try:
        return later(now, by)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"by is too long: {problem}") from None


def _order(state: State, name: str, account: str | None) -> Order:
    """Return the account's order for a name; else that of the only account which has one, or a stranger's."""
    numbers = sorted(state.accounts) if account is None else [account_called(state, account).client_id]
    found = {owner: state.own_order[owner, name] for owner in numbers if (owner, name) in state.own_order}
    local_transport = {owner: number for owner, number in found.items() if owner != OUTSIDE} or found
    if not local_transport:
        raise Refused(refusals.NOT_HELD, name=to_unicode(name))
    if len(local_transport) > 1:
        owners = ", ".join(state.accounts[owner].name for owner in local_transport)
        problem = f"until.account is missing: {to_unicode(name)} has orders of {owners}"
        raise Refused(INVALID_PARAMETER, problems=problem)
    return state.orders[next(iter(local_transport.values()))]
