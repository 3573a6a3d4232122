"""The worlds of a server, and a world's past: snapshots, branches, recordings."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar, Unpack, cast

from reseller_sandbox import refusals
from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.records import AccountRecord, account_records
from reseller_sandbox.control.resource import Resource, read, write
from reseller_sandbox.control.results import (
    Keyed,
    RecordChange,
    Result,
    Setting,
    page,
    record_change,
    setting_records,
)
from reseller_sandbox.recording.document import CONTENT, BadRecording, Content, RequestStep, to_bytes
from reseller_sandbox.recording.writing import recording_of
from reseller_sandbox.refusals import TOO_MANY_FAULTS, UNKNOWN_BRANCH, UNKNOWN_WORLD, Refused
from reseller_sandbox.values.kinds import (
    TEXT,
    Instant,
    Key,
    Kind,
    Record,
    Switch,
    Text,
    choice,
    json_value,
    mapping,
    whole,
)
from reseller_sandbox.values.parameters import declared, read_by
from reseller_sandbox.worlds import Checkpoint, Engine, Fork, Snapshot, World, timeline
from reseller_sandbox.worlds.snapshot import changed_settings, changes

S = TypeVar("S", bound="WorldTime")
W = TypeVar("W", bound="WorldSummary")

WorldName = Annotated[str, TEXT, "The world's name."]
SnapshotName = Annotated[Key, "The snapshot's name."]
BranchName = Annotated[Key, "The branch's name."]

#: The rules by which a point of a world's past can be refused.
POINT_RULES = (
    refusals.UNKNOWN_POINT,
    refusals.UNKNOWN_REQUEST,
    refusals.UNKNOWN_SNAPSHOT,
    refusals.UNKNOWN_BRANCH,
)


def _fixture(value: object) -> object:
    if isinstance(value, str):
        return value
    try:
        return value.read_text("utf-8") if isinstance(value, Path) else json_value(mapping(value))
    except (OSError, UnicodeError) as problem:
        raise ValueError(f"cannot be read: {problem}") from None


FIXTURE = Kind(
    {"oneOf": [{"type": "string", "contentMediaType": "application/yaml"}, {"type": "object"}]}, _fixture
)

#: A whole fixture: YAML, an object, or the path of a file. The caller's process reads the file.
FixtureText = Annotated[str | Mapping[str, Any] | Path, FIXTURE]


class CheckpointRecord(Result, frozen=True, kw_only=True):
    """A snapshot or a branch: its name, its time, and the ids of its first and last request."""

    name: str
    now: datetime
    frozen: bool
    requests: int
    first: str | None
    last: str | None


class WorldTime(Result, frozen=True, kw_only=True):
    """The time of a world, and the number of requests to the world."""

    world: str
    now: datetime
    frozen: bool
    requests: int


class RewindResult(WorldTime, frozen=True, kw_only=True):
    """The time of a world after it went back. ``branch`` keeps the history that the world left."""

    branch: CheckpointRecord


class SnapshotList(Result, frozen=True, kw_only=True):
    """Every snapshot, oldest first."""

    snapshots: tuple[CheckpointRecord, ...]


class BranchList(Result, frozen=True, kw_only=True):
    """Every branch, oldest first."""

    branches: tuple[CheckpointRecord, ...]


class PointRecord(Result, frozen=True, kw_only=True):
    """A point of a world's past, and the world's time at that point."""

    point: str
    now: datetime
    requests: int


class Difference(Result, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The differences between two points: a page of the changed records, and all changed settings.

    ``total`` counts the records that differ. ``next`` is the start of the next page, if there is one.
    """

    from_: PointRecord
    to: PointRecord
    changes: tuple[RecordChange, ...]
    settings: tuple[Setting, ...]
    total: int
    next: int | None


class LoadResult(RewindResult, frozen=True, kw_only=True):
    """A world after it loaded a fixture. ``branch`` keeps the previous history of the world."""

    accounts: tuple[AccountRecord, ...]


class ExportedFixture(Result, frozen=True, kw_only=True):
    """A world as a fixture in YAML, which ``load`` accepts."""

    hidden = ("fixture",)

    fixture: str


class RecordingRecord(Result, frozen=True, kw_only=True):
    """The recording of a world: the file in Base64, and the number of requests in the file.

    ``notes`` describe the parts of the past that the file lacks.
    """

    hidden = ("base64",)

    world: str
    requests: int
    notes: tuple[str, ...]
    base64: str

    @property
    def content(self) -> bytes:
        """The bytes of the recording file."""
        return b64decode(self.base64)


class WorldSummary(Result, frozen=True, kw_only=True):
    """A world: its name, path prefix, time, seed and size.

    ``requests`` counts all requests to the world. ``idle_seconds`` is the time since the last use of the
    world, by the machine's clock.
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
    """A world with its accounts, and with every assumption whose value is not the default."""

    accounts: tuple[AccountRecord, ...]
    assumptions: Mapping[str, Any]


class OpenedWorld(WorldRecord, frozen=True, kw_only=True):
    """A world that was created by replaying a recording.

    ``difference`` is the first difference between the replay and the recording, if any. ``notes`` describe
    the parts of the past that the recording lacks.
    """

    difference: str | None
    notes: tuple[str, ...]


class WorldList(Result, frozen=True, kw_only=True):
    """All worlds, oldest first. ``limit`` is the largest number of worlds on the server."""

    worlds: tuple[WorldSummary, ...]
    limit: int


class ForkOptions(TypedDict, total=False):
    """The parameters of a new world."""

    point: Text
    fixture: Text
    state: FixtureText
    name: Text
    now: Instant
    frozen: Switch
    assume: Record
    seed: Text


class Snapshots(Keyed[CheckpointRecord]):
    """Named snapshots to which this world can go back."""

    @read("GET snapshots")
    def list(self) -> SnapshotList:
        """Return every snapshot, oldest first."""
        snapshots = self._world.history.snapshots.values()
        return SnapshotList(snapshots=tuple(map(checkpoint_record, snapshots)))

    @write("POST snapshots", refusals.TOO_MANY_SNAPSHOTS)
    def add(self, name: Key) -> CheckpointRecord:
        """Save the current state under a name. An existing snapshot with this name is replaced.

        Args:
            name: The snapshot's name.
        """
        return checkpoint_record(timeline.snapshot(self._world, name))

    @write("POST snapshots/{name}/restore", refusals.UNKNOWN_SNAPSHOT)
    def restore(self, name: SnapshotName, /) -> RewindResult:
        """Go back to a snapshot.

        The clock and the random numbers go back, too.
        """
        world = self._world
        return rewind_result(world, timeline.restore(world, name))

    @write("DELETE snapshots/{name}", refusals.UNKNOWN_SNAPSHOT)
    def remove(self, name: SnapshotName, /) -> SnapshotList:
        """Delete a snapshot. Return the remaining snapshots."""
        timeline.forget(self._world, "snapshots", name)
        return self.list()


class Branches(Keyed[CheckpointRecord]):
    """The histories that this world left at a rewind, a restore, a switch or a load."""

    @read("GET branches")
    def list(self) -> BranchList:
        """Return every branch, oldest first."""
        branches = self._world.history.branches.values()
        return BranchList(branches=tuple(map(checkpoint_record, branches)))

    @write("POST branches/{name}/switch", UNKNOWN_BRANCH)
    def switch(self, name: BranchName, /) -> RewindResult:
        """Go to the end of a branch, and continue there. The current history becomes a branch."""
        world = self._world
        return rewind_result(world, timeline.switch(world, name))

    @write("DELETE branches/{name}", UNKNOWN_BRANCH)
    def remove(self, name: BranchName, /) -> BranchList:
        """Delete a branch. Return the remaining branches."""
        timeline.forget(self._world, "branches", name)
        return self.list()


class History(Resource):
    """The past of this world, which you can rewind, reset, compare, export and load."""

    @write("POST history/rewind", refusals.UNKNOWN_REQUEST)
    def rewind(
        self, request: Text, *, side: Annotated[str, choice("before", "after")] = "before"
    ) -> RewindResult:
        """Go back to the state before or after any request of the journal.

        The clock and the random numbers go back, too. The history after that state stays as a branch until
        you remove the branch. If there are too many branches, the oldest branch is removed.

        Args:
            request: The request's id, such as ``r3``; ``last`` is the latest.
            side: ``before`` for the state before the request, ``after`` for the state just after the request.
        """
        world = self._world
        return rewind_result(world, timeline.rewind(world, request, before=side == "before"))

    @write("POST history/reset")
    def reset(self, *, original: Switch = False) -> WorldTime:
        """Restart the world from its initial state: names, money, counters and clock.

        After a ``load``, the initial state is the state in the loaded fixture.

        Args:
            original: Whether to restart from the very first state, before any fixture was loaded.
        """
        world = self._world
        timeline.reset(world, original=original)
        return _world_time(WorldTime, world)

    @read("GET history/diff", *POINT_RULES, UNKNOWN_WORLD, long=True)
    def diff(
        self,
        from_: Text = "start",
        to: Text = "now",
        *,
        limit: Annotated[int, whole(0, 1000)] = 100,
        start: Annotated[int, whole(0, 10**9)] = 0,
    ) -> Difference:
        """Return the records and settings that differ between two points.

        The points of this world are ``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` and
        ``branch:NAME``. The point ``world:NAME`` is the current state of another world.

        Args:
            from_: The point to compare from, usually the earlier point.
            to: The point to compare with, usually the later point.
            limit: Number of records to list.
            start: Start of the page: ``next`` of the previous page.
        """
        transport = self._local
        secrecy = transport.worlds.default.secrecy
        earlier, later = _snapshot_at(transport, from_), _snapshot_at(transport, to)
        differing = tuple(changes(earlier.state, later.state))
        listed, following = page(differing, limit, start)
        return Difference(
            from_=_point(from_, earlier),
            to=_point(to, later),
            changes=tuple(record_change(change, secrecy) for change in listed),
            settings=setting_records(changed_settings(earlier, later), secrecy),
            total=len(differing),
            next=following,
        )

    @read("GET history/export", long=True)
    def export(self) -> ExportedFixture:
        """Return the whole world as a fixture in YAML.

        The fixture contains credentials and authorization codes.
        """
        transport = self._local
        return ExportedFixture(fixture=transport.worlds.fixtures.written(transport.world.present()))

    @write("POST history/load", refusals.INVALID_FIXTURE, TOO_MANY_FAULTS, long=True, apart=True)
    def load(self, fixture: FixtureText) -> LoadResult:
        """Restart the world from a fixture. The previous history is kept as a branch.

        If another world already uses the credentials of an account, the account gets new credentials.

        Args:
            fixture: The fixture, in YAML or as an object.
        """
        transport = self._local
        worlds = transport.worlds
        branch = checkpoint_record(worlds.restart(transport.world, worlds.fixtures.text(cast(Any, fixture))))
        accounts = account_records(transport.world.snapshot)
        return _world_time(LoadResult, transport.world, branch=branch, accounts=accounts)


class Recording(Resource):
    """The past of this world in one file that you can replay."""

    @read("GET recording", long=True)
    def get(self) -> RecordingRecord:
        """Return one file with the initial state, and with every later request and control call.

        The file contains the accounts' credentials and the names' authorization codes.
        """
        transport = self._local
        recording = recording_of(transport.worlds, transport.world)
        return RecordingRecord(
            world=transport.world.name,
            requests=sum(isinstance(step, RequestStep) for step in recording.steps),
            notes=recording.head.notes,
            base64=b64encode(to_bytes(recording)).decode(),
        )

    def write(self, file: Path | str) -> RecordingRecord:
        """Write the recording to ``file``, and replace an existing file."""
        recording = self.get()
        Path(file).write_bytes(recording.content)
        return recording


class Worlds(Keyed[WorldSummary]):
    """The worlds of the server, each with its own registry, accounts, clock and past."""

    @read("GET worlds", long=True)
    def list(self) -> WorldList:
        """Return every world, oldest first."""
        return _world_list(self._local.worlds)

    @read("GET worlds/{world:path}", UNKNOWN_WORLD)
    def get(self, world: WorldName, /) -> WorldRecord:
        """Return one world, with its accounts and their credentials."""
        engine = self._local.worlds
        return _world(WorldRecord, engine, engine.find(world))

    @write(
        "POST worlds/fork",
        refusals.TOO_MANY_WORLDS,
        refusals.WORLD_EXISTS,
        refusals.INVALID_FIXTURE,
        TOO_MANY_FAULTS,
        *POINT_RULES,
        refusals.SET_BACK,
        long=True,
        apart=True,
    )
    def fork(self, **options: Unpack[ForkOptions]) -> WorldRecord:
        """Create a new world from this world or from a fixture. The new world has its own credentials.

        To send a request to the new world, use the new credentials, or the path prefix of the new world. A
        copy shares unchanged data with its source, so the size of the source does not matter.

        Args:
            point: The point of this world to copy: ``now``, ``start``, ``before:r3``, ``after:r3``,
                ``snapshot:NAME`` or ``branch:NAME``.
            fixture: The name of a packaged fixture to load instead of copying this world.
            state: A fixture to load instead of copying this world, in YAML or as an object.
            name: The name of the new world.
            now: The initial time of the new world's clock.
            frozen: Whether the new world's clock is frozen.
            assume: Assumptions to change, by name.
            seed: The seed of codes and identifiers. Two worlds with the same seed get the same codes.
        """
        transport = _unlogged(self)
        return _world(WorldRecord, transport.worlds, _fork(transport, options))

    @write(
        "POST worlds/open",
        refusals.INVALID_RECORDING,
        refusals.TOO_MANY_WORLDS,
        refusals.WORLD_EXISTS,
        TOO_MANY_FAULTS,
        long=True,
        apart=True,
    )
    def open(self, recording: Content, *, name: Text | None = None) -> OpenedWorld:
        """Create a new world by replaying a recording. You can rewind to each replayed request.

        The replay does not affect other worlds. The accounts get new credentials. Below the new world's path
        prefix, the credentials of the recording work, too. The clock of the new world is frozen.

        Args:
            recording: The recording file, in Base64.
            name: The name of the new world.
        """
        engine = _unlogged(self).worlds
        try:
            world, replay = engine.open(CONTENT(recording), name)
        except BadRecording as problem:
            raise Refused(
                refusals.INVALID_RECORDING, problems=str(problem).removeprefix("recording: ")
            ) from None
        return _world(OpenedWorld, engine, world, difference=replay.difference or None, notes=replay.notes)

    @write("DELETE worlds/{world:path}", UNKNOWN_WORLD, refusals.DEFAULT_WORLD)
    def remove(self, world: WorldName, /) -> WorldList:
        """Delete a world with all its data. Return the remaining worlds."""
        engine = _unlogged(self).worlds
        engine.find(world).require_present()
        engine.drop(world)
        return _world_list(engine)


def fork_world(transport: LocalTransport, parameters: Mapping[str, object]) -> LocalTransport:
    """Create a world with the parameters of ``Worlds.fork``. Return the transport to the new world."""
    __tracebackhide__ = True
    try:
        transport.require_world()
        options = read_by(declared(ForkOptions), parameters)
        transport.world.require_present()
        return LocalTransport(transport.worlds, _fork(transport, options))
    except Refused as refused:
        raise refused.with_traceback(None) from None


def _fork(transport: LocalTransport, options: Mapping[str, Any]) -> World:
    sources = [name for name in ("point", "fixture", "state") if name in options]
    if len(sources) > 1:
        raise Refused(
            refusals.INVALID_PARAMETER,
            problems=f"accepts only one of point, fixture and state, not {' and '.join(sources)}",
        )
    return transport.worlds.fork(Fork(world=transport.world, **options))


def _world(kind: type[W], engine: Engine, world: World, **more: object) -> W:
    """Convert a world to a record of the type ``kind``."""
    snapshot = world.present()
    if issubclass(kind, WorldRecord):
        more |= {"accounts": account_records(snapshot), "assumptions": snapshot.assumptions.departures()}
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


def _world_list(engine: Engine) -> WorldList:
    listed = tuple(_world(WorldSummary, engine, world) for world in engine)
    return WorldList(worlds=listed, limit=engine.limits.max_worlds)


def _unlogged(resource: Resource) -> LocalTransport:
    """Return the transport of ``resource``, and keep the current operation out of the event log.

    The operation changes other worlds, so it does not belong in the log of the resource's own world.
    """
    transport = resource._local
    transport.world.leave_unlogged()
    return transport


def checkpoint_record(checkpoint: Checkpoint) -> CheckpointRecord:
    """Convert a snapshot or a branch to a ``CheckpointRecord``."""
    entries = checkpoint.requests.entries
    return CheckpointRecord(
        name=checkpoint.name,
        now=checkpoint.snapshot.clock.instant,
        frozen=checkpoint.snapshot.clock.frozen,
        requests=checkpoint.snapshot.requests,
        first=entries[0].id if entries else None,
        last=entries[-1].id if entries else None,
    )


def _world_time(kind: type[S], world: World, **more: object) -> S:
    """Return a record of the type ``kind`` with the time of ``world`` and its number of requests."""
    clock, requests = world.snapshot.clock, world.snapshot.requests
    return kind(world=world.name, now=clock.now(), frozen=clock.frozen, requests=requests, **more)


def rewind_result(world: World, branch: Checkpoint) -> RewindResult:
    """Return the time of ``world``, and the ``branch`` that keeps its later history."""
    return _world_time(RewindResult, world, branch=checkpoint_record(branch))


def _snapshot_at(transport: LocalTransport, point: str) -> Snapshot:
    """Return the state at ``point``. The point ``world:NAME`` is the present state of another world."""
    kind, _, world = point.partition(":")
    return (
        transport.worlds.find(world).present()
        if kind == "world"
        else timeline.point(transport.world, point).snapshot
    )


def _point(name: str, snapshot: Snapshot) -> PointRecord:
    return PointRecord(point=name, now=snapshot.clock.instant, requests=snapshot.requests)
