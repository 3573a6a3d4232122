"""The events of a world in one line: requests, control calls, timers, scheduled actions that were
carried out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from math import inf
from typing import Annotated, Any, TypedDict, TypeVar, Unpack

from reseller_sandbox.control.local_transport import local_transport
from reseller_sandbox.control.resource import Resource, Subscription, read, stream
from reseller_sandbox.control.results import (
    Number,
    PerSecond,
    RegistryEventRecord,
    Result,
    Setting,
    Since,
    event_record,
    latest,
    record_of,
    settings_of,
)
from reseller_sandbox.registry.clock import wire
from reseller_sandbox.registry.patterns import Glob
from reseller_sandbox.registry.refusals import INVALID_NAME
from reseller_sandbox.registry.state import State
from reseller_sandbox.registry.values import TEXT, choice, whole
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.worlds import Entry, World, redact
from reseller_sandbox.worlds.eventlog import Event
from reseller_sandbox.worlds.feed import Come, Follower

T = TypeVar("T")

#: How many events are listed at the most, and by default.
MOST, LISTED = 500, 100

#: The largest number of pieces in which the records of a second are sent, where their number is limited.
PIECES = 4


class EventFilter(TypedDict, total=False):
    """Which events match."""

    kind: Annotated[
        str,
        choice("request", "control", "time", "scheduled"),
        "Only requests, control calls, what time does by itself, or scheduled actions.",
    ]
    name: Annotated[
        str, TEXT, "A pattern, with * and ?, of operations and events: v3.*, clock.advance, expiry."
    ]
    domain: Annotated[str, TEXT, "Only what is about this name."]


class LogRecord(Result, frozen=True, kw_only=True):
    """One thing that changed the world, or asked something of it.

    ``number`` is its place in the line of all of them, ``cause`` that of what caused it: the control
    call that moved the clock, or the request that a scheduled action waited for. ``name`` is the operation
    of a request or a control call, or the event. ``given`` is what a control call was told and ``changed``
    the settings that it changed, ``registry_event`` what happened in the registry, and ``effect`` what else
    came of it; for a request that is its id, under which the journal has it, and its outcome.
    """

    number: int
    at: datetime
    kind: str
    name: str
    cause: int | None
    registry_event: RegistryEventRecord | None
    given: Mapping[str, Any]
    changed: tuple[Setting, ...]
    effect: Mapping[str, Any]

    @property
    def mark(self) -> int:
        """Return what ``since`` takes to go on after this record."""
        return self.number

    @property
    def told(self) -> str:
        """Return the event in one line, for people who watch."""
        about = f" {self.registry_event.subject}" if self.registry_event is not None else ""
        told = ", ".join(f"{name}={value}" for name, value in {**self.given, **self.effect}.items())
        return f"{wire(self.at)} {self.number} {self.kind} {self.name}{about}" + (f": {told}" if told else "")


class EventsFound(Result, frozen=True, kw_only=True):
    """The latest matching events, oldest first.

    ``matching`` counts all of those, ``kept`` what the world remembers, ``dropped`` what it has forgotten.
    """

    events: tuple[LogRecord, ...]
    matching: int
    kept: int
    dropped: int


class LocalSubscription(Subscription[T]):
    """What happens in a world of this process: what ``show`` makes of that which is ``wanted``.

    Streams with the same ``key`` want and show the same. With ``per_second`` no more than so many of the
    latest are shown in a second: whoever only looks on costs next to nothing, however much there is.
    """

    def __init__(
        self,
        key: str,
        follower: Follower,
        wanted: Callable[[Any], bool],
        show: Callable[[Any], T],
        per_second: int | None = None,
    ) -> None:
        self.follower = follower
        self._key = key
        self._wanted = wanted
        self._show = show
        self._per_second = per_second
        self._left_out = 0
        self._ready: deque[T] = deque()
        #: How many seconds to leave before more is taken.
        self.pause = 0.0

    def written(self, write: Callable[[T], bytes], most: float = inf) -> list[bytes]:
        """Return the next records as bytes; streams with the same key share the result of ``write``.

        The rest is left for the next time as soon as there are ``most`` bytes.
        """
        found, size, taken = [], 0, self._come()
        for number, come in enumerate(taken, 1):
            key = self._key, write
            if key not in come.shown:
                come.shown[key] = write(self._show(come.thing)) if self._wanted(come.thing) else b""
            found.append(come.shown[key])
            size += len(come.shown[key])
            if size >= most and number < len(taken) and self._per_second is None:
                self.follower.put_back(taken[number:])
                break
        return found

    def _come(self) -> list[Come]:
        """Return what has come, or the latest of that, as much as there may be in a piece."""
        come = self.follower.take()
        if self._per_second is None:
            return come
        come = [one for one in come if self._wanted(one.thing)]
        told = come[-max(self._per_second // PIECES, 1) :]
        self._left_out += len(come) - len(told)
        self.pause = len(told) / self._per_second
        return told

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Return how many records came too fast."""
        return self.follower.missed + self._left_out

    def __next__(self) -> T:
        while not self._ready:
            self.follower.rest(self.pause)
            things = (come.thing for come in self._come())
            self._ready.extend(self._show(one) for one in things if self._wanted(one))
            if not self._ready:
                if self.follower.ended:
                    raise StopIteration
                self.follower.wait()
        return self._ready.popleft()

    def close(self) -> None:
        """Stop following."""
        self.follower.close()


class Events(Resource):
    """What has changed this world, in one line: requests, control calls, timers, scheduled
    actions."""

    @read(INVALID_NAME, long=True)
    def find(
        self,
        *,
        since: Since = 0,
        before: Number | None = None,
        cause: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **sought: Unpack[EventFilter],
    ) -> EventsFound:
        """Return the latest matching events, each with its cause and its effect.

        Args:
            since: Only what came after the event of this number.
            before: Only what came before the event of this number, to turn pages back.
            cause: Only what the event of this number caused.
            limit: How many of the latest to list.
        """
        world = local_transport(self).world
        world.settle()
        wanted = _wanted(**sought)
        with world.lock:
            log, entries = world.snapshot.log, world.journal.entries
        known = _in_line(entries, log.events)
        found = [
            event
            for event in known
            if event.number > since
            and (before is None or event.number < before)
            and cause in (None, event.cause)
            and wanted(event)
        ]
        state = world.state
        listed = tuple(_shown(event, state) for event in latest(found, limit))
        dropped = log.dropped + world.journal.dropped
        return EventsFound(events=listed, matching=len(found), kept=len(known), dropped=dropped)

    @stream(INVALID_NAME)
    def follow(
        self,
        *,
        since: Since | None = None,
        per_second: PerSecond | None = None,
        **sought: Unpack[EventFilter],
    ) -> Subscription[LogRecord]:
        """Yield each matching event as it happens."""
        world, key = local_transport(self).world, f"events {sorted(sought.items())}"
        return followed(
            key, world, _wanted(**sought), lambda event: _shown(event, world.state), since, per_second
        )


def followed(
    key: str,
    world: World,
    wanted: Callable[[Event], bool],
    show: Callable[[Event], T],
    since: int | None,
    per_second: int | None,
) -> LocalSubscription[T]:
    """Return what ``show`` makes of events as they happen; first of those after the number ``since``."""
    with world.lock:
        world.settle()
        follower, entries = world.journal.follow()
        known = _in_line(entries, world.snapshot.log.events)
    follower.begin(event for event in known if since is not None and event.number > since)
    return LocalSubscription(
        key,
        follower,
        lambda one: wanted(_request(one) if isinstance(one, Entry) else one),
        lambda one: show(_request(one) if isinstance(one, Entry) else one),
        per_second,
    )


def _wanted(
    kind: str | None = None, name: str | None = None, domain: str | None = None
) -> Callable[[Event], bool]:
    """Return a function that says whether an event matches; refuse with ``invalid_name``."""
    named = Glob(name) if name is not None else None
    about = parse_name(domain) if domain is not None else None

    def wanted(event: Event) -> bool:
        return (
            kind in (None, event.kind)
            and (named is None or named.matches(event.name))
            and (about is None or about in _domains(event))
        )

    return wanted


def _in_line(entries: Iterable[Entry], events: Iterable[Event]) -> list[Event]:
    """Return requests and all other events in the order of their numbers."""
    return sorted([*map(_request, entries), *events], key=lambda event: event.number)


def _request(entry: Entry) -> Event:
    effect = {
        "request": entry.id,
        "account": entry.account,
        "domains": list(entry.domains),
        "carried_out": entry.carried_out,
        "outcome": entry.outcome,
        "status": entry.status,
        "changes": len(entry.changes),
    }
    return Event(number=entry.step, at=entry.at, kind="request", name=entry.operation, effect=effect)


def _domains(event: Event) -> Iterator[str]:
    if event.registry_event is not None:
        yield event.registry_event.subject
    yield from event.effect.get("domains", ())


def _shown(event: Event, state: State) -> LogRecord:
    return record_of(
        LogRecord,
        event,
        registry_event=event.registry_event and event_record(state, event.registry_event),
        given=redact.masked(redact.plain(event.given)),
        changed=settings_of(event.changed),
        effect=redact.plain(event.effect),
    )
