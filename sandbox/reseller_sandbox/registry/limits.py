"""Limits on the worlds of a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reseller_sandbox.refusals import TOO_MANY_FAULTS, Refused
from reseller_sandbox.values.kinds import MOST, SECONDS, whole

_Count = Annotated[int, whole(0, MOST)]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one server.

    Args:
        max_worlds: Maximum number of worlds, including the default one.
        world_idle: Delete worlds that are unused for this many seconds. 0 keeps them.
        journal: Number of requests that a world keeps to read and rewind to.
        journal_body: Number of bytes kept of each body.
        max_branches: Number of abandoned branches that a world keeps.
        max_events: Number of events that a world keeps, and of dropped requests that it keeps as events.
        max_snapshots: Maximum number of snapshots in a world.
        max_faults: Maximum number of fault rules in a world.
    """

    max_worlds: Annotated[int, whole(1, MOST)] = 1000
    world_idle: Annotated[float, SECONDS] = 3600.0
    journal: _Count = 1000
    journal_body: _Count = 1 << 16
    max_branches: _Count = 32
    max_events: _Count = 10_000
    max_snapshots: _Count = 100
    max_faults: _Count = 1000

    def require_room_for_faults(self, count: int) -> None:
        """Refuse with ``too_many_faults`` if ``count`` rules exceed the limit."""
        if count > self.max_faults:
            raise Refused(TOO_MANY_FAULTS, count=count, limit=self.max_faults, setting="--max-faults")
