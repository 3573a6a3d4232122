"""The kind ``hang``."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import replace

from reseller_sandbox.core.values import span
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Turn
from reseller_sandbox.server import delivery


class Hang(FaultKind, frozen=True, kw_only=True):
    """No answer comes, and the connection stays open.

    Before: the operation never takes effect. After: it has.
    """

    seconds: Annotated[
        float | None, span(), "After how long the connection is closed; never, unless given."
    ] = None

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.Silence(self.seconds))
