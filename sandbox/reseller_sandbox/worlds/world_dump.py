"""Worlds as values, for writing to a file and for opening on another server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.state import State, changed
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.worlds.credentials import Claim, Inherited
from reseller_sandbox.worlds.journal import Requests, Tally
from reseller_sandbox.worlds.snapshot import Snapshot
from reseller_sandbox.worlds.world import History, World

#: The fields of worlds, histories, checkpoints, requests and entries that hold snapshots.
_WITH_SNAPSHOTS = (
    *("history", "first", "origin", "snapshot", "snapshots", "branches", "requests"),
    *("entries", "before", "after"),
)


class WorldDump(Struct, frozen=True, kw_only=True):
    """A world with its whole history, as a value. ``idle`` is in seconds since its last use."""

    name: str
    number: int
    idle: float = 0.0
    history: History
    snapshot: Snapshot
    inherited: Inherited
    requests: Requests = Requests()
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def of(cls, world: World) -> WorldDump:
        """Return a dump of ``world`` with its last committed content. Do not wait for long work."""
        return cls(
            name=world.name,
            number=world.number,
            idle=stopwatch() - world.used,
            tally=Tally.of(world.tally),
            **world.lock.committed()._asdict(),
        )

    def with_credentials(self, state: State) -> WorldDump:
        """Return this dump with the credentials of ``state`` in every snapshot of its history.

        The previous credentials become inherited ones.
        """
        known: dict[int, State] = {}

        def renewed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(renewed, value))
            if isinstance(value, Mapping):
                return {name: renewed(inner) for name, inner in value.items()}
            if isinstance(value, Snapshot):
                if id(value.state) not in known:
                    known[id(value.state)] = _with_credentials(value.state, state)
                return replace(value, state=known[id(value.state)])
            parts = [name for name in _WITH_SNAPSHOTS if hasattr(value, name)]
            return replace(value, **{name: renewed(getattr(value, name)) for name in parts})

        inherited = self.inherited.and_of(self.history.origin.state).and_of(self.snapshot.state)
        whole: WorldDump = replace(renewed(self), inherited=inherited)
        return whole

    def opened(self, limits: Limits) -> World:
        """Return a world with the content of this dump. ``limits`` bounds its journal."""
        world = World(self.name, self.snapshot, limits, self.number)
        world.history, world.inherited = self.history, self.inherited
        world.used = stopwatch() - self.idle
        world.journal.replace(self.requests)
        world.tally.take(self.tally)
        return world


class ReplayResult(Struct, frozen=True):
    """The world after a replay. ``difference`` is the first difference from the recording, empty if none.

    ``notes`` name the parts of the past that the recording leaves out.
    """

    world: WorldDump
    difference: str
    notes: tuple[str, ...]


class EngineDump(Struct, frozen=True):
    """The worlds of a server, the default world first, and the data kept about deleted worlds."""

    seed: str
    count: int
    worlds: tuple[WorldDump, ...]
    claims: tuple[tuple[Claim, str], ...] = ()
    ends: Mapping[str, str] = field(default_factory=dict)
    departed: Tally = field(default_factory=Tally)


def _with_credentials(state: State, new: State) -> State:
    """Return ``state`` with the credentials from ``new`` for each account that both states have."""
    accounts = []
    for client_id, account in state.accounts.items():
        if (renewed := new.accounts.get(client_id)) is not None:
            accounts.append(replace(account, key=renewed.key, secret=renewed.secret, token=renewed.token))
    return changed(state, (), accounts)
