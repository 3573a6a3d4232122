"""The base class of the reports of sweep and explore, and common parts of their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

from msgspec import Struct, convert, to_builtins

from reseller_sandbox.reports.findings import Case


class Report(Struct, kw_only=True):
    """A report on the runs of a whole program, or of one ``test`` in the program.

    ``problem`` is the reason why the program cannot be run, empty if it can.
    """

    test: str = ""
    problem: str = ""

    def summary(self) -> dict[str, Any]:
        """Return the numbers and the findings as JSON values. The key of the findings is ``findings``."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """Yield the lines of text that follow the tables of the report."""
        raise NotImplementedError

    def cases(self, program: str) -> list[Case]:
        """Return the runs as cases for JUnit and SARIF. The group of a case is its test, or ``program``."""
        raise NotImplementedError

    def tables(self) -> Mapping[str, list[dict[str, str]]]:
        """Return the tables of the report by title. Empty tables are left out."""
        return {}

    def with_part(self, other: Self) -> Self:
        """Return this report joined with ``other``, the report of a process that made other runs."""
        raise NotImplementedError

    def json(self) -> dict[str, Any]:
        """Return the report as JSON values. ``from_json`` needs only the key ``for_merge``."""
        return {
            "test": self.test or None,
            **self.summary(),
            "problem": self.problem or None,
            "for_merge": to_builtins(self),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the report that ``json`` wrote. Raise KeyError or ValueError for other data."""
        return convert(data["for_merge"], cls)


AnyReport = TypeVar("AnyReport", bound=Report)


def merged(reports: Iterable[AnyReport]) -> list[AnyReport]:
    """Join the reports of processes that shared the runs. Return one report for each test."""
    whole: dict[str, AnyReport] = {}
    for report in reports:
        first = whole.get(report.test)
        whole[report.test] = report if first is None else first.with_part(report)
    return list(whole.values())


def files_of(recording: str | None, page: str | None) -> Iterator[str]:
    """Yield the lines that name the files of a finding."""
    if recording:
        yield f"reseller-sandbox recording open {recording}"
    if page:
        yield f"page: {page}"
