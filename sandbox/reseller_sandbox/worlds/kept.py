"""Worlds as values, to be written down and taken up again by another server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.limits import Limits
from reseller_sandbox.worlds.inherited import Inherited
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.moment import Moment
from reseller_sandbox.worlds.tally import Counts
from reseller_sandbox.worlds.world import Checkpoint, World


@dataclass(frozen=True, slots=True)
class KeptWorld:
    """A world with all that it can be taken back to. ``idle`` is for how many seconds nobody has used it."""

    name: str
    number: int
    left: int
    idle: float
    first: Moment
    origin: Moment
    moment: Moment
    inherited: Inherited
    snapshots: tuple[Checkpoint, ...]
    branches: tuple[Checkpoint, ...]
    entries: tuple[Entry, ...]
    dropped: int
    tally: Counts

    @classmethod
    def of(cls, world: World) -> KeptWorld:
        """Return what ``world`` is now."""
        with world.lock:
            return cls(
                name=world.name,
                number=world.number,
                left=world.left,
                idle=stopwatch() - world.used,
                first=world.first,
                origin=world.origin,
                moment=world.moment,
                inherited=world.inherited,
                snapshots=tuple(world.snapshots.values()),
                branches=tuple(world.branches.values()),
                entries=world.journal.entries,
                dropped=world.journal.dropped,
                tally=world.tally.counts(),
            )

    def opened(self, limits: Limits) -> World:
        """Return the world; its journal is as long as ``limits`` let it be."""
        world = World(self.name, self.moment, limits, self.number)
        world.left, world.used = self.left, stopwatch() - self.idle
        world.first, world.origin, world.inherited = self.first, self.origin, self.inherited
        world.snapshots = {one.name: one for one in self.snapshots}
        world.branches = {one.name: one for one in self.branches}
        world.journal.replace(self.entries)
        world.journal.dropped = self.dropped + len(self.entries) - len(world.journal)
        world.tally.add(self.tally)
        return world


@dataclass(frozen=True, slots=True)
class KeptWorlds:
    """The worlds of a server, the default one first, and what it remembers of former ones."""

    seed: str
    count: int
    worlds: tuple[KeptWorld, ...]
    claims: tuple[tuple[tuple[str, str], str], ...]
    ends: Mapping[str, str]
    departed: Counts
