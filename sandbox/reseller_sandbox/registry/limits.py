"""Limits of a server: how many worlds it has, and how much each world keeps and shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from reseller_sandbox.refusals import TOO_MANY_FAULTS, Refused
from reseller_sandbox.values.kinds import MOST, SECONDS, each, matching, whole

_Count = Annotated[int, whole(0, MOST)]
_NAME = matching(r"[^\W_][\w.-]{0,99}", "a name of letters, digits, hyphens, underscores and dots")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one server.

    Args:
        max_worlds: Maximum number of worlds, including the default one.
        world_idle: Delete a world after this many seconds without a request. 0 keeps all worlds.
        journal: Maximum number of requests in the journal of a world. You can rewind to these requests.
        journal_body: Maximum number of bytes that the journal keeps of each body.
        max_branches: Maximum number of branches that a world keeps.
        max_events: Maximum number of events that a world keeps, and separately of requests that it keeps as
            events after the journal has dropped them.
        max_snapshots: Maximum number of snapshots in a world.
        max_faults: Maximum number of fault rules in a world.
        secret_names: An additional name of a secret, such as customerNo. Values of this name are masked
            wherever an authCode is, in each spelling: customer_no, X-Customer-No. Can be repeated.
    """

    max_worlds: Annotated[int, whole(1, MOST)] = 1000
    world_idle: Annotated[float, SECONDS] = 3600.0
    journal: _Count = 1000
    journal_body: _Count = 1 << 16
    max_branches: _Count = 32
    max_events: _Count = 10_000
    max_snapshots: _Count = 100
    max_faults: _Count = 1000
    secret_names: Annotated[tuple[str, ...], each(_NAME.read)] = ()

    def require_room_for_faults(self, count: int) -> None:
        """Refuse with ``too_many_faults`` if a world would have more than ``max_faults`` rules."""
        if count > self.max_faults:
            raise Refused(TOO_MANY_FAULTS, count=count, limit=self.max_faults, setting="--max-faults")
