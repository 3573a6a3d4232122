"""What a world can go back to: its beginning, its requests, its snapshots, and the futures it left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reseller_sandbox.core.refusals import TOO_MANY_SNAPSHOTS, UNKNOWN_BRANCH, UNKNOWN_SNAPSHOT, Refused
from reseller_sandbox.worlds.eventlog import EventLog
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.moment import Moment
from reseller_sandbox.worlds.world import Checkpoint, World


def snapshot(world: World, name: str) -> Checkpoint:
    """Keep this moment under ``name``, in place of what was kept there.

    Refuses with ``too_many_snapshots``.
    """
    with world.lock:
        count, limit = len(world.snapshots), world.limits.max_snapshots
        if name not in world.snapshots and count >= limit:
            raise Refused(TOO_MANY_SNAPSHOTS, count=count, limit=limit, setting="--max-snapshots")
        kept = world.snapshots[name] = Checkpoint(name, world.present(), world.journal.entries)
        return kept


def snapshot_called(world: World, name: str) -> Checkpoint:
    """Return the snapshot of that name; refuses with ``unknown_snapshot``."""
    if name not in world.snapshots:
        raise Refused(UNKNOWN_SNAPSHOT, name=name[:80], known=_listed(world.snapshots))
    return world.snapshots[name]


def branch_called(world: World, name: str) -> Checkpoint:
    """Return the branch of that name; refuses with ``unknown_branch``."""
    if name not in world.branches:
        raise Refused(UNKNOWN_BRANCH, name=name[:80], known=_listed(world.branches))
    return world.branches[name]


def restore(world: World, name: str) -> Checkpoint:
    """Go back to a snapshot; answers the branch that keeps what was left behind."""
    with world.lock:
        kept = snapshot_called(world, name)
        return _go(world, kept.moment, kept.entries)


def forget_snapshot(world: World, name: str) -> None:
    """Forget a snapshot."""
    with world.lock:
        del world.snapshots[snapshot_called(world, name).name]


def rewind(world: World, request: str, *, before: bool) -> Checkpoint:
    """Go back to the moment before or after a request; answers the branch that keeps its future.

    Refuses with ``unknown_request``.
    """
    with world.lock:
        entry = world.journal.get(request)
        last = entry.number - 1 if before else entry.number
        entries = [one for one in world.journal if one.number <= last]
        return _go(world, (entry.before if before else entry.after).at(entry.at), entries)


def switch(world: World, name: str) -> Checkpoint:
    """Take up a branch where it ended; answers the branch that what was left behind became."""
    with world.lock:
        wanted = branch_called(world, name)
        del world.branches[name]  # first, so that what is left behind takes its place, and no other's
        return _go(world, wanted.moment, wanted.entries)


def forget_branch(world: World, name: str) -> None:
    """Forget a branch."""
    with world.lock:
        del world.branches[branch_called(world, name).name]


def begin_again(world: World, origin: Moment) -> Checkpoint:
    """Go on from another beginning; answers the branch that keeps what the world was."""
    with world.lock:
        left = _leave(world)
        if world.deed is not None:
            world.deed.given = {}  # a whole fixture, with its secrets
        world.origin = replace(origin, log=EventLog(world.limits.max_events))
        world.moment = lived_again(world.origin)
        world.journal.clear()
        return left


def reset(world: World, *, original: bool = False) -> None:
    """Go back to the moment the world began at, with nothing to remember but that.

    Where it has loaded a fixture since, that is the fixture's, or with ``original`` its very first.
    """
    with world.lock:
        world.leave_unlogged()
        world.origin = world.first if original else world.origin
        world.moment = lived_again(world.origin)
        world.journal.clear()
        world.snapshots.clear()
        world.branches.clear()
        world.left = 0


def _go(world: World, moment: Moment, entries: Iterable[Entry]) -> Checkpoint:
    left = _leave(world)
    world.journal.replace(entries)
    world.moment = lived_again(moment)
    return left


def _leave(world: World) -> Checkpoint:
    """Keep the present as a branch; past the limit the oldest branch is dropped."""
    world.left += 1
    branch = Checkpoint(f"b{world.left}", world.moment.at(world.now()), world.journal.entries)
    world.branches[branch.name] = branch
    if world.deed is not None:
        world.deed.effect["branch"] = branch.name
    while len(world.branches) > world.limits.max_branches:
        del world.branches[next(iter(world.branches))]
    return branch


def lived_again(moment: Moment) -> Moment:
    """Return ``moment`` lived again from its instant on, by a clock that runs if it ran."""
    return moment.at(moment.clock.instant)


def _listed(known: Mapping[str, Checkpoint]) -> str:
    return ", ".join(sorted(known)) or "none"
