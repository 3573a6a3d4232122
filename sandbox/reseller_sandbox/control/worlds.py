"""The worlds of a server, and the past of one: snapshots, branches, rewinding, differences, recordings."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar, Unpack

from reseller_sandbox import fixture
from reseller_sandbox.control.local_transport import LocalTransport, local_transport
from reseller_sandbox.control.records import AccountRecord, accounts_shown
from reseller_sandbox.control.resource import Resource, read, write
from reseller_sandbox.control.results import (
    Key,
    Keyed,
    RecordChange,
    Result,
    Setting,
    record_change,
    settings_of,
)
from reseller_sandbox.recording.document import CONTENT, BadRecording, Content, to_bytes
from reseller_sandbox.recording.steps import RequestStep
from reseller_sandbox.recording.writing import recording_of
from reseller_sandbox.registry import refusals
from reseller_sandbox.registry.parameters import declared, read_by
from reseller_sandbox.registry.refusals import TOO_MANY_FAULTS, UNKNOWN_BRANCH, UNKNOWN_WORLD, Refused
from reseller_sandbox.registry.values import TEXT, Instant, Kind, Record, Switch, Text, choice, mapping, whole
from reseller_sandbox.worlds import Checkpoint, Engine, Fork, Snapshot, World, timeline
from reseller_sandbox.worlds.snapshot import changed_settings, changes
from reseller_sandbox.worlds.timeline import require_present

S = TypeVar("S", bound="WorldStanding")
W = TypeVar("W", bound="WorldSummary")

WorldName = Annotated[str, TEXT, "The world's name."]
SnapshotName = Annotated[Key, "The snapshot's name."]
BranchName = Annotated[Key, "The branch's name."]

#: The rules by which a point of a world's past may be refused.
POINT_RULES = (
    refusals.UNKNOWN_POINT,
    refusals.UNKNOWN_REQUEST,
    refusals.UNKNOWN_SNAPSHOT,
    refusals.UNKNOWN_BRANCH,
)


def _fixture(given: Any) -> Any:
    if isinstance(given, str):
        return given
    try:
        return given.read_text("utf-8") if isinstance(given, Path) else fixture.as_json(mapping(given))
    except (OSError, UnicodeError) as problem:
        raise ValueError(f"cannot be read: {problem}") from None


FIXTURE = Kind(
    {"oneOf": [{"type": "string", "contentMediaType": "application/yaml"}, {"type": "object"}]}, _fixture
)

#: A whole fixture: its YAML, the same as an object, or the path of a file, which the caller's side reads.
FixtureText = Annotated[str | Mapping[str, Any] | Path, FIXTURE]


class CheckpointRecord(Result, frozen=True, kw_only=True):
    """A snapshot or a branch: the time it stands at, and the first and last request that led there."""

    name: str
    now: datetime
    frozen: bool
    requests: int
    first: str | None
    last: str | None


class WorldStanding(Result, frozen=True, kw_only=True):
    """A world's time, and how many requests it has had."""

    world: str
    now: datetime
    frozen: bool
    requests: int


class WentBack(WorldStanding, frozen=True, kw_only=True):
    """A world's time after it has gone back, and the branch that keeps what was left behind."""

    branch: CheckpointRecord


class SnapshotsFound(Result, frozen=True, kw_only=True):
    """Every snapshot, the oldest first."""

    snapshots: tuple[CheckpointRecord, ...]


class BranchesFound(Result, frozen=True, kw_only=True):
    """Every branch, the oldest first."""

    branches: tuple[CheckpointRecord, ...]


class PointRecord(Result, frozen=True, kw_only=True):
    """A point, and the instant at which the world stood there."""

    point: str
    now: datetime
    requests: int


class Difference(Result, frozen=True, kw_only=True):
    """What differs between two points: a page of the records, and every setting.

    ``total`` counts the records that differ, ``next`` is where the next page starts, if there is one.
    """

    from_: PointRecord
    to: PointRecord
    changes: tuple[RecordChange, ...]
    settings: tuple[Setting, ...]
    total: int
    next: int | None


class Loaded(WentBack, frozen=True, kw_only=True):
    """A world's time after it has begun again, its accounts, and the branch that keeps what it was."""

    accounts: tuple[AccountRecord, ...]


class Exported(Result, frozen=True, kw_only=True):
    """A world as a fixture in YAML, as ``load`` takes it."""

    hidden = ("fixture",)

    fixture: str


class RecordingRecord(Result, frozen=True, kw_only=True):
    """A world's past: its file in Base64, how many requests are in it, and what of the past is not."""

    hidden = ("base64",)

    world: str
    requests: int
    notes: tuple[str, ...]
    base64: str

    @property
    def content(self) -> bytes:
        """The file."""
        return b64decode(self.base64)


class WorldSummary(Result, frozen=True, kw_only=True):
    """A world: its name, the path prefix that chooses it, its time, and how much it has seen.

    ``requests`` counts those it has had, ``idle_seconds`` is for how long nobody has used it, by the
    machine's clock.
    """

    name: str
    prefix: str
    now: datetime
    frozen: bool
    seed: str
    requests: int
    orders: int
    idle_seconds: float


class WorldRecord(WorldSummary, frozen=True, kw_only=True):
    """A world, with the accounts that act in it and the assumptions that differ from the defaults."""

    accounts: tuple[AccountRecord, ...]
    assumptions: Mapping[str, Any]


class WorldOpened(WorldRecord, frozen=True, kw_only=True):
    """A world that has lived a recording's past again.

    ``difference`` is what first came out otherwise than it was recorded, if anything did; ``notes`` say what
    of the past the recording does not tell.
    """

    difference: str | None
    notes: tuple[str, ...]


class WorldsFound(Result, frozen=True, kw_only=True):
    """Every world, the oldest first, and how many there may be."""

    worlds: tuple[WorldSummary, ...]
    limit: int


class ForkOptions(TypedDict, total=False):
    """What a new world is to be."""

    point: Text
    fixture: Text
    state: FixtureText
    name: Text
    now: Instant
    frozen: Switch
    assume: Record
    seed: Text


class Snapshots(Keyed[CheckpointRecord]):
    """The moments of this world that are kept under a name, so that it can go back to them."""

    @read()
    def list(self) -> SnapshotsFound:
        """Return every snapshot, the oldest first."""
        kept = local_transport(self).world.snapshots.values()
        return SnapshotsFound(snapshots=tuple(map(checkpoint_record, kept)))

    @write(refusals.TOO_MANY_SNAPSHOTS)
    def add(self, name: Key) -> CheckpointRecord:
        """Keep this moment under a name; a snapshot of that name is replaced.

        Args:
            name: What to call it: letters, digits, dots, hyphens and underscores.
        """
        return checkpoint_record(timeline.snapshot(local_transport(self).world, name))

    @write(refusals.UNKNOWN_SNAPSHOT)
    def restore(self, name: SnapshotName, /) -> WentBack:
        """Go back to a snapshot; the clock and the random numbers are as they were."""
        world = local_transport(self).world
        return went_back(world, timeline.restore(world, name))

    @write(refusals.UNKNOWN_SNAPSHOT)
    def remove(self, name: SnapshotName, /) -> SnapshotsFound:
        """Delete a snapshot; return the others."""
        timeline.forget_snapshot(local_transport(self).world, name)
        return self.list()


class Branches(Keyed[CheckpointRecord]):
    """The futures of this world that were left behind when it went back."""

    @read()
    def list(self) -> BranchesFound:
        """Return every branch, the oldest first."""
        kept = local_transport(self).world.branches.values()
        return BranchesFound(branches=tuple(map(checkpoint_record, kept)))

    @write(UNKNOWN_BRANCH)
    def switch(self, name: BranchName, /) -> WentBack:
        """Continue a branch where it ended; the present becomes a branch itself."""
        world = local_transport(self).world
        return went_back(world, timeline.switch(world, name))

    @write(UNKNOWN_BRANCH)
    def remove(self, name: BranchName, /) -> BranchesFound:
        """Delete a branch; return the others."""
        timeline.forget_branch(local_transport(self).world, name)
        return self.list()


class History(Resource):
    """The past of this world as a whole: go back, begin again, compare two points, export it."""

    @write(refusals.UNKNOWN_REQUEST)
    def rewind(
        self, request: Text, *, side: Annotated[str, choice("before", "after")] = "before"
    ) -> WentBack:
        """Go back to before or after any request of the journal.

        The clock and the random numbers are as they were then. The future left behind is kept as a branch,
        until it is removed or there are too many.

        Args:
            request: The request: ``r3``.
            side: Whether to go to ``before`` it or to just ``after`` it.
        """
        world = local_transport(self).world
        return went_back(world, timeline.rewind(world, request, before=side == "before"))

    @write()
    def reset(self, *, original: Switch = False) -> WorldStanding:
        """Take the world back to how it began: names, money, counters and clock.

        Args:
            original: Whether to go back to the very first beginning, before any fixture was loaded.
        """
        world = local_transport(self).world
        timeline.reset(world, original=original)
        return _standing(WorldStanding, world)

    @read(*POINT_RULES, UNKNOWN_WORLD, long=True)
    def diff(
        self,
        from_: Text = "start",
        to: Text = "now",
        *,
        limit: Annotated[int, whole(0, 1000)] = 100,
        start: Annotated[int, whole(0, 10**9)] = 0,
    ) -> Difference:
        """Return which records differ between two points of the world, or from another world, and how.

        A point is ``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or ``branch:NAME``;
        ``world:NAME`` is another world as it is now.

        Args:
            from_: The earlier point.
            to: The later point.
            limit: How many records to list.
            start: Where the page starts, as the page before has said.
        """
        transport = local_transport(self)
        earlier, later = _reached(transport, from_), _reached(transport, to)
        found = tuple(changes(earlier.state, later.state))
        page = found[start : start + limit]
        return Difference(
            from_=_point(from_, earlier),
            to=_point(to, later),
            changes=tuple(map(record_change, page)),
            settings=settings_of(changed_settings(earlier, later)),
            total=len(found),
            next=start + limit if start + limit < len(found) else None,
        )

    @read(long=True)
    def export(self) -> Exported:
        """Return the whole world as a fixture in YAML, credentials and codes included."""
        transport = local_transport(self)
        return Exported(fixture=transport.worlds.fixtures.written(transport.world.present()))

    @write(refusals.INVALID_FIXTURE, TOO_MANY_FAULTS, long=True, apart=True)
    def load(self, fixture: FixtureText) -> Loaded:
        """Begin again with a fixture; the world as it was is kept as a branch.

        Credentials that another world has already are replaced by new ones.

        Args:
            fixture: The fixture, in YAML or as an object.
        """
        transport = local_transport(self)
        left = checkpoint_record(transport.worlds.load(transport.world, FIXTURE(fixture)))
        accounts = accounts_shown(transport.world.snapshot)
        return _standing(Loaded, transport.world, branch=left, accounts=accounts)


class Recording(Resource):
    """This world's past in one file, from which all of it can be done again."""

    @read(long=True)
    def get(self) -> RecordingRecord:
        """Return what the world began with and all that it has been asked and told since, as one file.

        The accounts' credentials and the names' codes are in it.
        """
        transport = local_transport(self)
        recording = recording_of(transport.worlds, transport.world)
        return RecordingRecord(
            world=transport.world.name,
            requests=sum(isinstance(step, RequestStep) for step in recording.steps),
            notes=recording.head.notes,
            base64=b64encode(to_bytes(recording)).decode(),
        )

    def write(self, file: Path | str) -> RecordingRecord:
        """Write it to a file, in place of what is there; raise OSError."""
        made = self.get()
        Path(file).write_bytes(made.content)
        return made


class Worlds(Keyed[WorldSummary]):
    """The worlds of the server: each a registry of its own, with its own accounts, clock and past."""

    @read(long=True)
    def list(self) -> WorldsFound:
        """Return every world, the oldest first."""
        return _found(local_transport(self).worlds)

    @read(UNKNOWN_WORLD)
    def get(self, world: WorldName, /) -> WorldRecord:
        """Return one world, with its accounts and their credentials."""
        engine = local_transport(self).worlds
        return _world(WorldRecord, engine, engine.find(world))

    @write(
        refusals.TOO_MANY_WORLDS,
        refusals.WORLD_EXISTS,
        refusals.INVALID_FIXTURE,
        TOO_MANY_FAULTS,
        *POINT_RULES,
        refusals.SET_BACK,
        long=True,
        apart=True,
    )
    def fork(self, **wanted: Unpack[ForkOptions]) -> WorldRecord:
        """Make a new world, with credentials of its own: a copy of this one, or one from a fixture.

        The credentials choose the world for every request that carries them, and so does the path prefix. A
        copy shares what it does not change, so it takes no longer however much its source holds.

        Args:
            point: When in this world: ``now``, ``start``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or
                ``branch:NAME``.
            fixture: The name of a packaged fixture to begin with instead.
            state: A fixture itself to begin with instead, in YAML or as an object.
            name: What the world will be called.
            now: The instant its clock begins at.
            frozen: Whether its clock stands still.
            assume: Assumptions that differ, by name.
            seed: What codes and identifiers are drawn from, where two worlds are to draw the same.
        """
        transport = _beside(self)
        return _world(WorldRecord, transport.worlds, _forked(transport, wanted))

    @write(
        refusals.INVALID_RECORDING,
        refusals.TOO_MANY_WORLDS,
        refusals.WORLD_EXISTS,
        TOO_MANY_FAULTS,
        long=True,
        apart=True,
    )
    def open(self, recording: Content, *, name: Text | None = None) -> WorldOpened:
        """Make a new world that stands where the past in a recording ends, with its journal to rewind.

        Everything in the recording is done again first, apart from all worlds. The accounts get new
        credentials; below the new world's path prefix those of the recording work, too. Its clock stands
        still.

        Args:
            recording: The file, in Base64.
            name: What the world will be called.
        """
        engine = _beside(self).worlds
        try:
            world, relived = engine.open(CONTENT(recording), name)
        except BadRecording as problem:
            raise Refused(
                refusals.INVALID_RECORDING, problems=str(problem).removeprefix("recording: ")
            ) from None
        seen = {"difference": relived.difference or None, "notes": relived.notes}
        return _world(WorldOpened, engine, world, **seen)

    @write(UNKNOWN_WORLD, refusals.DEFAULT_WORLD)
    def remove(self, world: WorldName, /) -> WorldsFound:
        """Delete a world, with all that it holds; return the other worlds."""
        engine = _beside(self).worlds
        require_present(engine.find(world))
        engine.drop(world)
        return _found(engine)


def forked(transport: LocalTransport, wanted: Mapping[str, object]) -> LocalTransport:
    """Return the door to the new world that ``Worlds.fork`` gives an account of; refuse as that does."""
    __tracebackhide__ = True
    try:
        transport.require_world()
        told = read_by(declared(ForkOptions), wanted)
        require_present(transport.world)
        return LocalTransport(transport.worlds, _forked(transport, told))
    except Refused as refused:
        raise refused.with_traceback(None) from None


def _forked(transport: LocalTransport, wanted: Mapping[str, Any]) -> World:
    sources = [name for name in ("point", "fixture", "state") if name in wanted]
    if len(sources) > 1:
        raise Refused(refusals.INVALID_PARAMETER, problems=f"takes one source, not {' and '.join(sources)}")
    return transport.worlds.fork(Fork(world=transport.world, **wanted))


def _world(kind: type[W], engine: Engine, world: World, **more: Any) -> W:
    """Return a world as people look at it."""
    snapshot = world.present()
    if issubclass(kind, WorldRecord):
        more |= {"accounts": accounts_shown(snapshot), "assumptions": snapshot.assumptions.departures()}
    return kind(
        name=world.name,
        prefix=f"/_worlds/{world.name}",
        now=snapshot.clock.instant,
        frozen=snapshot.clock.frozen,
        seed=snapshot.state.seed,
        requests=snapshot.requests,
        orders=len(snapshot.state.orders),
        idle_seconds=round(engine.idle(world), 3),
        **more,
    )


def _found(engine: Engine) -> WorldsFound:
    listed = tuple(_world(WorldSummary, engine, world) for world in engine)
    return WorldsFound(worlds=listed, limit=engine.limits.max_worlds)


def _beside(resource: Resource) -> LocalTransport:
    """Return the door of a resource that changes other worlds than its own, whose event log leaves it out."""
    transport = local_transport(resource)
    transport.world.leave_unlogged()
    return transport


def checkpoint_record(kept: Checkpoint) -> CheckpointRecord:
    """Return a snapshot or a branch as it is shown."""
    return CheckpointRecord(
        name=kept.name,
        now=kept.snapshot.clock.instant,
        frozen=kept.snapshot.clock.frozen,
        requests=kept.snapshot.requests,
        first=kept.entries[0].id if kept.entries else None,
        last=kept.entries[-1].id if kept.entries else None,
    )


def _standing(kind: type[S], world: World, **more: Any) -> S:
    """Return the time of a world, and how many requests it has had."""
    clock, requests = world.snapshot.clock, world.snapshot.requests
    return kind(world=world.name, now=clock.now(), frozen=clock.frozen, requests=requests, **more)


def went_back(world: World, left: Checkpoint) -> WentBack:
    """Return the time of ``world`` and the branch that it ``left``."""
    return _standing(WentBack, world, branch=checkpoint_record(left))


def _reached(transport: LocalTransport, named: str) -> Snapshot:
    """Return the moment of a point of this world, or of another world as it is now."""
    kind, _, world = named.partition(":")
    return (
        transport.worlds.find(world).present() if kind == "world" else timeline.point(transport.world, named)
    )


def _point(name: str, snapshot: Snapshot) -> PointRecord:
    return PointRecord(point=name, now=snapshot.clock.instant, requests=snapshot.requests)
