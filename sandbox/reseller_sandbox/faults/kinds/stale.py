"""The kind ``stale``."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec.structs import replace

from reseller_sandbox.core.values import whole
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import Asked, FaultKind, Phase, Turn


class Stale(FaultKind, frozen=True, kw_only=True):
    """A request that only reads is answered as it would have been before the world's last commits.

    A request that changes nothing makes no commit. It looks no further back than the journal does.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    commits: Annotated[int, whole(1, 10**6), "How many commits to look back."] = 1

    def applies(self, asked: Asked) -> bool:
        """Whether it reaches an operation, and only reads."""
        return asked.admitted and asked.reads

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, commits=self.commits)
