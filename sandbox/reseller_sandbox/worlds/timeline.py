"""Points that a world can go back to: its start, requests, snapshots and branches."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reseller_sandbox.refusals import (
    TOO_MANY_SNAPSHOTS,
    UNKNOWN_BRANCH,
    UNKNOWN_POINT,
    UNKNOWN_SNAPSHOT,
    Refused,
    Rule,
)
from reseller_sandbox.values.text_checks import names_phrase
from reseller_sandbox.worlds.eventlog import EventLog
from reseller_sandbox.worlds.journal import Entry, RequestJournal
from reseller_sandbox.worlds.snapshot import Snapshot
from reseller_sandbox.worlds.world import Checkpoint, World


def snapshot(world: World, name: str) -> Checkpoint:
    """Save the present as the snapshot ``name``, in place of an earlier one.

    Refuse with ``too_many_snapshots``.
    """
    with world.lock:
        count, limit = len(world.snapshots), world.limits.max_snapshots
        if name not in world.snapshots and count >= limit:
            raise Refused(TOO_MANY_SNAPSHOTS, count=count, limit=limit, setting="--max-snapshots")
        kept = world.snapshots[name] = Checkpoint.of(name, world.present(), world.journal)
        return kept


def point(world: World, named: str) -> Snapshot:
    """Return the snapshot of ``world`` at the point ``named``.

    A point is ``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or ``branch:NAME``. Refuse
    with ``unknown_point``, ``unknown_request``, ``unknown_snapshot`` and ``unknown_branch``.
    """
    kind, _, name = named.partition(":")
    match kind, name:
        case "start", "":
            return at_own_instant(world.origin)
        case "now", "":
            return world.present()
        case "before" | "after", request if request:
            return _at(world.journal.get(request), before=kind == "before")
        case "snapshot", name if name:
            return at_own_instant(_snapshot(world, name).snapshot)
        case "branch", name if name:
            return at_own_instant(_branch(world, name).snapshot)
    raise Refused(UNKNOWN_POINT, point=named[:80])


def requests_until(world: World, named: str) -> Checkpoint | RequestJournal:
    """Return the checkpoint or the journal that has the requests before an existing point."""
    kind, _, name = named.partition(":")
    checkpoints = {"snapshot": world.snapshots, "branch": world.branches}.get(kind, {})
    return checkpoints.get(name, world.journal)


def restore(world: World, name: str) -> Checkpoint:
    """Go back to a snapshot. Return the branch that keeps the present history."""
    with world.lock:
        checkpoint = _snapshot(world, name)
        return _go(world, checkpoint)


def forget_snapshot(world: World, name: str) -> None:
    """Delete a snapshot."""
    with world.lock:
        del world.snapshots[_snapshot(world, name).name]


def rewind(world: World, request: str, *, before: bool) -> Checkpoint:
    """Go back to before or after a request. Return a branch with the later history.

    Refuse with ``unknown_request``.
    """
    with world.lock:
        entry = world.journal.get(request)
        last = entry.number - 1 if before else entry.number
        entries = tuple(earlier for earlier in world.journal if earlier.number <= last)
        return _go(world, Checkpoint("", _at(entry, before=before), entries, world.journal.older))


def switch(world: World, name: str) -> Checkpoint:
    """Continue a branch from its end.

    Return the branch that keeps the present history.
    """
    with world.lock:
        branch = _branch(world, name)
        del world.branches[name]  # first, so that the new branch replaces this one, and no other
        return _go(world, branch)


def forget_branch(world: World, name: str) -> None:
    """Delete a branch."""
    with world.lock:
        del world.branches[_branch(world, name).name]


def restart(world: World, origin: Snapshot) -> Checkpoint:
    """Restart the world from ``origin``. Return a branch with its previous history."""
    with world.lock:
        left = _leave(world)
        if world.action is not None:
            world.action.parameters = {}  # because it is a whole fixture, with its secrets
        world.origin = replace(origin, log=EventLog(world.limits.max_events, line=world.left))
        world.snapshot = at_own_instant(world.origin)
        world.journal.clear()
        return left


def reset(world: World, *, original: bool = False) -> None:
    """Go back to the start of the world. Delete its journal, snapshots and branches.

    If the world has loaded a fixture, its start is that of the latest fixture. With ``original`` it is the
    very first start.
    """
    with world.lock:
        world.leave_unlogged()
        world.origin = world.first if original else world.origin
        world.snapshot = at_own_instant(world.origin)
        world.journal.clear()
        world.snapshots.clear()
        world.branches.clear()
        world.left = 0


def _go(world: World, checkpoint: Checkpoint) -> Checkpoint:
    left = _leave(world)
    world.journal.replace(checkpoint.entries, checkpoint.older)
    world.snapshot = at_own_instant(checkpoint.snapshot)
    return left


def _leave(world: World) -> Checkpoint:
    """Save the present as a branch. Drop the oldest branches beyond the limit."""
    world.left += 1
    branch = Checkpoint.of(f"b{world.left}", world.snapshot.at(world.now()), world.journal)
    world.branches[branch.name] = branch
    if world.action is not None:
        world.action.effect["branch"] = branch.name
    while len(world.branches) > world.limits.max_branches:
        del world.branches[next(iter(world.branches))]
    return branch


def at_own_instant(snapshot: Snapshot) -> Snapshot:
    """Return ``snapshot`` with its clock at its instant. A clock that ran continues."""
    return snapshot.at(snapshot.clock.instant)


def _at(entry: Entry, *, before: bool) -> Snapshot:
    return (entry.before if before else entry.after).at(entry.at)


def _snapshot(world: World, name: str) -> Checkpoint:
    return _called(name, world.snapshots, UNKNOWN_SNAPSHOT, "snapshots")


def _branch(world: World, name: str) -> Checkpoint:
    return _called(name, world.branches, UNKNOWN_BRANCH, "branches")


def _called(name: str, known: Mapping[str, Checkpoint], unknown: Rule, plural: str) -> Checkpoint:
    """Return the checkpoint called ``name``. If there is none, refuse with the rule ``unknown``."""
    if name not in known:
        raise Refused(unknown, name=name[:80], known=names_phrase(sorted(known), plural))
    return known[name]


#: The separator between the name of a world and a point of its past: ``default@before:r3``.
AT = "@"


class PastWorld(World):
    """A world at a point of its past, with the requests until then and a frozen clock.

    It is made for one look-up. Changes to it have no effect on the world.
    """

    is_past = True


def seen(world: World, named: str) -> PastWorld | None:
    """Return ``world`` at the point ``named``, or None if there is no such point."""
    with world.lock:
        try:
            snapshot = point(world, named)
        except Refused:
            return None
        requests = requests_until(world, named)
        past = PastWorld(f"{world.name}{AT}{named}", snapshot, world.limits, world.number)
        past.snapshot = snapshot.frozen()
        past.first, past.origin, past.inherited = world.first, world.origin, world.inherited
        past.snapshots, past.branches = dict(world.snapshots), dict(world.branches)
        past.journal.replace(
            (entry for entry in requests.entries if entry.number <= snapshot.requests),
            (event for event in requests.older if event.number <= snapshot.log.number),
        )
        past.journal.dropped = world.journal.dropped
    return past
