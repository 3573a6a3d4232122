"""Kinds that know of commits: a request that is carried out twice, and an answer from the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reseller_sandbox.faults.kind import Asked, Kind, Phase, Target, Turn
from reseller_sandbox.faults.parameters import Choice, Number, parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate(Kind):
    """The request is carried out twice, as if something on its way had sent it again.

    In the ledger and among the changes the first has the request's name for its cause (``r7``), the
    second ``r7:duplicate``.
    """

    name: ClassVar[str] = "duplicate"
    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    answer: str = parameter(Choice(("first", "second")), "Which of the two answers comes.", default="first")

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Have it done again."""
        target.repeat(self.answer)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale(Kind):
    """What only reads is answered as it would have been before the world's last commits.

    Requests that change nothing are no commits. It looks no further back than the journal does.
    """

    name: ClassVar[str] = "stale"
    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    commits: int = parameter(Number(1, 10**6, whole=True), "How many commits to look back.", default=1)

    def applies(self, asked: Asked) -> bool:
        """Whether it only reads."""
        return asked.reads

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Look back."""
        target.look_back(self.commits)
        return True
