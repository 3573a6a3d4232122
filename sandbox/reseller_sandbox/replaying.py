"""Replay: repeat the steps of a recording and compare the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.app_factory import open_worlds
from reseller_sandbox.clients.caller import AnySandbox, Caller, Reply, described
from reseller_sandbox.control.resource import operations_by_id
from reseller_sandbox.recording.document import (
    BadRecording,
    CallStep,
    EndStep,
    EventsStep,
    RecordedRequest,
    RecordedWorld,
    RequestStep,
    StateStep,
    Step,
    WaitingStep,
    from_bytes,
    response_of,
)
from reseller_sandbox.recording.writing import state_digest
from reseller_sandbox.refusals import BODY_TOO_LARGE, INVALID_HOST, UNREAD, Refused
from reseller_sandbox.server.delivery import Env
from reseller_sandbox.server.messages import INCOMPLETE, Unread, Unserved
from reseller_sandbox.settings import BadSetting, ServiceSettings, Settings
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.extras import program_version
from reseller_sandbox.values.parameters import Quiet, declared
from reseller_sandbox.web.context import ENV_WORLD
from reseller_sandbox.web.pipeline import TAKES_UNREAD
from reseller_sandbox.worlds import Engine, Entry, Fixtures, Snapshot, World
from reseller_sandbox.worlds.credentials import Inherited
from reseller_sandbox.worlds.snapshot import Event, EventLog, to
from reseller_sandbox.worlds.world import History
from reseller_sandbox.worlds.world_dump import EngineDump, WorldDump

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


#: Descriptions of compared fields for messages, if the field's name is not clear enough.
_ABOUT = {
    "faults": "list of applied faults",
    "held_up": "delay",
    "body": "body of the response",
    "size": "size of the response",
    "digest": "rest of the response",
    "state": "state of the world",
    "requests": "number of requests",
}


class FirstDifference(Struct, frozen=True):
    """The first difference between a recording and its replay.

    ``step`` is the id of a request with its operation, a control call, or a timed event. ``what`` is the part
    that differs. ``recorded`` and ``replayed`` are its two values.
    """

    number: int
    step: str
    what: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        return f"{self.step}: the {_ABOUT.get(self.what, self.what)} differs"

    @property
    def sides(self) -> tuple[object, object]:
        """The recorded and the replayed value, as JSON."""
        return _side_as_json(self.recorded), _side_as_json(self.replayed)


S = TypeVar("S", bound=AnySandbox)


class Replay(Quiet, Generic[S], frozen=True):
    """Result of a replay. ``sandbox`` is in the state after the last step.

    ``requests`` is the number of repeated requests. ``skipped`` has the reason for each request that could
    not be repeated, by the id of the request. ``by`` is the version of the sandbox that wrote the recording.
    ``settings`` are the settings of that sandbox.
    """

    sandbox: S
    by: str
    requests: int
    skipped: dict[str, str]
    notes: tuple[str, ...]
    difference: FirstDifference | None
    settings: Mapping[str, Any]

    @property
    def identical(self) -> bool:
        """Whether all results of the replay are equal to the recorded results, byte for byte."""
        return self.difference is None


def replay(recording: RecordedWorld | bytes | Path | str, over: Callable[[Engine, Settings], S]) -> Replay[S]:
    """Repeat the steps of a recording in a new sandbox, and compare the results.

    ``over`` returns the sandbox of an engine. Raise ``BadRecording`` if the recording cannot be replayed.
    """
    name = str(recording) if isinstance(recording, str | Path) else "recording"
    if isinstance(recording, str | Path):
        recording = Path(recording).read_bytes()
    if isinstance(recording, bytes):
        recording = from_bytes(recording, name)
    try:
        return _Replaying(recording, over).replay()
    except (BadSetting, Refused) as problem:
        raise BadRecording(f"{name} cannot be replayed: {problem}") from None


def to_json(result: Replay[Any]) -> dict[str, object]:
    """Return the result of a replay as JSON."""
    difference = None
    if (first := result.difference) is not None:
        recorded, replayed = first.sides
        difference = {"number": first.number, "step": first.step, "what": first.what}
        difference |= {"recorded": recorded, "replayed": replayed}
    return {
        "identical": result.identical,
        "requests": result.requests,
        "written_by": result.by,
        "replayed_by": program_version(),
        "skipped": result.skipped,
        "notes": list(result.notes),
        "difference": difference,
    }


def _side_as_json(side: object) -> object:
    """Convert a recorded or replayed value to JSON."""
    if isinstance(side, bytes):
        return side.decode("utf-8", "backslashreplace")
    if isinstance(side, tuple):
        return [_side_as_json(item) for item in side]
    return wire(side) if isinstance(side, datetime) else side


class _Replaying(Generic[S]):
    """A replay in progress."""

    def __init__(self, recording: RecordedWorld, over: Callable[[Engine, Settings], S]) -> None:
        self._recording = recording
        head, first = recording.head, recording.steps[0]
        assert isinstance(first, StateStep)
        if unknown := head.settings.keys() - {setting.name for setting in declared(ServiceSettings)}:
            raise BadRecording(f"line 1: unknown settings: {', '.join(sorted(unknown))}")
        settings = Settings(**{**head.settings, "control_open": True})
        begin = _snapshot_of(Fixtures(), first)
        world = WorldDump(
            name=head.world,
            number=head.number,
            history=History(begin, begin),
            snapshot=begin,
            inherited=Inherited(head.keys, head.tokens),
        )
        dump = EngineDump(head.seed, head.number, (world,))
        self.sandbox = over(open_worlds(settings, frozen=True, dump=dump), settings)
        self._caller = Caller(self.sandbox)
        self._waiting: dict[str, Callable[[], Reply]] = {}
        self._operations = operations_by_id(self.sandbox.resources().values())
        self._log = self._world.snapshot.log
        self._expected: list[EventsStep] = []
        self._happened: list[Event] = []
        self._requests = 0
        self._skipped: dict[str, str] = {}
        self._difference: FirstDifference | None = None

    @property
    def _world(self) -> World:
        return self.sandbox.world

    def replay(self) -> Replay[S]:
        """Repeat all steps. Return the result."""
        for step in self._recording.steps[1:]:
            self._take_step(step)
        head = self._recording.head
        return Replay(
            self.sandbox,
            head.by,
            self._requests,
            self._skipped,
            tuple(head.notes),
            self._difference,
            head.settings,
        )

    def _take_step(self, step: Step) -> None:
        if not isinstance(step, EventsStep | StateStep):
            self._move_clock(step)
        match step:
            case EventsStep():
                self._expected.append(step)
            case StateStep():
                self._state(step)
            case WaitingStep():
                self._arrive(step)
            case RequestStep():
                self._send(step)
                self._compare_events(step)
            case CallStep():
                self._call(step)
                self._compare_events(step)
            case EndStep():
                self._compare_events(step)
                self._end(step)

    def _move_clock(self, step: WaitingStep | RequestStep | CallStep | EndStep) -> None:
        """Apply the events that were due before the step, and set the clock to the time of the step.

        Events that an earlier reader made happen are recorded as steps, and take effect here. Other due
        events wait for a step that applies them.
        """
        world = self._world
        with world.lock:
            if len(self._expected) > len(self._happened):
                world.travel(lambda snapshot: snapshot.settled(self._expected[-1].at))
            if step.at > world.snapshot.clock.instant and not _moves(step):
                world.snapshot = world.snapshot.at(step.at)

    def _compare_events(self, step: RequestStep | CallStep | EndStep) -> None:
        """Compare recorded timed events with replayed timed events, up to the events that ``step`` caused."""
        log = self._world.snapshot.log
        self._happened += (
            event for event in log.since(self._log) if event.registry_event and event.kind != "control"
        )
        self._log = log
        is_end = isinstance(step, EndStep)
        early = [event for event in self._happened if is_end or event.number < step.number]
        replayed = [
            (event.at, event.registry_event.event, event.registry_event.subject)
            for event in early
            if event.registry_event
        ]
        recorded = [(event.at, event.event, event.subject) for event in self._expected]
        number = self._expected[0].number if self._expected else log.number
        self._happened, self._expected = self._happened[len(early) :], []
        if replayed != recorded:
            first = next(pair for pair in zip_longest(recorded, replayed) if pair[0] != pair[1])
            self._differ(number, "timed events", "event", *first)

    def _differ(self, number: int, step: str, what: str, recorded: object, replayed: object) -> None:
        if self._difference is None:
            self._difference = FirstDifference(number, step, what, recorded, replayed)

    def _state(self, step: StateStep) -> None:
        snapshot = _snapshot_of(self.sandbox.engine.fixtures, step)
        log = EventLog(self._world.limits.max_events, number=step.number)
        with self._world.lock:
            faults = replace(snapshot.faults, waiting=self._world.snapshot.faults.waiting)
            self._world.snapshot = replace(snapshot, log=log, faults=faults)
        self._log, self._happened, self._expected = log, [], []

    def _send(self, step: RequestStep) -> None:
        if step.skipped:
            self._skipped[step.id] = step.skipped
            return
        self._requests += 1
        entry = self._request(step)
        named = f"{step.id} {step.operation}"
        if entry is None or entry.id != step.id:
            self._differ(step.number, named, "request", step.id, entry.id if entry is not None else None)
            return
        if entry.operation != step.operation:
            self._differ(step.number, named, "operation", step.operation, entry.operation)
        again = response_of(entry)
        for what in ("status", "outcome", "faults", "held_up", "body", "size", "digest"):
            recorded, replayed = getattr(step.result, what), getattr(again, what)
            if recorded != replayed:
                self._differ(step.number, named, what, recorded, replayed)

    def _call(self, step: CallStep) -> None:
        world = self._world
        if step.call.startswith("clock.") or step.past:
            with world.acting(step.call, **step.parameters):
                if _moves(step):
                    world.travel(to(lambda now: max(now, step.at)))
            return
        operation = self._operations.get(step.call)
        if operation is None:
            self._differ(step.number, step.call, "call", "was carried out", "unknown call")
            return
        try:
            self.sandbox.transport.carry_out(operation, step.parameters)
        except Refused as refused:
            self._differ(step.number, step.call, "call", "was carried out", f"was refused: {refused.message}")

    def _end(self, step: EndStep) -> None:
        snapshot = self._world.snapshot
        if self._recording.head.by == program_version():  # Another version may write the state differently.
            digest = state_digest(self.sandbox.engine, snapshot)
            if digest != step.digest:
                self._differ(step.number, "the end", "state", step.digest, digest)
        if snapshot.requests != step.requests:
            self._differ(step.number, "the end", "requests", step.requests, snapshot.requests)

    def _arrive(self, step: WaitingStep) -> None:
        """Send a request that a fault deferred in the recording.

        If no fault defers it in the replay, the request takes effect at once.
        """
        reply = self._caller.take(lambda: self._environ(step.sent, ""))
        if reply.again is not None:
            self._waiting[step.waits] = reply.again

    def _request(self, step: RequestStep) -> Entry | None:
        """Send a request, or resume a deferred request. Return its journal entry."""
        if step.result.outcome in UNREAD and step.sent is not None:
            self.sandbox.app.extensions[TAKES_UNREAD](_unread(step))
        elif step.sent is not None:
            sent = step.sent
            reply = self._caller.take(lambda: self._environ(sent, step.result.outcome))
            while reply.again is not None:
                reply = reply.again()
        elif (resume := self._waiting.pop(step.waits or "", None)) is not None:
            resume()
        entries = self._world.journal.entries
        return next(
            (entry for entry in reversed(entries) if entry.id == step.id), entries[-1] if entries else None
        )

    def _environ(self, sent: RecordedRequest, outcome: str) -> WSGIEnvironment:
        target = _raw(sent.target)
        headers = [(_raw(name.lower()), _raw(value)) for name, value in sent.headers]
        has_no_host = b"host" not in dict(headers) and outcome != INVALID_HOST.code
        version = "1.0" if has_no_host else "1.1"
        environ = described(sent.method, sent.scheme, sent.port, target, headers, sent.body, version)
        if not self._recording.head.default and not sent.target.startswith("/_worlds/"):
            environ[ENV_WORLD] = self._world.name
        if outcome == BODY_TOO_LARGE.code:
            environ[Env.TOO_LARGE] = True
        return environ


def _moves(step: Step) -> bool:
    """Whether a step is a call that moves the clock."""
    return isinstance(step, CallStep) and step.call in ("clock.advance", "clock.set")


def _snapshot_of(fixtures: Fixtures, step: StateStep) -> Snapshot:
    snapshot = fixtures.text(step.fixture)
    return replace(snapshot.at(step.at), log=EventLog(number=step.number))


def _raw(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _unread(step: RequestStep) -> Unread:
    """Rebuild a recorded request that the server could not read.

    The problem comes from the recorded response.
    """
    assert step.sent is not None
    problem = INCOMPLETE
    with suppress(ValueError, KeyError, TypeError):
        error = json.loads(step.result.body)
        problem = Unserved(step.result.status, error["error"], error["message"])
    sent = step.sent
    return Unread(sent.method, sent.target, sent.headers, problem)
