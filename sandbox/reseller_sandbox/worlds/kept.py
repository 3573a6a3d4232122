"""Worlds as values, to be written down and taken up again by another server."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.limits import Limits
from reseller_sandbox.core.state import State, replaced
from reseller_sandbox.worlds.inherited import Inherited
from reseller_sandbox.worlds.journal import Counts, Entry
from reseller_sandbox.worlds.moment import Moment
from reseller_sandbox.worlds.world import Checkpoint, World


class KeptWorld(Struct, frozen=True):
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

    def with_credentials(self, state: State) -> KeptWorld:
        """Return the world with the credentials that its accounts have in ``state``, at every moment.

        Those that they had before are inherited.
        """
        known: dict[int, State] = {}

        def renewed(moment: Moment) -> Moment:
            if id(moment.state) not in known:
                known[id(moment.state)] = _with_credentials(moment.state, state)
            return replace(moment, state=known[id(moment.state)])

        def entries(told: tuple[Entry, ...]) -> tuple[Entry, ...]:
            return tuple(replace(one, before=renewed(one.before), after=renewed(one.after)) for one in told)

        def points(kept: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
            return tuple(Checkpoint(one.name, renewed(one.moment), entries(one.entries)) for one in kept)

        return replace(
            self,
            first=renewed(self.first),
            origin=renewed(self.origin),
            moment=renewed(self.moment),
            inherited=self.inherited.and_of(self.origin.state).and_of(self.moment.state),
            snapshots=points(self.snapshots),
            branches=points(self.branches),
            entries=entries(self.entries),
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


class Relived(Struct, frozen=True):
    """A world that has lived a capsule's past again, and what came out otherwise, if anything did.

    ``notes`` say what of the past the capsule does not tell.
    """

    world: KeptWorld
    difference: str
    notes: tuple[str, ...]


class KeptWorlds(Struct, frozen=True):
    """The worlds of a server, the default one first, and what it remembers of former ones."""

    seed: str
    count: int
    worlds: tuple[KeptWorld, ...]
    claims: tuple[tuple[tuple[str, str], str], ...]
    ends: Mapping[str, str]
    departed: Counts


def _with_credentials(state: State, new: State) -> State:
    """Return ``state`` with the credentials that ``new`` has for the accounts of both."""
    both = [one for one in state.accounts if one in new.accounts]
    told = {
        one: {what: getattr(new.accounts[one], what) for what in ("key", "secret", "token")} for one in both
    }
    return replaced(state, [replace(state.accounts[one], **words) for one, words in told.items()])
