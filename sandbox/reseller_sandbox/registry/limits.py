"""How much a server's worlds may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reseller_sandbox.registry.refusals import TOO_MANY_FAULTS, Refused
from reseller_sandbox.registry.values import MOST, SECONDS, whole

_Count = Annotated[int, whole(0, MOST)]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds of one server.

    Args:
        max_worlds: How many worlds there may be, the default one included.
        world_idle: Worlds unused for so many seconds are dropped; 0 keeps them.
        journal: How many requests a world keeps, to be read and rewound to.
        journal_body: How many bytes it keeps of each body.
        max_branches: How many left-behind futures a world keeps.
        max_events: How many events a world remembers beside its requests.
        max_snapshots: How many snapshots a world takes.
        max_faults: How many rules of faults a world takes.
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
        """Refuse with ``too_many_faults`` so many rules."""
        if count > self.max_faults:
            raise Refused(TOO_MANY_FAULTS, count=count, limit=self.max_faults, setting="--max-faults")
