"""Fault kinds that carry a request out twice, or answer from an earlier state of the world."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from reseller_sandbox.faults.kind import Effects, FaultContext, FaultKind, FaultRequest, Phase
from reseller_sandbox.values.kinds import choice, span, whole


class Duplicate(FaultKind, frozen=True, kw_only=True):
    """Carry the request out twice, as if a proxy had sent the request again.

    In the ledger and in the list of changes, each entry has a cause. For the first run of the request ``r7``,
    the cause is ``r7``. For the second run, it is ``r7:duplicate``.

    Args:
        answer: Which of the two responses to return.
    """

    synonyms: ClassVar[tuple[str, ...]] = ("twice", "repeat", "retry")
    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    answer: Annotated[Literal["first", "second"], choice("first", "second")] = "first"

    def applies(self, request: FaultRequest) -> bool:
        """Whether the request has an operation to carry out."""
        return request.admitted

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, again=self.answer)


class Stale(FaultKind, frozen=True, kw_only=True):
    """Answer from an earlier state of the world, if the request only reads.

    This is the state before the last ``commits`` commits of the world. Only requests that change the
    world make a commit. The state is never older than the oldest request in the journal.

    With ``max_age``, the response comes at most from a state that a cache could still have: the state ended
    at most ``max_age`` ago, and the clock did not move since then. If there is no such state, the response is
    current.

    Args:
        commits: Number of commits to look back.
        max_age: Maximum time since the end of the state, by the world's clock. Default: any time.
    """

    synonyms: ClassVar[tuple[str, ...]] = ("cached", "old", "eventual")
    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    commits: Annotated[int, whole(1, 10**6)] = 1
    max_age: Annotated[float | None, span()] = None

    def applies(self, request: FaultRequest) -> bool:
        """Whether the request has an operation that only reads."""
        return request.admitted and request.reads

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, commits=self.commits, max_age=self.max_age)
