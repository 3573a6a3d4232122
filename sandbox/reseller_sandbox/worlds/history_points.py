"""Points of a world's past, present and left-behind futures, by their names.

``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` and ``branch:NAME``.
"""

from __future__ import annotations

from reseller_sandbox.core.refusals import UNKNOWN_POINT, Refused
from reseller_sandbox.worlds import timeline
from reseller_sandbox.worlds.moment import Moment
from reseller_sandbox.worlds.world import World


def find(world: World, point: str) -> Moment:
    """The moment of ``world`` that ``point`` names.

    Refuses with ``unknown_point``, ``unknown_request``, ``unknown_snapshot`` and ``unknown_branch``.
    """
    kind, _, named = point.partition(":")
    match kind, named:
        case "start", "":
            return timeline.lived_again(world.origin)
        case "now", "":
            return world.present()
        case "before" | "after", request if request:
            entry = world.journal.get(request)
            return (entry.before if kind == "before" else entry.after).at(entry.at)
        case "snapshot", name if name:
            return timeline.lived_again(timeline.snapshot_called(world, name).moment)
        case "branch", name if name:
            return timeline.lived_again(timeline.branch_called(world, name).moment)
    raise Refused(UNKNOWN_POINT, point=point[:80])
