"""What a new world is to be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.core.assumptions import BadAssumption
from reseller_sandbox.core.model import DEFAULT
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.worlds.moment import Moment, to
from reseller_sandbox.worlds.world import World

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_COUNTED = re.compile(r"w[0-9]+")


class Fork(Struct, frozen=True, kw_only=True):
    """What a new world is to be; None leaves a thing as its source has it.

    Its source is ``fixture`` (a packaged fixture's name), ``state`` (the YAML of one),
    or ``point`` of ``world`` (a world, or its name). ``now`` is where its clock begins: a fixture's dates
    move along, a world's events happen on the way there. ``seed`` is what codes and identifiers are drawn
    from, where two worlds are to draw the same.
    """

    world: World | str = DEFAULT
    point: str = "now"
    fixture: str | None = None
    state: str | None = None
    name: str | None = None
    now: datetime | None = None
    frozen: bool | None = None
    assume: Mapping[str, object] | None = None
    seed: str | None = None

    def applied(self, begin: Moment) -> Moment:
        """Return the source's moment with what else is wanted; refuse with ``invalid_parameter``."""
        if self.now is not None and self.fixture is None and self.state is None:
            instant = self.now
            begin, _ = to(lambda _: instant)(begin)
        if self.frozen is not None:
            begin = replace(begin, clock=begin.clock.freeze() if self.frozen else begin.clock.run())
        if not self.assume:
            return begin
        try:
            return replace(begin, assumptions=begin.assumptions.with_values(self.assume))
        except BadAssumption as problem:
            raise Refused(INVALID_PARAMETER, problems=f"assume: {problem}") from None

    @property
    def told(self) -> dict[str, object]:
        """Return what a new world's own event log says of where it came from."""
        source = self.world if isinstance(self.world, str) else self.world.name
        if self.state is not None:
            return {"state": "given"}
        if self.fixture is not None:
            return {"fixture": self.fixture}
        return {"world": source, "point": self.point}


def require_name(name: str, bare: str) -> None:
    """Refuse a name that no world can have; ``bare`` is it without what its shard puts before it."""
    if not _NAME.fullmatch(name) or _COUNTED.fullmatch(bare):
        problem = (
            "name takes 1 to 40 letters, digits, hyphens and underscores, a letter or digit first, and not w "
            f"with a number, which worlds without a name are called; it is {name[:60]!r}"
        )
        raise Refused(INVALID_PARAMETER, problems=problem)
