"""What came of a sweep: a run for each thing that went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from reseller_sandbox.powers.journal import RequestRecord
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.tools.sweep.told import Came, RunTold, SweepTold
from reseller_sandbox.tools.sweep.troubles import SweptRequest, Trouble, asked

#: How much of a program's output is told with a run that is shown.
_TOLD = 2000


class Run(Struct, frozen=True):
    """One run: what went wrong, how the program ended, which invariants are ``broken``, the capsule's file.

    A program that fails has noticed; one that ends with 0 and has broken an invariant has not. ``number`` is
    the place of the trouble among all that were planned.
    """

    trouble: Trouble
    ended: Ended
    broken: tuple[str, ...] = ()
    reached: bool = True
    file: str | None = None
    number: int = 0

    @property
    def came(self) -> Came:
        """What came of it."""
        if not self.ended.passed:
            return Came.FAILED
        if self.broken:
            return Came.WRONG
        return Came.FINE if self.reached else Came.UNREACHED

    @property
    def told(self) -> RunTold:
        """The run in words."""
        request = self.trouble.request
        return RunTold(
            number=self.number,
            request=str(request) if request is not None else None,
            id=request.record.id if request is not None else None,
            kind=self.trouble.kind,
            detail=self.trouble.detail,
            came=self.came,
            ended=str(self.ended),
            broken=self.broken,
            file=self.file,
            output=self.ended.output[-_TOLD:] if self.came is not Came.FINE else "",
        )


class SweepReport(Struct):
    """The runs of a sweep, in their order, of so many that were ``planned``, and the requests they are about.

    ``refused`` are those of the program that are refused without any fault. ``unsteady`` is whether it asked
    something else when it was run a second time so, ``tests`` are those of it that have worlds of their own.
    """

    requests: Sequence[SweptRequest]
    refused: Sequence[RequestRecord] = ()
    runs: list[Run] = field(default_factory=list)
    unsteady: bool = False
    planned: int = 0
    tests: Sequence[str] = ()

    @property
    def wrong(self) -> list[Run]:
        """The runs that were silently wrong."""
        return [one for one in self.runs if one.came is Came.WRONG]

    def told(self, test: str = "") -> SweepTold:
        """Return the report in words; ``test`` is the test that was swept, if it was one."""
        return SweepTold(
            test=test,
            rows=[f"{one.record.id} {one}" for one in self.requests],
            refused=[f"{one.id} {asked(one)} ({one.refused})" for one in self.refused],
            runs=[one.told for one in self.runs],
            planned=self.planned,
            unsteady=self.unsteady,
        )

    def counts(self) -> dict[str, int]:
        """Return how many runs came to what."""
        return self.told().counts()

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return the tables: what came of each request and kind, and of each assumption."""
        return self.told().tables()

    def json(self) -> dict[str, Any]:
        """Return all of it for programs."""
        return self.told().json()

    def lines(self) -> Iterator[str]:
        """Yield what is said below the table."""
        return self.told().lines()
