"""Worlds as values, to be written down and taken up again by another server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.state import State, replaced
from reseller_sandbox.worlds.credentials import Claim, Inherited
from reseller_sandbox.worlds.journal import Entry, Tally
from reseller_sandbox.worlds.snapshot import Snapshot
from reseller_sandbox.worlds.world import Checkpoint, World

#: The fields of worlds, checkpoints and entries that hold moments.
_WITH_MOMENTS = ("first", "origin", "snapshot", "snapshots", "branches", "entries", "before", "after")


class WorldDump(Struct, frozen=True, kw_only=True):
    """A world with all that it can be taken back to. ``idle`` is for how many seconds nobody has used it."""

    name: str
    number: int
    left: int = 0
    idle: float = 0.0
    first: Snapshot
    origin: Snapshot
    snapshot: Snapshot
    inherited: Inherited
    snapshots: tuple[Checkpoint, ...] = ()
    branches: tuple[Checkpoint, ...] = ()
    entries: tuple[Entry, ...] = ()
    dropped: int = 0
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def of(cls, world: World) -> WorldDump:
        """Return what ``world`` is now."""
        same = ("name", "number", "left", "first", "origin", "snapshot", "inherited")
        with world.lock:
            return cls(
                **{name: getattr(world, name) for name in same},
                idle=stopwatch() - world.used,
                snapshots=tuple(world.snapshots.values()),
                branches=tuple(world.branches.values()),
                entries=world.journal.entries,
                dropped=world.journal.dropped,
                tally=Tally.of(world.tally),
            )

    def with_credentials(self, state: State) -> WorldDump:
        """Return the world with the credentials that its accounts have in ``state``, at every moment.

        Those that they had before are inherited.
        """
        known: dict[int, State] = {}

        def renewed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(renewed, value))
            if isinstance(value, Snapshot):
                if id(value.state) not in known:
                    known[id(value.state)] = _with_credentials(value.state, state)
                return replace(value, state=known[id(value.state)])
            parts = [name for name in _WITH_MOMENTS if hasattr(value, name)]
            return replace(value, **{name: renewed(getattr(value, name)) for name in parts})

        inherited = self.inherited.and_of(self.origin.state).and_of(self.snapshot.state)
        whole: WorldDump = replace(renewed(self), inherited=inherited)
        return whole

    def opened(self, limits: Limits) -> World:
        """Return the world; its journal is as long as ``limits`` let it be."""
        world = World(self.name, self.snapshot, limits, self.number)
        world.left, world.used = self.left, stopwatch() - self.idle
        world.first, world.origin, world.inherited = self.first, self.origin, self.inherited
        world.snapshots = {one.name: one for one in self.snapshots}
        world.branches = {one.name: one for one in self.branches}
        world.journal.replace(self.entries)
        world.journal.dropped = self.dropped + len(self.entries) - len(world.journal)
        world.tally.take(self.tally)
        return world


class ReplayResult(Struct, frozen=True):
    """A world that has lived a recording's past again, and what came out otherwise, if anything did.

    ``notes`` say what of the past the recording does not tell.
    """

    world: WorldDump
    difference: str
    notes: tuple[str, ...]


class EngineDump(Struct, frozen=True):
    """The worlds of a server, the default one first, and what it remembers of former ones."""

    seed: str
    count: int
    worlds: tuple[WorldDump, ...]
    claims: tuple[tuple[Claim, str], ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    departed: Tally = field(default_factory=Tally)


def _with_credentials(state: State, new: State) -> State:
    """Return ``state`` with the credentials that ``new`` has for the accounts of both."""
    both = [one for one in state.accounts if one in new.accounts]
    told = {
        one: {what: getattr(new.accounts[one], what) for what in ("key", "secret", "token")} for one in both
    }
    return replaced(state, [replace(state.accounts[one], **words) for one, words in told.items()])
