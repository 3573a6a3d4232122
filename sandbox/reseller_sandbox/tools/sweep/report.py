"""What came of a sweep: a run for each thing that went wrong, and the table of requests by kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.tools.sweep.troubles import SweptRequest, Trouble

#: How much of a program's output is told with a run that is shown.
_TOLD = 2000


class Came(StrEnum):
    """What came of a run, the worst last."""

    UNREACHED = "not reached"
    FINE = "fine"
    FAILED = "failed"
    WRONG = "silently wrong"


#: What stands in the table, where there is little room.
_WORDS = {one: "WRONG" if one is Came.WRONG else str(one) for one in Came}


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what went wrong, how the program ended, which invariants are ``broken``, the capsule's file.

    A program that fails has noticed; one that ends with 0 and has broken an invariant has not.
    """

    trouble: Trouble
    ended: Ended
    broken: tuple[str, ...] = ()
    reached: bool = True
    file: str | None = None

    @property
    def came(self) -> Came:
        """What came of it."""
        if not self.ended.passed:
            return Came.FAILED
        if self.broken:
            return Came.WRONG
        return Came.FINE if self.reached else Came.UNREACHED

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        request = self.trouble.request
        return {
            "request": str(request) if request is not None else None,
            "id": request.record.id if request is not None else None,
            "kind": self.trouble.kind,
            "detail": self.trouble.detail,
            "came": str(self.came),
            "ended": str(self.ended),
            "broken": list(self.broken),
            "file": self.file,
            "output": self.ended.output[-_TOLD:] if self.came is not Came.FINE else "",
        }


@dataclass(slots=True)
class SweepReport:
    """The runs of a sweep, in their order, of so many that were ``planned``, and the requests they are about.

    ``unsteady`` is whether the program asked something else when it was run a second time without faults.
    """

    requests: Sequence[SweptRequest]
    runs: list[Run] = field(default_factory=list)
    unsteady: bool = False
    planned: int = 0

    @property
    def wrong(self) -> list[Run]:
        """The runs that were silently wrong."""
        return [one for one in self.runs if one.came is Came.WRONG]

    def counts(self) -> dict[str, int]:
        """Return how many runs came to what."""
        found = Counter(one.came for one in self.runs)
        return {str(one): found[one] for one in Came}

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return the tables: what came of each request and kind, and of each assumption."""
        about = {id(one): [run for run in self.runs if run.trouble.request is one] for one in self.requests}
        kinds = list(dict.fromkeys(run.trouble.kind for run in self.runs if run.trouble.request is not None))
        rows = [
            {
                "request": f"{one.record.id} {one}",
                **{kind: _cell([run.came for run in runs if run.trouble.kind == kind]) for kind in kinds},
            }
            for one in self.requests
            if (runs := about[id(one)])
        ]
        others = [run for run in self.runs if run.trouble.request is None]
        assumed = [{"assumption": run.trouble.detail, "came": _WORDS[run.came]} for run in others]
        return {"requests": rows, "assumptions": assumed}

    def json(self) -> dict[str, Any]:
        """Return all of it for programs."""
        return {
            "runs": len(self.runs),
            "planned": self.planned,
            "unsteady": self.unsteady,
            **self.counts(),
            **self.tables(),
            "findings": [one.json() for one in self.wrong],
            "others": [one.json() for one in self.runs if one.came in (Came.FAILED, Came.UNREACHED)],
        }

    def lines(self) -> Iterator[str]:
        """Yield what is said below the table."""
        for number, one in enumerate(self.wrong, 1):
            request = one.trouble.request
            where = f"{request.record.id} {request}: " if request is not None else ""
            yield f"{number}. {where}{one.trouble}, and it ends as if all were well."
            yield from (f"   {words}" for words in one.broken)
            if one.file is not None:
                yield f"   reseller-sandbox open {one.file}"
        counted = ", ".join(f"{count} {came}" for came, count in self.counts().items() if count)
        yield f"{len(self.runs)} runs: {counted or 'nothing to try'}."
        if len(self.runs) < self.planned:
            yield f"{self.planned - len(self.runs)} more were not tried."
        if self.unsteady:
            yield "Two runs without faults did not ask the same, so that names they left are not compared."


def _cell(came: Sequence[Came]) -> str:
    if len(set(came)) < 2:
        return _WORDS[came[0]] if came else "-"
    found = Counter(came)
    return ", ".join(f"{found[one]} {_WORDS[one]}" for one in Came if found[one])
