"""The report of a sweep: its runs, the table of requests by kinds of trouble, and the silently wrong runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from reseller_sandbox.advice.words import plural


class Came(StrEnum):
    """The result of a run, the worst last."""

    UNREACHED = "not reached"
    FINE = "fine"
    FAILED = "failed"
    WRONG = "silently wrong"


#: The words in the table, where there is little room.
_WORDS = {one: "WRONG" if one is Came.WRONG else str(one) for one in Came}

#: How many of the requests are named that are refused without any fault.
_NAMED = 3


class Run(Struct, frozen=True, kw_only=True):
    """One run: the request with its ``id``, the trouble with it, and the result.

    A program that fails has noticed the trouble; one that ends with 0 and has ``broken`` an invariant has
    not. ``number`` is the place of the run among all that were planned.
    """

    number: int
    request: str | None
    id: str | None
    kind: str
    detail: str
    came: Came
    ended: str
    broken: tuple[str, ...]
    file: str | None
    output: str

    @property
    def trouble(self) -> str:
        """The trouble in a few words."""
        return f"{self.kind} ({self.detail})" if self.detail else self.kind

    @property
    def row(self) -> str:
        """The title of its row in the table."""
        return f"{self.id} {self.request}"

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {name: value for name, value in to_builtins(self).items() if name != "number"}


class SweepReport(Struct, kw_only=True):
    """The runs of one program, or of one ``test`` of it, of so many that were ``planned``.

    ``rows`` are the titles of the table, ``refused`` the requests that are refused without any fault, each
    with the error. ``unsteady`` is whether two runs without faults sent different requests. ``problem`` is
    why there are no runs, ``tests`` are the tests of the program that have their own worlds.
    """

    test: str = ""
    rows: Sequence[str] = ()
    refused: Sequence[str] = ()
    runs: list[Run] = field(default_factory=list)
    planned: int = 0
    unsteady: bool = False
    problem: str = ""
    tests: Sequence[str] = ()

    def beside(self, other: SweepReport) -> SweepReport:
        """Return this report with the runs of another part of the same sweep."""
        return replace(
            self,
            runs=sorted((*self.runs, *other.runs), key=lambda one: one.number),
            planned=self.planned + other.planned,
            unsteady=self.unsteady or other.unsteady,
            problem=self.problem or other.problem,
        )

    @property
    def wrong(self) -> list[Run]:
        """The runs that were silently wrong."""
        return [one for one in self.runs if one.came is Came.WRONG]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The same for programs."""
        return [one.json() for one in self.wrong]

    def counts(self) -> dict[str, int]:
        """Return how many runs had each result."""
        found = Counter(one.came for one in self.runs)
        return {str(one): found[one] for one in Came}

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return the tables that have rows: results by request and kind, and by assumption."""
        about = {row: [run for run in self.runs if run.id and run.row == row] for row in self.rows}
        kinds = list(dict.fromkeys(run.kind for run in self.runs if run.id))
        requests = [
            {
                "request": row,
                **{kind: _cell([run.came for run in runs if run.kind == kind]) for kind in kinds},
            }
            for row, runs in about.items()
            if runs
        ]
        assumed = [{"assumption": run.detail, "came": _WORDS[run.came]} for run in self.runs if not run.id]
        both = {"requests": requests, "assumptions": assumed}
        return {name: rows for name, rows in both.items() if rows}

    def json(self) -> dict[str, Any]:
        """Return all of it for programs."""
        return {
            **({"test": self.test} if self.test else {}),
            "runs": len(self.runs),
            "planned": self.planned,
            "unsteady": self.unsteady,
            "refused": list(self.refused),
            "problem": self.problem or None,
            **self.counts(),
            "requests": [],
            "assumptions": [],
            **self.tables(),
            "findings": self.findings,
            "others": [one.json() for one in self.runs if one.came in (Came.FAILED, Came.UNREACHED)],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines below the table."""
        if self.problem:
            yield f"not swept: {self.problem}"
            return
        for number, one in enumerate(self.wrong, 1):
            where = f"{one.row}: " if one.id else ""
            yield f"{number}. {where}{one.trouble}, and it ends as if all were well."
            yield from (f"   {words}" for words in one.broken)
            if one.file is not None:
                yield f"   reseller-sandbox open {one.file}"
        counted = ", ".join(f"{count} {came}" for came, count in self.counts().items() if count)
        count = len(self.runs)
        yield f"{plural(count, 'run')}: {counted or 'nothing to try'}."
        if count < self.planned:
            yield f"{self.planned - count} more were not tried."
        if self.refused:
            more = f"; and {len(self.refused) - _NAMED} more" if len(self.refused) > _NAMED else ""
            yield f"Refused without any fault: {'; '.join(self.refused[:_NAMED])}{more}"
        if self.unsteady:
            yield "Two runs without faults did not ask the same, so that names they left are not compared."

    def text(self) -> list[str]:
        """Return the report as text: the tables, and the lines below them."""
        from reseller_sandbox.reports.tables import in_lines  # rich is for reports alone

        tables = self.tables()
        return [*in_lines(tables), "", *self.lines()] if tables else list(self.lines())


def narrow(tables: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[str]:
    """Yield the tables as lines, for a terminal that has no room for every column."""
    for rows in tables.values():
        for first, *others in (list(row.items()) for row in rows):
            yield first[1]
            cells = [f"{name} {cell}" for name, cell in others if cell != "-"]
            yield from wrap(", ".join(cells), 76, initial_indent="  ", subsequent_indent="  ")


def _cell(came: Sequence[Came]) -> str:
    if len(set(came)) < 2:
        return _WORDS[came[0]] if came else "-"
    found = Counter(came)
    return ", ".join(f"{found[one]} {_WORDS[one]}" for one in Came if found[one])
