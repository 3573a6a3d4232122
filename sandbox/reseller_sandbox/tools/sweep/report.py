"""The report of a sweep: its runs, its tables, and the silently wrong runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from reseller_sandbox.reports.findings import Case
from reseller_sandbox.tools.report import Report, files_of
from reseller_sandbox.tools.sweep.troubles import UNPREVENTABLE
from reseller_sandbox.values.text_checks import complaint, plural


class SweepResult(StrEnum):
    """Result of a run. The worst result comes last."""

    NOT_SENT = "not sent"
    FINE = "fine"
    NOTICED = "noticed"
    WRONG = "silently wrong"


#: The text of each result in the table. The worst result is in capitals.
_WORDS = {result: "WRONG" if result is SweepResult.WRONG else str(result) for result in SweepResult}

#: Maximum number of runs in the line "The same: …" of a finding.
_ALSO = 8

#: How a client can notice that its request was carried out twice.
_NOTICE = "A client can notice it: read the record, or the ledger, after the request."

#: Maximum number of requests in the line "Refused without any fault".
_NAMED = 3


class Run(Struct, frozen=True, kw_only=True):
    """One run of a sweep: a request with its ``id``, the trouble on the request, and the result.

    ``number`` is the position of the run among all planned runs. ``then`` is the second fault of the run,
    with its request. ``violations`` describe the violated invariants. ``source`` is the line of the program
    that sent the request. ``file`` is the recording of a finding, and ``page`` its HTML page.
    """

    number: int
    request: str | None
    id: str | None
    kind: str
    detail: str
    then: str
    result: SweepResult
    ended: str
    violations: tuple[str, ...]
    output: str
    file: str | None = None
    page: str | None = None
    source: str = ""
    remedy: str = ""

    @property
    def trouble(self) -> str:
        """The trouble as text: its kind, its detail in parentheses, and the second fault."""
        first = f"{self.kind} ({self.detail})" if self.detail else self.kind
        return f"{first}, then {self.then}" if self.then else first

    @property
    def title(self) -> str:
        """The request and the trouble as text."""
        return f"{self.row}: {self.trouble}" if self.id else self.trouble

    @property
    def name(self) -> str:
        """The name of the run's files, without an extension."""
        return "-".join(filter(None, (self.id, self.kind, self.detail, self.then)))

    @property
    def is_preventable(self) -> bool:
        """Whether a client can prevent the consequences of the trouble."""
        return self.kind not in UNPREVENTABLE

    @property
    def row(self) -> str:
        """The request as the table names it: its id in the journal, and its text."""
        return f"{self.id} {self.request}"

    def json(self) -> dict[str, Any]:
        """Return the run as JSON values, without its ``number``."""
        return {name: value for name, value in to_builtins(self).items() if name != "number"}


class SweepReport(Report, kw_only=True):
    """The report of a sweep: the runs of one program.

    ``planned`` is the number of planned runs, and ``deeper`` the number of runs that a greater depth adds.
    ``rows`` are the requests in the table. ``refused`` are the requests that the API refuses without any
    fault, each with its error. ``unsteady`` is whether two runs without trouble sent different requests.
    ``tests`` are the ids of tests that have their own worlds, if the program is pytest.
    """

    rows: Sequence[str] = ()
    refused: Sequence[str] = ()
    runs: list[Run] = field(default_factory=list)
    planned: int = 0
    deeper: int = 0
    unsteady: bool = False
    tests: Sequence[str] = ()

    def with_part(self, other: SweepReport) -> SweepReport:
        """Return this report joined with ``other``, which has other runs of the same sweep."""
        return replace(
            self,
            runs=sorted((*self.runs, *other.runs), key=lambda run: run.number),
            planned=self.planned + other.planned,
            deeper=self.deeper + other.deeper,
            unsteady=self.unsteady or other.unsteady,
            problem=self.problem or other.problem,
        )

    @property
    def wrong(self) -> list[Run]:
        """The silently wrong runs: the program reports success, although it violates an invariant."""
        return [run for run in self.runs if run.result is SweepResult.WRONG]

    def causes(self) -> list[list[Run]]:
        """Group the silently wrong runs. Runs with the same consequences probably have the same cause.

        In each group, the run with the fewest faults comes first. Groups that no client can prevent are
        last.
        """
        groups: dict[object, list[Run]] = {}
        for run in sorted(self.wrong, key=lambda run: (not run.is_preventable, bool(run.then), run.number)):
            groups.setdefault((run.is_preventable, frozenset(run.violations)), []).append(run)
        return list(groups.values())

    def cases(self, program: str) -> list[Case]:
        """Return the runs as cases for JUnit and SARIF. ``program`` is their group if there is no test."""
        return [
            Case(
                group=self.test or program,
                name=run.title,
                rule=run.kind,
                problem="\n".join(run.violations) if run.result is SweepResult.WRONG else "",
                source=run.source,
                page=run.page or "",
            )
            for run in self.runs
        ]

    def counts(self) -> dict[str, int]:
        """Return the number of runs by result."""
        counter = Counter(run.result for run in self.runs)
        return {str(result): counter[result] for result in SweepResult}

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return two tables: results by request and kind, and results by assumption. Omit an empty table."""
        single = [run for run in self.runs if not run.then]
        about = {row: [run for run in single if run.id and run.row == row] for row in self.rows}
        kinds = list(dict.fromkeys(run.kind for run in single if run.id))
        requests = [
            {
                "request": row,
                **{kind: _cell([run.result for run in runs if run.kind == kind]) for kind in kinds},
            }
            for row, runs in about.items()
            if runs
        ]
        assumed = [
            {"assumption": run.detail, "result": _WORDS[run.result]} for run in self.runs if not run.id
        ]
        both = {"requests": requests, "assumptions": assumed}
        return {name: rows for name, rows in both.items() if rows}

    def summary(self) -> dict[str, Any]:
        """Return the numbers, tables and findings as JSON values.

        A finding is the first run of a group. The other runs of the group are under ``also``.
        """
        return {
            "runs": len(self.runs),
            "planned": self.planned,
            "deeper": self.deeper,
            "unsteady": self.unsteady,
            "refused": list(self.refused),
            **self.counts(),
            "requests": [],
            "assumptions": [],
            **self.tables(),
            "findings": [
                {**first.json(), "preventable": first.is_preventable, "also": [run.json() for run in others]}
                for first, *others in self.causes()
            ],
            "others": [
                run.json() for run in self.runs if run.result in (SweepResult.NOTICED, SweepResult.NOT_SENT)
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines below the tables: the findings, and the number of runs by result."""
        if self.problem:
            yield f"not swept: {self.problem}"
            return
        for number, (first, *others) in enumerate(self.causes(), 1):
            if first.is_preventable:
                yield f"{number}. {first.title}, and the program did not notice it."
            else:
                yield f"{number}. {first.title}. No client can prevent this. {_NOTICE}"
            yield from (f"   {words}" for words in first.violations)
            if others:
                yield from _same([f"{run.id} {run.trouble}" if run.id else run.trouble for run in others])
            if first.source:
                yield f"   sent by {first.source}"
            yield from (f"   {line}" for line in files_of(first.file, first.page))
        counted = ", ".join(f"{count} {result}" for result, count in self.counts().items() if count)
        count = len(self.runs)
        yield f"{plural(count, 'run')}: {counted or 'nothing to try'}."
        if count < self.planned:
            yield f"{self.planned - count} more were not tried."
        if self.deeper:
            yield f"--depth 2 adds {plural(self.deeper, 'run')}: a second fault on recovery requests."
        if self.refused:
            yield f"Refused without any fault: {complaint(self.refused, _NAMED)}"
        if self.unsteady:
            yield "Two runs without faults sent different requests, so the records are not compared."

    def text(self) -> list[str]:
        """Return the report as text: the tables, and the lines below them."""
        from reseller_sandbox.reports.tables import in_lines  # because only reports need rich

        tables = self.tables()
        return [*in_lines(tables), "", *self.lines()] if tables else list(self.lines())


def _same(titles: Sequence[str]) -> Iterator[str]:
    """Yield the line "The same: …", which lists other runs with the same consequences."""
    words = f"The same: {complaint(titles, _ALSO)}"
    yield from wrap(words, 110, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False)


def narrow(tables: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[str]:
    """Yield the tables as a list, for a terminal that is too narrow for the columns."""
    for rows in tables.values():
        for first, *others in (list(row.items()) for row in rows):
            yield first[1]
            cells = [f"{name} {cell}" for name, cell in others if cell != "-"]
            yield from wrap(", ".join(cells), 76, initial_indent="  ", subsequent_indent="  ")


def _cell(results: Sequence[SweepResult]) -> str:
    if len(set(results)) < 2:
        return _WORDS[results[0]] if results else "-"
    counter = Counter(results)
    return ", ".join(f"{counter[result]} {_WORDS[result]}" for result in SweepResult if counter[result])
