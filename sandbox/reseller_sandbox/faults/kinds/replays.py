"""Kinds that carry a request out twice, or answer it from the past."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from reseller_sandbox.faults.kind import Asked, Effects, FaultContext, FaultKind, Phase
from reseller_sandbox.registry.values import choice, whole


class Duplicate(FaultKind, frozen=True, kw_only=True):
    """The request is carried out twice, as if a proxy had sent it again.

    In the ledger and among the changes the first has the request's name for its cause (``r7``), the
    second ``r7:duplicate``.

    Args:
        answer: Which of the two answers comes.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    answer: Annotated[Literal["first", "second"], choice("first", "second")] = "first"

    def applies(self, asked: Asked) -> bool:
        """Whether there is an operation to carry out."""
        return asked.admitted

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, again=self.answer)


class Stale(FaultKind, frozen=True, kw_only=True):
    """A request that only reads is answered as it would have been before the world's last commits.

    A request that changes nothing makes no commit. It looks no further back than the journal does.

    Args:
        commits: How many commits to look back.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    commits: Annotated[int, whole(1, 10**6)] = 1

    def applies(self, asked: Asked) -> bool:
        """Whether it reaches an operation, and only reads."""
        return asked.admitted and asked.reads

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, commits=self.commits)
