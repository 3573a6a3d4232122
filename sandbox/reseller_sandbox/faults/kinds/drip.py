"""The kind ``drip``."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.core.values import span, whole
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Phase, Turn
from reseller_sandbox.server import delivery


class Drip(FaultKind, frozen=True, kw_only=True):
    """The answer's body comes in small pieces, with a pause after each."""

    slows: ClassVar[bool] = True
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    size: Annotated[int, whole(1, 1 << 20), "How many bytes come at a time."] = 1
    pause: Annotated[float, span(), "How much time lies between them."] = 0.1

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, drip=delivery.Drops(self.size, self.pause))
