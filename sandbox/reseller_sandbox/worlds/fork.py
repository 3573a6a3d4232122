"""What a new world is to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from reseller_sandbox.core.model import DEFAULT
from reseller_sandbox.worlds.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
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

    @property
    def told(self) -> dict[str, object]:
        """Return what a new world's own event log says of where it came from."""
        source = self.world if isinstance(self.world, str) else self.world.name
        if self.state is not None:
            return {"state": "given"}
        if self.fixture is not None:
            return {"fixture": self.fixture}
        return {"world": source, "point": self.point}
