"""The kind ``duplicate``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from reseller_sandbox.core.values import choice
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import Asked, FaultKind, Phase, Turn


class Duplicate(FaultKind, frozen=True, kw_only=True):
    """The request is carried out twice, as if a proxy had sent it again.

    In the ledger and among the changes the first has the request's name for its cause (``r7``), the
    second ``r7:duplicate``.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    answer: Annotated[
        Literal["first", "second"], choice("first", "second"), "Which of the two answers comes."
    ] = "first"

    def applies(self, asked: Asked) -> bool:
        """Whether there is an operation to carry out."""
        return asked.admitted

    def strike(self, so_far: Effects, turn: Turn) -> Effects:  # noqa: ARG002
        return replace(so_far, again=self.answer)
