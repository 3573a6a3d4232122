"""The reseller API as data: what its interfaces declare, for those who know no interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reseller_sandbox.core.refusals import Rule, Wording


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ApiOperation:
    """One operation, as its row declares it.

    ``errors`` are those documented for it, by the names that faults know them by, each with the rules that
    become it. ``refuses`` are its rules in the order of the checks, ``shows_status`` is whether it only reads
    and its answer has the status of an order.
    """

    id: str
    method: str
    path: str
    refuses: Sequence[Rule]
    errors: Mapping[str, Sequence[Rule]]
    wording: Wording
    shows_status: bool

    @property
    def interface(self) -> str:
        """The interface's name, which its id begins with."""
        return self.id.partition(".")[0]


Contract = tuple[ApiOperation, ...]
