"""The kind ``reset``."""

from __future__ import annotations

from msgspec.structs import replace

from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Turn
from reseller_sandbox.server import delivery


class Reset(FaultKind, frozen=True, kw_only=True):
    """A TCP reset comes in place of an answer."""

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.TcpReset())
