"""The events of a world: requests, control calls, timers, scheduled actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Annotated, Any, TypedDict, TypeVar, Unpack

from reseller_sandbox.control.resource import Resource, Subscription, read, stream
from reseller_sandbox.control.results import (
    Number,
    PerSecond,
    RegistryEventRecord,
    Result,
    Setting,
    Since,
    event_record,
    record_of,
    setting_records,
)
from reseller_sandbox.refusals import INVALID_NAME
from reseller_sandbox.registry.state import State
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import TEXT, choice, whole
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.worlds import Entry, World, redact
from reseller_sandbox.worlds.journal import FeedRecord, Follower
from reseller_sandbox.worlds.snapshot import Event

T = TypeVar("T")

#: The largest and the default ``limit``.
MOST, LISTED = 500, 100

#: If ``per_second`` is set, a stream sends its records in at most this many pieces a second.
PIECES = 4


class EventFilter(TypedDict, total=False):
    """Filters of events. An event matches if it meets all given filters."""

    kind: Annotated[
        str,
        choice("request", "control", "time", "scheduled"),
        "Kind of the events: requests, control calls, timed events (time) or scheduled actions.",
    ]
    name: Annotated[str, TEXT, "Pattern of operations and events, such as *renew*, clock.* or expiry."]
    domain: Annotated[str, TEXT, "Domain name that the events are about."]


class LogRecord(Result, frozen=True, kw_only=True):
    """One event of a world: a request, a control call, a timed event or a scheduled action.

    ``number`` is the position of the event among all events. ``cause`` is the number of an earlier event: the
    control call that moved the clock, or the request that a scheduled action waited for. ``name`` is the
    operation of a request or a control call. For other events, ``name`` is the kind of event, such as
    ``expiry``. ``parameters`` are the parameters of a control call. ``changed`` lists the settings that the
    control call changed. ``registry_event`` is the event in the registry, if there is one. ``effect`` holds
    all other results. For a request, ``effect`` has the journal id and the outcome of the request.
    """

    number: int
    at: datetime
    kind: str
    name: str
    cause: int | None
    registry_event: RegistryEventRecord | None
    parameters: Mapping[str, Any]
    changed: tuple[Setting, ...]
    effect: Mapping[str, Any]

    @property
    def mark(self) -> int:
        """Return the value for ``since`` with which a new stream continues after this record."""
        return self.number

    @property
    def line(self) -> str:
        """Return this record as one line of text for a terminal."""
        about = f" {self.registry_event.subject}" if self.registry_event is not None else ""
        facts = ", ".join(f"{name}={value}" for name, value in {**self.parameters, **self.effect}.items())
        return f"{wire(self.at)} {self.number} {self.kind} {self.name}{about}" + (
            f": {facts}" if facts else ""
        )


class EventList(Result, frozen=True, kw_only=True):
    """The latest matching events, oldest first.

    ``matching`` counts all matching events. ``kept`` counts the events that the world still has. ``dropped``
    counts the events that the world no longer has. If the journal drops a request that changed a record, the
    request is still an event.
    """

    events: tuple[LogRecord, ...]
    matching: int
    kept: int
    dropped: int


@dataclass(eq=False)
class LocalSubscription(Subscription[T]):
    """A stream of the events in a world of this process.

    It yields ``show(event)`` for each event that ``matches``. Streams with the same ``key`` must have the
    same ``matches`` and ``show``, because they share results. With ``per_second``, the stream yields at most
    that many records each second, the latest ones. A viewer then costs little, even if many events happen.
    """

    key: str
    follower: Follower
    matches: Callable[[Any], bool]
    show: Callable[[Any], T]
    per_second: int | None
    #: Seconds to wait before the next piece.
    pause: float = 0.0
    _left_out: int = 0
    _ready: deque[T] = field(default_factory=deque)

    def written(self, write: Callable[[T], bytes], most: float = inf) -> list[bytes]:
        """Return the next records, each converted to bytes by ``write``.

        Streams with the same key share the result of ``write``. After ``most`` bytes, the next call returns
        the other records.
        """
        pieces, size, events = [], 0, self._take()
        for number, event in enumerate(events, 1):
            key = self.key, write
            if key not in event.shown:
                event.shown[key] = write(self.show(event.record)) if self.matches(event.record) else b""
            pieces.append(event.shown[key])
            size += len(event.shown[key])
            if size >= most and number < len(events) and self.per_second is None:
                self.follower.put_back(events[number:])
                break
        return pieces

    def _take(self) -> list[FeedRecord]:
        """Return the new events. With ``per_second``, drop all but the latest events."""
        events = self.follower.take()
        if self.per_second is None:
            return events
        events = [event for event in events if self.matches(event.record)]
        latest_events = events[-max(self.per_second // PIECES, 1) :]
        self._left_out += len(events) - len(latest_events)
        self.pause = len(latest_events) / self.per_second
        return latest_events

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Return the number of records that the stream skipped because they came too fast."""
        return self.follower.missed + self._left_out

    def __next__(self) -> T:
        while not self._ready:
            self.follower.pause(self.pause)
            records = (event.record for event in self._take())
            self._ready.extend(self.show(record) for record in records if self.matches(record))
            if not self._ready:
                if self.follower.ended:
                    raise StopIteration
                self.follower.wait()
        return self._ready.popleft()

    def close(self) -> None:
        """End the stream."""
        self.follower.close()


class Events(Resource):
    """Every event of this world: requests, control calls, timers and scheduled actions."""

    @read("GET events", INVALID_NAME, long=True)
    def list(
        self,
        *,
        since: Since = 0,
        before: Number | None = None,
        cause: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **filters: Unpack[EventFilter],
    ) -> EventList:
        """Return the latest matching events, each with its cause and its effect.

        Args:
            since: Number of an event. Only later events match.
            before: Number of an event. Only earlier events match, so that you can page back.
            cause: Number of an event. Match only events with this cause.
            limit: Largest number of events to list. The latest events are listed.
        """
        world = self._world
        world.settle()
        matches = _matcher(**filters)
        with world.lock:
            log, events = world.snapshot.log, _events(world)
        matching = [
            event
            for event in events
            if event.number > since
            and (before is None or event.number < before)
            and cause in (None, event.cause)
            and matches(event)
        ]
        state = world.state
        listed = tuple(_log_record(event, state, world.secrecy) for event in deque(matching, limit))
        dropped = log.dropped + max(world.journal.dropped - len(world.journal.requests.older), 0)
        return EventList(events=listed, matching=len(matching), kept=len(events), dropped=dropped)

    @stream("GET events/follow", INVALID_NAME)
    def follow(
        self,
        *,
        since: Since | None = None,
        per_second: PerSecond | None = None,
        **filters: Unpack[EventFilter],
    ) -> Subscription[LogRecord]:
        """Yield each matching event as it happens."""
        world, key = self._world, f"events {sorted(filters.items())}"

        def record(event: Event) -> LogRecord:
            return _log_record(event, world.state, world.secrecy)

        return event_stream(key, world, _matcher(**filters), record, since, per_second)


def event_stream(
    key: str,
    world: World,
    matches: Callable[[Event], bool],
    show: Callable[[Event], T],
    since: int | None,
    per_second: int | None,
) -> LocalSubscription[T]:
    """Return a live stream of ``show(event)`` for each event for which ``matches(event)`` is true.

    If ``since`` is given, the stream first yields the events after that number.
    """
    with world.lock:
        world.settle()
        follower, _ = world.journal.follow()
        events = _events(world)
    follower.begin(event for event in events if since is not None and event.number > since)
    return LocalSubscription(
        key,
        follower,
        lambda thing: matches(thing.event if isinstance(thing, Entry) else thing),
        lambda thing: show(thing.event if isinstance(thing, Entry) else thing),
        per_second,
    )


def _matcher(
    kind: str | None = None, name: str | None = None, domain: str | None = None
) -> Callable[[Event], bool]:
    """Return a predicate: whether an event meets all filters. Refuse with ``invalid_name``."""
    pattern = Glob(name) if name is not None else None
    ascii_name = parse_name(domain) if domain is not None else None

    def matches(event: Event) -> bool:
        return (
            kind in (None, event.kind)
            and (pattern is None or pattern.matches(event.name))
            and (ascii_name is None or ascii_name in _domains(event))
        )

    return matches


def _events(world: World) -> list[Event]:
    """Return the requests and the other events of a world, ordered by number."""
    return sorted([*world.journal.events, *world.snapshot.log.kept], key=lambda event: event.number)


def _domains(event: Event) -> Iterator[str]:
    if event.registry_event is not None:
        yield event.registry_event.subject
    yield from event.effect.get("domains", ())


def _log_record(event: Event, state: State, secrecy: Secrecy) -> LogRecord:
    return record_of(
        LogRecord,
        event,
        registry_event=event.registry_event and event_record(state, event.registry_event, secrecy),
        parameters=redact.masked(redact.plain(event.parameters), secrecy),
        changed=setting_records(event.changed, secrecy),
        effect=redact.masked(redact.plain(event.effect), secrecy),
    )
