"""A world's past and its other futures: snapshots, branches, rewinding, and what differs between points."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from reseller_sandbox.core.refusals import (
    INVALID_FIXTURE,
    TOO_MANY_FAULTS,
    TOO_MANY_SNAPSHOTS,
    UNKNOWN_BRANCH,
    UNKNOWN_REQUEST,
    UNKNOWN_SNAPSHOT,
    UNKNOWN_WORLD,
)
from reseller_sandbox.core.values import Switch, Text, choice, whole
from reseller_sandbox.powers.here import Here, here
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.pages import Key
from reseller_sandbox.powers.points import (
    FIXTURE,
    POINT_RULES,
    CheckpointRecord,
    FixtureText,
    WentBack,
    WorldStanding,
    checkpoint_record,
    standing,
    went_back,
)
from reseller_sandbox.powers.power import Power, act, look
from reseller_sandbox.powers.records import RecordChange, Setting, record_change, settings_of
from reseller_sandbox.powers.registry_records import AccountRecord, accounts_shown
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import Moment, World, diff, timeline

SnapshotName = Annotated[Key, "The snapshot's name."]
BranchName = Annotated[Key, "The branch's name."]


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


class Snapshots(Keyed[CheckpointRecord]):
    """The moments of this world that are kept under a name, so that it can go back to them."""

    @look()
    def list(self) -> SnapshotsFound:
        """Return every snapshot, the oldest first."""
        return _snapshots(here(self).world)

    @act(TOO_MANY_SNAPSHOTS)
    def add(self, name: Key) -> CheckpointRecord:
        """Keep this moment under a name; a snapshot of that name is replaced.

        Args:
            name: What to call it: letters, digits, dots, hyphens and underscores.
        """
        return checkpoint_record(timeline.snapshot(here(self).world, name))

    @act(UNKNOWN_SNAPSHOT)
    def restore(self, name: SnapshotName, /) -> WentBack:
        """Go back to a snapshot; the clock and the random numbers are as they were."""
        world = here(self).world
        return went_back(world, timeline.restore(world, name))

    @act(UNKNOWN_SNAPSHOT)
    def remove(self, name: SnapshotName, /) -> SnapshotsFound:
        """Delete a snapshot; return the others."""
        world = here(self).world
        timeline.forget_snapshot(world, name)
        return _snapshots(world)


class Branches(Keyed[CheckpointRecord]):
    """The futures of this world that were left behind when it went back."""

    @look()
    def list(self) -> BranchesFound:
        """Return every branch, the oldest first."""
        return _branches(here(self).world)

    @act(UNKNOWN_BRANCH)
    def switch(self, name: BranchName, /) -> WentBack:
        """Continue a branch where it ended; the present becomes a branch itself."""
        world = here(self).world
        return went_back(world, timeline.switch(world, name))

    @act(UNKNOWN_BRANCH)
    def remove(self, name: BranchName, /) -> BranchesFound:
        """Delete a branch; return the others."""
        world = here(self).world
        timeline.forget_branch(world, name)
        return _branches(world)


class History(Power):
    """The past of this world as a whole: go back, begin again, compare two points, export it."""

    @act(UNKNOWN_REQUEST)
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
        world = here(self).world
        return went_back(world, timeline.rewind(world, request, before=side == "before"))

    @act()
    def reset(self, *, original: Switch = False) -> WorldStanding:
        """Take the world back to how it began: names, money, counters and clock.

        Args:
            original: Whether to go back to the very first beginning, before any fixture was loaded.
        """
        world = here(self).world
        timeline.reset(world, original=original)
        return WorldStanding(**standing(world))

    @look(*POINT_RULES, UNKNOWN_WORLD, long=True)
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
        door = here(self)
        earlier, later = _reached(door, from_), _reached(door, to)
        found = tuple(diff.changes(earlier.state, later.state))
        page = found[start : start + limit]
        return Difference(
            from_=_point(from_, earlier),
            to=_point(to, later),
            changes=tuple(map(record_change, page)),
            settings=settings_of(diff.settings(earlier, later)),
            total=len(found),
            next=start + limit if start + limit < len(found) else None,
        )

    @look(long=True)
    def export(self) -> Exported:
        """Return the whole world as a fixture in YAML, credentials and codes included."""
        door = here(self)
        return Exported(fixture=door.worlds.fixtures.written(door.world.present()))

    @act(INVALID_FIXTURE, TOO_MANY_FAULTS, long=True, apart=True)
    def load(self, fixture: FixtureText) -> Loaded:
        """Begin again with a fixture; the world as it was is kept as a branch.

        Credentials that another world has already are replaced by new ones.

        Args:
            fixture: The fixture, in YAML or as an object.
        """
        door = here(self)
        left = checkpoint_record(door.worlds.load(door.world, FIXTURE(fixture)))
        return Loaded(**standing(door.world), branch=left, accounts=accounts_shown(door.world.state))


def _snapshots(world: World) -> SnapshotsFound:
    return SnapshotsFound(snapshots=tuple(map(checkpoint_record, world.snapshots.values())))


def _branches(world: World) -> BranchesFound:
    return BranchesFound(branches=tuple(map(checkpoint_record, world.branches.values())))


def _reached(door: Here, named: str) -> Moment:
    """Return the moment of a point of this world, or of another world as it is now."""
    kind, _, world = named.partition(":")
    return door.worlds.find(world).present() if kind == "world" else timeline.point(door.world, named)


def _point(name: str, moment: Moment) -> PointRecord:
    return PointRecord(point=name, now=moment.clock.instant, requests=moment.requests)
