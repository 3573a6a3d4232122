"""Replay: what stands in a capsule is done all again, and compared with what came of it the first time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from reseller_sandbox.app_factory import open_worlds
from reseller_sandbox.capsule.document import BadCapsule, from_bytes
from reseller_sandbox.capsule.steps import (
    CallStep,
    CapsuleHead,
    EndStep,
    FiredStep,
    Recording,
    RequestStep,
    StandStep,
    Step,
    WaitingStep,
    came,
)
from reseller_sandbox.capsule.writing import program_version, state_digest
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import Quiet, declared
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting, ServiceSettings, Settings
from reseller_sandbox.tools.resending import Resending
from reseller_sandbox.worlds import Fixtures, Moment, World
from reseller_sandbox.worlds.credentials import Inherited
from reseller_sandbox.worlds.eventlog import Event, EventLog
from reseller_sandbox.worlds.kept import KeptWorld, KeptWorlds
from reseller_sandbox.worlds.moment import to

#: What can differ, where its name alone would not tell.
_ABOUT = {
    "faults": "list of faults that struck",
    "held_up": "time for which it was held up",
    "body": "body of the answer",
    "size": "size of the answer",
    "digest": "rest of the answer",
    "state": "state of the world",
    "requests": "number of requests",
}


class FirstDifference(Struct, frozen=True):
    """Where a replay first came out otherwise: at which ``step``, in what, and both sides.

    ``step`` is a request's id with its operation, a control call, or what time did.
    """

    number: int
    step: str
    what: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        return f"{self.step}: the {_ABOUT.get(self.what, self.what)} differs"

    @property
    def sides(self) -> tuple[Any, Any]:
        """Both sides as JSON has them: what was recorded, and what came of the replay."""
        return _told(self.recorded), _told(self.replayed)


class Replay(Quiet, frozen=True):
    """What came of a replay, and the ``sandbox`` at the point that it reached.

    ``requests`` counts those that were done again, ``beyond`` says for each that could not be why, by its id.
    ``by`` is the version that wrote the capsule, ``settings`` are those of its server.
    """

    sandbox: Sandbox
    by: str
    requests: int
    beyond: dict[str, str]
    notes: tuple[str, ...]
    difference: FirstDifference | None
    settings: Mapping[str, Any]

    @property
    def identical(self) -> bool:
        """Whether everything came out the same, to the byte."""
        return self.difference is None


def replay(capsule: Recording | bytes | Path | str) -> Replay:
    """Do all again that stands in a capsule, given as such, as its bytes, or as the path of its file.

    It goes on after a difference, so that the sandbox reaches the end. Raise ``BadCapsule`` for a file that
    is none, and OSError.
    """
    if isinstance(capsule, str | Path):
        path = Path(capsule)
        return replay(from_bytes(path.read_bytes(), str(path)))
    if isinstance(capsule, bytes):
        return replay(from_bytes(capsule))
    try:
        return _Replaying(capsule).whole()
    except (BadSetting, Refused) as problem:
        raise BadCapsule(f"it cannot be replayed: {problem}") from None


def told(found: Replay) -> dict[str, Any]:
    """Return what came of a replay, as JSON."""
    difference = None
    if (one := found.difference) is not None:
        recorded, replayed = one.sides
        difference = {**to_builtins(one), "recorded": recorded, "replayed": replayed}
    return {
        "identical": found.identical,
        "requests": found.requests,
        "written_by": found.by,
        "replayed_by": program_version(),
        "beyond": found.beyond,
        "notes": list(found.notes),
        "difference": difference,
    }


def _told(side: Any) -> Any:
    """Return one side of a difference as JSON has it."""
    if isinstance(side, bytes):
        return side.decode("utf-8", "backslashreplace")
    if isinstance(side, tuple):
        return [_told(one) for one in side]
    return wire(side) if isinstance(side, datetime) else side


def _sandbox(head: CapsuleHead, begin: Moment, settings: Settings) -> Sandbox:
    """Return a sandbox of which the default world is at ``begin``."""
    inherited = Inherited(head.keys, head.tokens)
    world = KeptWorld(
        name=head.world, number=head.number, first=begin, origin=begin, moment=begin, inherited=inherited
    )
    kept = KeptWorlds(head.seed, head.number, (world,))
    return Sandbox.over(open_worlds(settings, frozen=True, kept=kept), settings)


class _Replaying:
    """One replay on its way."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        head, first = recording.head, recording.steps[0]
        assert isinstance(first, StandStep)
        if strange := head.settings.keys() - {one.name for one in declared(ServiceSettings)}:
            raise BadCapsule(f"line 1: settings cannot be {', '.join(sorted(strange))}")
        settings = Settings(**{**head.settings, "control_open": True})
        self.sandbox = _sandbox(head, _moment(Fixtures(), first), settings)
        self._send = Resending(self.sandbox, head.default)
        self._operations = {
            one.id: one for power in self.sandbox.powers().values() for one in power.operations()
        }
        self._log = self._world.moment.log
        self._expected: list[FiredStep] = []
        self._happened: list[Event] = []
        self._requests = 0
        self._beyond: dict[str, str] = {}
        self._difference: FirstDifference | None = None

    @property
    def _world(self) -> World:
        return self.sandbox.world

    def whole(self) -> Replay:
        """Do it all; return what came of it."""
        for step in self._recording.steps[1:]:
            self._do(step)
        head = self._recording.head
        return Replay(
            self.sandbox,
            head.by,
            self._requests,
            self._beyond,
            tuple(head.notes),
            self._difference,
            head.settings,
        )

    def _do(self, step: Step) -> None:
        match step:
            case FiredStep():
                self._expected.append(step)
            case StandStep():
                self._stand(step)
            case WaitingStep():
                self._move(step)
                self._send.arrive(step)
            case RequestStep():
                self._move(step)
                self._ask(step)
                self._compare_events(step)
            case CallStep():
                self._move(step)
                self._call(step)
                self._compare_events(step)
            case EndStep():
                self._move(step)
                self._compare_events(step)
                self._end(step)

    def _move(self, step: WaitingStep | RequestStep | CallStep | EndStep) -> None:
        """Set the clock to the time of a step, and let happen what somebody who looked has let happen before.

        What else is due by then waits for a step that lets it happen.
        """
        world = self._world
        with world.lock:
            if len(self._expected) > len(self._happened):
                world.travel(lambda moment: moment.settled(self._expected[-1].at))
            if step.at > world.moment.clock.instant and not _moves(step):
                world.moment = world.moment.at(step.at)

    def _compare_events(self, step: RequestStep | CallStep | EndStep) -> None:
        """Compare what has happened by itself before a step, which it may itself have let happen."""
        log = self._world.moment.log
        self._happened += (
            one for one in log.since(self._log) if one.happening is not None and one.kind != "control"
        )
        self._log = log
        early = [one for one in self._happened if one.number < step.number or isinstance(step, EndStep)]
        found = [(one.at, one.happening.event, one.happening.subject) for one in early if one.happening]
        wanted = [(one.at, one.event, one.subject) for one in self._expected]
        number = self._expected[0].number if self._expected else log.number
        self._happened, self._expected = self._happened[len(early) :], []
        if found != wanted:
            first = next(pair for pair in zip_longest(wanted, found) if pair[0] != pair[1])
            self._note(number, "what happened by itself", "event", *first)

    def _note(self, number: int, step: str, what: str, recorded: Any, replayed: Any) -> None:
        if self._difference is None:
            self._difference = FirstDifference(number, step, what, recorded, replayed)

    def _stand(self, step: StandStep) -> None:
        moment = _moment(self.sandbox.engine.fixtures, step)
        log = EventLog(self._world.limits.max_events, number=step.number)
        with self._world.lock:
            held = self._world.moment.faults.waiting
            faults = replace(moment.faults, waiting=held)
            self._world.moment = replace(moment, log=log, faults=faults)
        self._log, self._happened, self._expected = log, [], []

    def _ask(self, step: RequestStep) -> None:
        if step.beyond:
            self._beyond[step.id] = step.beyond
            return
        self._requests += 1
        entry = self._send.request(step)
        named = f"{step.id} {step.operation}"
        if entry is None or entry.id != step.id:
            self._note(step.number, named, "request", step.id, entry.id if entry is not None else None)
            return
        again = came(entry)
        for what in ("status", "outcome", "faults", "held_up", "body", "size", "digest"):
            recorded, replayed = getattr(step.came, what), getattr(again, what)
            if recorded != replayed:
                self._note(step.number, named, what, recorded, replayed)

    def _call(self, step: CallStep) -> None:
        world = self._world
        if step.call.startswith("clock.") or step.past:
            with world.acting(step.call, **step.given):
                if _moves(step):
                    world.travel(to(lambda now: max(now, step.at)))
            return
        operation = self._operations.get(step.call)
        if operation is None:
            self._note(step.number, step.call, "call", "was carried out", "there is no such call")
            return
        try:
            self.sandbox.door.carry_out(operation, step.given)
        except Refused as refused:
            self._note(step.number, step.call, "call", "was carried out", f"was refused: {refused.message}")

    def _end(self, step: EndStep) -> None:
        moment = self._world.moment
        if self._recording.head.by == program_version():  # another one may write a fixture otherwise
            digest = state_digest(self.sandbox.engine, moment)
            if digest != step.digest:
                self._note(step.number, "the end", "state", step.digest, digest)
        if moment.requests != step.requests:
            self._note(step.number, "the end", "requests", step.requests, moment.requests)


def _moves(step: Step) -> bool:
    """Whether a step is a call that leads the world through time."""
    return isinstance(step, CallStep) and step.call in ("clock.advance", "clock.set")


def _moment(fixtures: Fixtures, stand: StandStep) -> Moment:
    moment = fixtures.text(stand.fixture)
    return replace(moment.at(stand.at), log=EventLog(number=stand.number))
