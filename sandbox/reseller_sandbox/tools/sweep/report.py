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
from reseller_sandbox.tools.running import GIVEN_UP
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, PRICES
from reseller_sandbox.values.text_checks import complaint, plural


class SweepResult(StrEnum):
    """Result of a run. The worst result comes last."""

    NOT_SENT = "not sent"
    FINE = "fine"
    NOTICED = "noticed"
    NOT_PREVENTABLE = "not preventable"
    LATE = "noticed late"
    WRONG = "silently wrong"


#: The text of each result in the table. Findings are in capitals.
_WORDS = {
    **{result: str(result) for result in SweepResult},
    SweepResult.LATE: "LATE",
    SweepResult.WRONG: "WRONG",
}

#: The results whose runs are findings.
_FINDINGS = (SweepResult.WRONG, SweepResult.LATE)

#: The results of runs with consequences that the program did not report.
_CONSEQUENCES = (*_FINDINGS, SweepResult.NOT_PREVENTABLE)

#: Maximum number of runs in the line "The same: …" of a finding.
_ALSO = 8

#: Maximum number of requests in the line "Refused without any fault".
_NAMED = 3


class Run(Struct, frozen=True, kw_only=True):
    """One run of a sweep: a request with its ``id``, the trouble on the request, and the result.

    ``number`` is the position of the run among all planned runs. ``then`` is the second fault of the run,
    with its request. ``violations`` describe the violated invariants. ``source`` is the line of the program
    that sent the request. ``file`` is the recording of a finding, and ``page`` its HTML page. If no client
    can prevent the consequences, ``notice`` says how a client can notice them.
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
    notice: str = ""

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
    def has_consequences(self) -> bool:
        """Whether the run has consequences that the program did not report."""
        return self.result in _CONSEQUENCES

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
    ``untried`` are the kinds of runs that the sweep does not make: words, the option, and the number of runs.
    ``seconds`` is the expected duration of a run. ``rows`` are the requests in the table. ``refused`` are the
    requests that the API refuses without any fault, each with its error. ``unsteady`` is the first difference
    between the requests of two runs without trouble, or empty. ``tests`` are the ids of tests that have their
    own worlds, if the program is pytest. With ``strict``, consequences that no client can prevent are
    findings.
    """

    rows: Sequence[str] = ()
    refused: Sequence[str] = ()
    runs: list[Run] = field(default_factory=list)
    planned: int = 0
    deeper: int = 0
    untried: Sequence[tuple[str, str, int]] = ()
    seconds: float = 0.0
    unsteady: str = ""
    tests: Sequence[str] = ()
    strict: bool = False

    @property
    def unexplored(self) -> str:
        """The reason why there is no run, empty if there are runs."""
        return "" if self.planned or self.problem else "no request matches --only and --kinds"

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

    @property
    def findings(self) -> list[Run]:
        """The runs that decide the exit status: silently wrong, noticed late, with ``strict`` all others."""
        return [run for run in self.runs if run.result in (_CONSEQUENCES if self.strict else _FINDINGS)]

    def causes(self, *results: SweepResult) -> list[list[Run]]:
        """Group the runs with these results. Runs with the same consequences probably have the same cause.

        In each group, the run with the fewest faults comes first.
        """
        runs = [run for run in self.runs if run.result in results]
        groups: dict[object, list[Run]] = {}
        for run in sorted(runs, key=lambda run: (bool(run.then), run.number)):
            groups.setdefault((run.result, frozenset(run.violations)), []).append(run)
        return list(groups.values())

    def cases(self, program: str) -> list[Case]:
        """Return the runs as cases for JUnit and SARIF. ``program`` is their group if there is no test."""
        findings = self.findings
        return [
            Case(
                group=self.test or program,
                name=run.title,
                rule=run.kind,
                problem="\n".join(run.violations) if run in findings else "",
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
        """Return the tables: results by request and kind, by assumption, and with other prices."""
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
        tables = {
            "requests": requests,
            "assumptions": self._whole(ASSUMPTIONS, "assumption"),
            "prices": self._whole(PRICES, "prices"),
        }
        return {name: rows for name, rows in tables.items() if rows}

    def _whole(self, kind: str, column: str) -> list[dict[str, str]]:
        """Return a table of the runs in which the trouble of a kind concerns the whole run."""
        return [{column: run.detail, "result": _WORDS[run.result]} for run in self.runs if run.kind == kind]

    def summary(self) -> dict[str, Any]:
        """Return the numbers, tables and findings as JSON values.

        A finding is the first run of a group. The other runs of the group are under ``also``.
        """
        no_client = [] if self.strict else self.causes(SweepResult.NOT_PREVENTABLE)
        return {
            "runs": len(self.runs),
            "planned": self.planned,
            "deeper": self.deeper,
            "unsteady": self.unsteady,
            "refused": list(self.refused),
            **self.counts(),
            "requests": [],
            "assumptions": [],
            "prices": [],
            **self.tables(),
            "untried": [
                {"runs": count, "option": option, "what": words} for words, option, count in self.untried
            ],
            "findings": _json(self.causes(*(_CONSEQUENCES if self.strict else _FINDINGS))),
            "unpreventable": _json(no_client),
            "others": [
                run.json() for run in self.runs if run.result in (SweepResult.NOTICED, SweepResult.NOT_SENT)
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines below the tables: the findings, and the number of runs by result."""
        if self.problem:
            yield f"not swept: {self.problem}"
            return
        findings = self.causes(*_FINDINGS)
        for number, group in enumerate(findings, 1):
            yield f"{number}. {group[0].title}, {_NOTICED[group[0].result]}."
            yield from _group(group)
        if groups := self.causes(SweepResult.NOT_PREVENTABLE):
            status = "" if self.strict else ". This list does not change the exit status (--strict)"
            yield f"No client can prevent these consequences{status}:"
            for number, group in enumerate(groups, len(findings) + 1):
                yield f"{number}. {group[0].title}. Cannot be prevented; can be noticed by {group[0].notice}."
                yield from _group(group)
        counted = ", ".join(f"{count} {result}" for result, count in self.counts().items() if count)
        count = len(self.runs)
        yield f"{plural(count, 'run')}: {counted or 'nothing to try'}."
        noticed = [run for run in self.runs if run.result is SweepResult.NOTICED]
        if hung := [run.title for run in noticed if run.ended.startswith(GIVEN_UP)]:
            yield f"Timed out (--timeout), which counts as noticed: {complaint(hung, _NAMED)}"
        left = [
            *self.untried,
            ("a second fault on recovery requests", "--depth 2", self.deeper),
            ("the runs after the first finding", "without --stop-at-first", max(self.planned - count, 0)),
        ]
        yield from self.not_tried(left)
        if self.refused:
            yield f"Refused without any fault: {complaint(self.refused, _NAMED)}"
        if self.unsteady:
            yield (
                f"Two runs without faults sent different requests ({self.unsteady}), so the records are not "
                "compared. Let your program send the same requests in each run: seed its random numbers, and "
                "begin without data of an earlier run."
            )

    def text(self) -> list[str]:
        """Return the report as text: the tables, and the lines below them."""
        from reseller_sandbox.reports.tables import in_lines  # because only reports need rich

        tables = self.tables()
        return [*in_lines(tables), "", *self.lines()] if tables else list(self.lines())


#: The end of a finding's first line, by result.
_NOTICED = {
    SweepResult.WRONG: "and the program did not notice it",
    SweepResult.LATE: "and the program noticed it late",
}


def _json(groups: Sequence[Sequence[Run]]) -> list[dict[str, object]]:
    return [{**first.json(), "also": [run.json() for run in others]} for first, *others in groups]


def _group(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the lines of a group of runs, without its first line."""
    first, *others = runs
    yield from (f"   {words}" for words in first.violations)
    if others:
        titles = [f"{run.id} {run.trouble}" if run.id else run.trouble for run in others]
        words = f"The same: {complaint(titles, _ALSO)}"
        yield from wrap(words, 110, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False)
    if first.source:
        yield f"   sent by {first.source}"
    yield from (f"   {line}" for line in files_of(first.file, first.page))


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
