"""The one line of what has changed a world: requests, control calls, what fired, plans that struck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Annotated, Any

from reseller_sandbox.core.refusals import INVALID_NAME
from reseller_sandbox.core.state import State
from reseller_sandbox.core.values import Text, choice, whole
from reseller_sandbox.core.zones import parse_name
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, look
from reseller_sandbox.powers.records import Fired, Setting, fired, settings_of
from reseller_sandbox.worlds import Entry, World
from reseller_sandbox.worlds.eventlog import Event
from reseller_sandbox.worlds.plain import plain

#: How many events are listed at the most, and where nobody says.
MOST, LISTED = 500, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One thing that changed the world, or asked something of it.

    ``number`` is its place in the line of all of them, ``cause`` that of what brought it about: the control
    call that moved the clock, or the request that a plan waited for. ``name`` is the operation of a request
    or a control call, or the event. ``given`` is what a control call was told and ``changed`` the settings
    that it changed, ``happening`` what happened in the registry, and ``effect`` what else came of it; for a
    request that is its id, under which the journal has it, and its outcome.
    """

    number: int
    at: datetime
    kind: str
    name: str
    cause: int | None
    happening: Fired | None
    given: Mapping[str, Any]
    changed: tuple[Setting, ...]
    effect: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsFound:
    """The latest events that are meant, oldest first.

    ``matching`` counts all that are, ``kept`` what the world remembers, ``dropped`` what it does no longer.
    """

    events: tuple[Logged, ...]
    matching: int
    kept: int
    dropped: int


class Events(Power):
    """What has changed this world, in one line: requests, control calls, what fired, plans that struck."""

    @look(INVALID_NAME)
    def find(
        self,
        *,
        kind: Annotated[str, choice("request", "control", "time", "plan")] | None = None,
        name: Text | None = None,
        domain: Text | None = None,
        since: Annotated[int, whole(0, 10**15)] = 0,
        before: Annotated[int, whole(1, 10**15)] | None = None,
        cause: Annotated[int, whole(1, 10**15)] | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
    ) -> EventsFound:
        """Return what has happened, the latest of it, with what brought each thing about and what it did.

        Args:
            kind: Only requests, control calls, what time did, or plans that struck.
            name: A pattern, with ``*`` and ``?``, of operations and events: ``v3.*``, ``clock.advance``,
                ``expiry``.
            domain: Only what is about this name.
            since: Only what came after the event of this number.
            before: Only what came before the event of this number, to turn pages back.
            cause: Only what the event of this number brought about.
            limit: How many of the latest to list.
        """
        world = here(self).world
        world.settle()
        about = parse_name(domain) if domain is not None else None
        log = world.moment.log
        known = _all(world)
        found = [
            event
            for event in known
            if event.number > since
            and (before is None or event.number < before)
            and kind in (None, event.kind)
            and cause in (None, event.cause)
            and (name is None or fnmatchcase(event.name, name))
            and (about is None or about in _domains(event))
        ]
        state = world.state
        listed = tuple(_shown(event, state) for event in found[max(len(found) - limit, 0) :])
        dropped = log.dropped + world.journal.dropped
        return EventsFound(events=listed, matching=len(found), kept=len(known), dropped=dropped)


def _all(world: World) -> list[Event]:
    """Return requests and all else in the order of their numbers."""
    with world.lock:
        events, entries = world.moment.log.events, world.journal.entries
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
    if event.happening is not None:
        yield event.happening.subject
    yield from event.effect.get("domains", ())


def _shown(event: Event, state: State) -> Logged:
    happened = fired(state, [event.happening] if event.happening is not None else [])
    return Logged(
        number=event.number,
        at=event.at,
        kind=event.kind,
        name=event.name,
        cause=event.cause,
        happening=happened[0] if happened else None,
        given=plain(event.given),
        changed=settings_of(event.changed),
        effect=plain(event.effect),
    )
