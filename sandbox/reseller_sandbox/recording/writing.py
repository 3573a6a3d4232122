"""The past of a world as a recording: its first state, and each change since.

Requests, control calls and timed events share one sequence of numbers. If numbers are missing because the
journal is bounded, or if a step cannot be repeated, the recording contains the state after that step and
continues from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.faults.kinds.answers import RateLimit
from reseller_sandbox.faults.kinds.replays import Stale
from reseller_sandbox.recording.document import (
    CallStep,
    EndStep,
    EventsStep,
    RecordedWorld,
    RecordingHead,
    RequestStep,
    StateStep,
    Step,
    WaitingStep,
    response_of,
)
from reseller_sandbox.recording.secrets import Masking
from reseller_sandbox.registry.state import State, account_named
from reseller_sandbox.settings import ServiceSettings
from reseller_sandbox.values.clock import WorldClock
from reseller_sandbox.values.extras import program_version
from reseller_sandbox.values.parameters import declared
from reseller_sandbox.worlds import Engine, Entry, Snapshot, World
from reseller_sandbox.worlds.journal import Arrival
from reseller_sandbox.worlds.redact import KEPT_OF_A_HEADER, MOST_HEADERS
from reseller_sandbox.worlds.snapshot import Event, changes

#: The settings that change no response or are private to the server.
_OMITTED_SETTINGS = {
    *("control_token", "control_open", "max_connections", "keep_alive", "max_worlds", "world_idle")
}

#: The control calls that a replay skips: the recording holds their result, or they concern other worlds.
PAST = frozenset(
    {
        "history.rewind",
        "history.load",
        "history.reset",
        "journal.clear",
        "worlds.fork",
        "worlds.open",
        "worlds.remove",
        "snapshots.restore",
        "snapshots.remove",
        "branches.switch",
        "branches.remove",
    }
)

#: The prefixes of control calls whose arguments contain a match for requests.
_MATCHING = ("answers.", "faults.", "simulate.")

#: Reasons why a recording contains a state that is later than the start of its world.
FORGOTTEN = "earlier requests are no longer in the journal"
UNLOGGED = "the world was changed by a call that is not logged"

#: Reason why a replay skips a request.
_TOO_EARLY = "the request depends on others before the start of the recording"


class Past(Struct, frozen=True):
    """The past of a world that began at ``origin``, if known, and is now at ``end``.

    ``entries`` is its journal. ``masking`` removes the secrets of other services.
    """

    engine: Engine
    origin: Snapshot | None
    end: Snapshot
    entries: Sequence[Entry]
    masking: Masking

    def steps(self) -> Iterator[Step]:
        """Yield the steps in their order. The first one holds the first known state."""
        line = self._line()
        gap = self._gap({step.number for step in line if not isinstance(step, WaitingStep)})
        if self.origin is not None and not gap:
            yield self._state(0, self.origin, self.origin.clock.instant)
            yield from self._since(0, self.origin, line)
            return
        first = next((entry for entry in self.entries if entry.step > gap), None)
        if first is None:
            yield self._state(self.end.log.number, self.end, self.end.clock.instant, FORGOTTEN)
            return
        yield self._state(first.step - 1, first.before, first.at, FORGOTTEN)
        yield from self._since(first.step, first.before, [step for step in line if step.number >= first.step])

    def _gap(self, known: set[int]) -> int:
        """Return the highest missing step number below a known one, or 0 if none is missing."""
        if not known:
            return self.end.log.number
        return next((number for number in range(max(known), 0, -1) if number not in known), 0)

    def _since(self, begin: int, known: Snapshot | None, line: Sequence[Step]) -> Iterator[Step]:
        """Yield the steps from the step number ``begin`` on.

        ``known`` is the snapshot before them.
        """
        done, waiting, broken = begin, set[str](), begin > 0
        entries = {entry.id: entry for entry in self.entries}
        for step in line:
            if isinstance(step, WaitingStep):
                waiting.add(step.waits)
                yield step
                continue
            if step.number <= done and begin != step.number:  # a StateStep includes it already
                continue
            if isinstance(step, RequestStep):
                entry = entries[step.id]
                if known is not None and _differ(known, entry.before):
                    yield self._state(step.number - 1, entry.before, entry.at, UNLOGGED)
                    # The state is a fixture, which cannot contain a delayed request.
                    waiting.discard(entry.id)
                    broken = True
                if broken and any(isinstance(rule.kind, Stale) for rule in entry.faults):
                    step = replace(step, skipped=step.skipped or _TOO_EARLY)
                if step.waits is not None and step.waits not in waiting:
                    step = replace(step, skipped=step.skipped or _TOO_EARLY)
                yield step
                known, done = entry.after, step.number
                if step.skipped:
                    broken, done = True, entry.after.log.number
                    yield self._state(done, entry.after, entry.at, step.skipped)
            else:
                yield step
                known, done = None, step.number
        if done < self.end.log.number or (known is not None and _differ(known, self.end)):
            yield self._state(self.end.log.number, self.end, self.end.clock.instant, UNLOGGED)

    def _state(self, number: int, snapshot: Snapshot, at: datetime, why: str = "") -> StateStep:
        still = replace(self.masking.snapshot(snapshot), clock=WorldClock(at))
        return StateStep(number=number, at=at, fixture=self.engine.fixtures.written(still), why=why)

    def _line(self) -> list[Step]:
        """Return all known steps in the order in which they took effect."""
        steps: list[Step] = [self._event(event) for event in self.end.log.events]
        self.masking.learn()
        steps += map(self._request, self.entries)
        inherited = () if self.origin is None else self.origin.faults.waiting
        held: Iterable[Any] = (item for item in self.end.faults.waiting if item not in inherited)
        waiting: list[Entry] = sorted((item.request for item in held), key=_arrival)
        arrived = {entry.id: entry for entry in self.entries if entry.arrived is not None}
        arrived |= {f"w{number}": entry for number, entry in enumerate(waiting, 1)}
        # Sort by arrival, because several requests can arrive after the same step number.
        for name, entry in sorted(arrived.items(), key=lambda item: _arrival(item[1])[:2]):
            after, _, at = _arrival(entry)
            sent = self.masking.request(entry).request
            steps.append(WaitingStep(number=after, at=at, waits=name, sent=sent))
        return sorted(steps, key=lambda step: step.number)

    def _event(self, event: Event) -> Step:
        if event.registry_event is not None and event.kind != "control":
            registry_event = event.registry_event
            return EventsStep(
                number=event.number, at=event.at, event=registry_event.event, subject=registry_event.subject
            )
        moved = {name: after for name, _, after in event.changed if name == "clock.now"}
        at = moved.get("clock.now", event.at) if event.name.startswith("clock.") else event.at
        parameters = {**event.parameters, **(self._opened(event) if event.name == "accounts.add" else {})}
        return CallStep(
            number=event.number,
            at=at,
            call=event.name,
            parameters=self.masking.call(parameters, lambda: self._state_after(event))
            if event.name.startswith(_MATCHING) or "after" in event.parameters
            else parameters,
            past=event.name in PAST,
        )

    def _opened(self, event: Event) -> Mapping[str, str]:
        """Return the actual credentials of an account that a control call added.

        They differ from the requested ones if another world had the requested ones.
        """
        name = event.parameters.get("name", event.parameters.get("account"))
        account = account_named(self._state_after(event), name)
        if account is None:
            return {}
        return {"key": account.key, "secret": account.secret, "token": account.token}

    def _state_after(self, event: Event) -> State:
        """Return the state before the next request, or the final state."""
        later = (entry.before.state for entry in self.entries if entry.step > event.number)
        return next(later, self.end.state)

    def _request(self, entry: Entry) -> RequestStep:
        late, clean = entry.arrived is not None, self.masking.request(entry)
        return RequestStep(
            number=entry.step,
            at=entry.at,
            id=entry.id,
            operation=entry.operation,
            result=response_of(entry, clean.answer),
            sent=None if late else clean.request,
            waits=entry.id if late else None,
            skipped=_why_skipped(entry) or clean.skipped,
        )


def _arrival(entry: Entry) -> Arrival:
    assert entry.arrived is not None, "only a request that a fault defers has an arrival"
    return entry.arrived


def _differ(first: Snapshot, other: Snapshot) -> bool:
    """Whether a request would see a difference between two snapshots."""
    if first.state is not other.state and next(changes(first.state, other.state), None) is not None:
        return True
    return (first.assumptions, first.faults.rules, first.answers) != (
        other.assumptions,
        other.faults.rules,
        other.answers,
    )


def _why_skipped(entry: Entry) -> str:
    """Return the reason why a request cannot be repeated, or an empty string."""
    if entry.body_size is not None:
        return f"its body of {entry.body_size} bytes was too long for the journal (--journal-body)"
    longest = max(map(len, entry.sent.values()), default=0)
    if len(entry.sent) == MOST_HEADERS or longest == KEPT_OF_A_HEADER:
        return "its headers were too long for the journal"
    for rule in entry.before.faults.rules:
        by_the_machine = isinstance(rule.kind, RateLimit) and rule.kind.time == "real"
        counted = entry.before.faults.count(rule.name) != entry.after.faults.count(rule.name)
        if by_the_machine and (counted or entry.arrived is not None):
            return f"the fault {rule.name} uses the machine's clock"
    return ""


def recording_of(engine: Engine, world: World) -> RecordedWorld:
    """Return the past of a world until now, as far as it is known."""
    with world.lock:
        world.settle()
        end = world.snapshot
        begun = (
            first for first in (world.history.origin, world.history.first) if first.log.line == end.log.line
        )
        entries = world.journal.entries
    states = (world.history.origin.state, *(entry.before.state for entry in entries[:1]), end.state)
    masking = Masking(world, states, entries)
    past = Past(engine, next(begun, None), end, entries, masking)
    steps = tuple(past.steps())
    notes = dict.fromkeys(step.why for step in steps if isinstance(step, StateStep) and step.why)
    last = EndStep(
        number=end.log.number,
        at=end.clock.instant,
        frozen=end.clock.frozen,
        requests=end.requests,
        digest=state_digest(engine, masking.snapshot(end)),
    )
    return RecordedWorld(_head(engine, world, notes, _sent(steps)), (*steps, last))


def state_digest(engine: Engine, snapshot: Snapshot) -> str:
    """Return the SHA-256 of a snapshot's fixture text. A running clock does not change the digest."""
    still = replace(snapshot, clock=WorldClock(snapshot.clock.instant))
    return sha256(engine.fixtures.written(still).encode()).hexdigest()


def _sent(steps: Iterable[Step]) -> set[str]:
    """Return the values of all headers and query parameters that requests sent."""
    values = set[str]()
    for step in steps:
        sent = step.sent if isinstance(step, RequestStep | WaitingStep) else None
        if sent is not None:
            query = parse_qsl(sent.target.partition("?")[2], keep_blank_values=True)
            values.update(value for _, value in (*sent.headers, *query))
    return values


def _head(engine: Engine, world: World, notes: Iterable[str], sent: set[str]) -> RecordingHead:
    settings = {}
    for setting in declared(ServiceSettings):
        value = getattr(engine.limits, setting.name, setting.default)
        if setting.name not in _OMITTED_SETTINGS and value != setting.default:
            settings[setting.name] = list(value) if isinstance(value, tuple) else value
    return RecordingHead(
        by=program_version(),
        world=world.name,
        default=world is engine.default,
        number=world.number,
        seed=engine.seed,
        settings=settings,
        # Credentials of the source world are live there, so a recording has only those that it needs.
        keys={key: held for key, held in sorted(world.inherited.keys.items()) if key in sent},
        tokens={token: held for token, held in sorted(world.inherited.tokens.items()) if token in sent},
        notes=tuple(notes),
    )
