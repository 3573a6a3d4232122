"""The kind ``bandwidth``."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.core.values import whole
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Phase, Turn
from reseller_sandbox.server import delivery

#: How many pieces go out in a second, where the rate is high enough for that.
PIECES = 20


class Bandwidth(FaultKind, frozen=True, kw_only=True):
    """The answer's body comes at a limited number of bytes a second."""

    slows: ClassVar[bool] = True
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    rate: Annotated[int, whole(1, 1 << 30), "How many bytes come in a second."]

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        size = max(1, self.rate // PIECES)
        return replace(so_far, drip=delivery.Drops(size, size / self.rate))
