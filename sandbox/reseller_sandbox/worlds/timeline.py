"""Points that a world can go back to: its start, requests, snapshots and branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.values.text_checks import names_phrase
from reseller_sandbox.worlds.journal import Entry, Requests
from reseller_sandbox.worlds.snapshot import EventLog, Snapshot
from reseller_sandbox.worlds.world import Checkpoint, History, World

#: The fields of a history that hold checkpoints.
Kind = Literal["snapshots", "branches"]


def snapshot(world: World, name: str) -> Checkpoint:
    """Save the present state as the snapshot ``name``. Replace an existing snapshot with this name.

    Refuse with ``too_many_snapshots``.
    """
    with world.lock:
        snapshots, limit = world.history.snapshots, world.limits.max_snapshots
        if name not in snapshots and len(snapshots) >= limit:
            raise Refused(r.TOO_MANY_SNAPSHOTS, count=len(snapshots), limit=limit, setting="--max-snapshots")
        saved = Checkpoint(name, world.present(), world.journal.requests)
        world.history = replace(world.history, snapshots={**snapshots, name: saved})
        return saved


def point(world: World, named: str) -> Checkpoint:
    """Return the state of ``world`` at one of its points, and the requests of that history.

    A point is ``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or ``branch:NAME``. Refuse
    with ``unknown_point``, ``unknown_request``, ``unknown_snapshot`` and ``unknown_branch``.
    """
    kind, _, name = named.partition(":")
    requests = world.journal.requests
    match kind, name:
        case "start", "":
            snapshot = at_own_instant(world.history.origin)
        case "now", "":
            snapshot = world.present()
        case "before" | "after", request if request:
            snapshot = _at(world.journal.get(request), before=kind == "before")
        case "snapshot" | "branch", name if name:
            checkpoint = _checkpoint(world, "snapshots" if kind == "snapshot" else "branches", name)
            snapshot, requests = at_own_instant(checkpoint.snapshot), checkpoint.requests
        case _:
            raise Refused(r.UNKNOWN_POINT, point=named[:80])
    return Checkpoint(named, snapshot, requests)


def restore(world: World, name: str) -> Checkpoint:
    """Go back to the snapshot ``name``. Return a new branch that keeps the present history."""
    with world.lock:
        checkpoint = _checkpoint(world, "snapshots", name)
        return _go(world, checkpoint.snapshot, checkpoint.requests)


def forget(world: World, kind: Kind, name: str) -> None:
    """Delete a snapshot or a branch."""
    with world.lock:
        _checkpoint(world, kind, name)
        rest = {other: kept for other, kept in getattr(world.history, kind).items() if other != name}
        world.history = replace(world.history, **{kind: rest})


def rewind(world: World, request: str, *, before: bool) -> Checkpoint:
    """Go back to just before or after a request. Return a branch that keeps the present history.

    Refuse with ``unknown_request``.
    """
    with world.lock:
        entry, requests = world.journal.get(request), world.journal.requests
        last = entry.number - 1 if before else entry.number
        entries = tuple(earlier for earlier in requests.entries if earlier.number <= last)
        return _go(world, _at(entry, before=before), replace(requests, entries=entries))


def switch(world: World, name: str) -> Checkpoint:
    """Continue the branch ``name`` from its end.

    Return a new branch that keeps the present history.
    """
    with world.lock:
        branch = _checkpoint(world, "branches", name)
        # Delete this branch first. Otherwise, if the limit is reached, the new branch would push out the
        # oldest branch.
        forget(world, "branches", name)
        return _go(world, branch.snapshot, branch.requests)


def restart(world: World, origin: Snapshot) -> Checkpoint:
    """Restart the world from ``origin``. Return a branch that keeps its previous history."""
    with world.lock:
        left = _leave(world)
        if world.action is not None:
            # Do not log the parameters: they are a whole fixture, with its secrets.
            world.action.parameters = {}
        log = EventLog(world.limits.max_events, line=world.history.origin.log.line + 1)
        world.history = replace(world.history, origin=replace(origin, log=log))
        world.snapshot = at_own_instant(world.history.origin)
        world.journal.replace(Requests())
        return left


def reset(world: World, *, original: bool = False) -> None:
    """Go back to the start of the world. Delete its journal, snapshots and branches.

    If the world has loaded a fixture, its start is that of the latest fixture. With ``original`` it is the
    very first start.
    """
    with world.lock:
        world.leave_unlogged()
        first, origin = world.history.first, world.history.origin
        world.history = History(first, first if original else origin)
        world.snapshot = at_own_instant(world.history.origin)
        world.journal.replace(Requests())


def _go(world: World, snapshot: Snapshot, requests: Requests) -> Checkpoint:
    left = _leave(world)
    world.journal.replace(requests)
    world.snapshot = at_own_instant(snapshot)
    return left


def _leave(world: World) -> Checkpoint:
    """Save the present history as a new branch. Drop the oldest branches beyond the limit."""
    left = world.history.left + 1
    branch = Checkpoint(f"b{left}", world.snapshot.at(world.now()), world.journal.requests)
    if world.action is not None:
        world.action.effect["branch"] = branch.name
    branches = [*world.history.branches.values(), branch]
    latest = branches[max(len(branches) - world.limits.max_branches, 0) :]
    world.history = replace(world.history, left=left, branches={branch.name: branch for branch in latest})
    return branch


def at_own_instant(snapshot: Snapshot) -> Snapshot:
    """Return ``snapshot`` with its clock at the time of the snapshot. A running clock runs on."""
    return snapshot.at(snapshot.clock.instant)


def _at(entry: Entry, *, before: bool) -> Snapshot:
    return (entry.before if before else entry.after).at(entry.at)


def _checkpoint(world: World, kind: Kind, name: str) -> Checkpoint:
    """Return a snapshot or a branch. Refuse with ``unknown_snapshot`` or ``unknown_branch``."""
    known: Mapping[str, Checkpoint] = getattr(world.history, kind)
    if name not in known:
        unknown = r.UNKNOWN_SNAPSHOT if kind == "snapshots" else r.UNKNOWN_BRANCH
        raise Refused(unknown, name=name[:80], known=names_phrase(sorted(known), kind))
    return known[name]


#: The separator between the name of a world and a point of its past: ``default@before:r3``.
AT = "@"


def seen(world: World, named: str) -> World | None:
    """Return a read-only view of ``world`` at one of its points, or None if the point is unknown.

    The view has the requests until that point and a frozen clock. Changes to it have no effect on ``world``.
    """
    with world.lock:
        try:
            checkpoint = point(world, named)
        except Refused:
            return None
        snapshot, requests = checkpoint.snapshot, checkpoint.requests
        snapshot = replace(snapshot, clock=snapshot.clock.freeze())
        past = World(f"{world.name}{AT}{named}", snapshot, world.limits, world.number)
        past.is_past = True
        past.history, past.inherited = world.history, world.inherited
        entries = tuple(entry for entry in requests.entries if entry.number <= snapshot.requests)
        older = tuple(event for event in requests.older if event.number <= snapshot.log.number)
        past.journal.replace(replace(requests, entries=entries, older=older))
    return past
