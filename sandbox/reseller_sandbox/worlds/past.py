"""A world as it was: to look at by every way that leads to a world, and not to be changed."""

from __future__ import annotations

from reseller_sandbox.core.refusals import UNKNOWN_WORLD, Refused
from reseller_sandbox.worlds import timeline
from reseller_sandbox.worlds.world import World

#: What stands between a world's name and a point of its past: ``default@before:r3``.
AT = "@"


class PastWorld(World):
    """A world at a point of its past, with the requests that led there. Its clock stands still.

    It is made when it is asked for, and forgotten afterwards; whatever is done to it has no effect.
    """

    is_past = True


def seen(world: World, point: str) -> PastWorld | None:
    """Return ``world`` as it was at a point, as ``timeline.point`` names it, if there is such a point."""
    with world.lock:
        try:
            moment = timeline.point(world, point)
        except Refused:
            return None
        entries = timeline.led_to(world, point)
        past = PastWorld(f"{world.name}{AT}{point}", moment, world.limits, world.number)
        past.moment = moment.frozen()
        past.first, past.origin, past.inherited = world.first, world.origin, world.inherited
        past.snapshots, past.branches = dict(world.snapshots), dict(world.branches)
        past.journal.replace(one for one in entries if one.number <= moment.requests)
        past.journal.dropped = world.journal.dropped
    return past


def require_present(world: World) -> None:
    """Refuse with ``unknown_world`` to change what is past."""
    if world.is_past:
        reason = ": what is past can be looked at and not changed; go back there, or fork a world from there"
        raise Refused(UNKNOWN_WORLD, world=world.name[:80], elsewhere=reason)
