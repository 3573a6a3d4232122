"""The kind ``truncate``."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.core.values import SWITCH, whole
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Phase, Turn
from reseller_sandbox.server import delivery


class Truncate(FaultKind, frozen=True, kw_only=True):
    """The answer's head announces the whole body, and the connection ends in the middle of it."""

    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    keep: Annotated[
        int | None,
        whole(0, 1 << 30),
        "How many bytes of the body come, all but one at most; half of it, unless given.",
    ] = None
    reset: Annotated[bool, SWITCH, "Whether the connection ends with a reset."] = False

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.CutShort(self.keep, self.reset))
