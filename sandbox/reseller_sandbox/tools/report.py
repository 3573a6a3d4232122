"""The base class of the reports of sweep and explore, and common parts of their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from msgspec import Struct, convert, to_builtins

from reseller_sandbox.recording import open_command
from reseller_sandbox.reports.findings import Case
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.values.text_checks import plural


class Report(Struct, kw_only=True):
    """A report on the runs of a whole program, or of one ``test`` in the program.

    ``problem`` is the reason why the program cannot be run, empty if it can. ``part`` is the part of the runs
    that the report has, such as 1 of 2. ``origin`` is the command with its options, without the part.
    """

    test: str = ""
    problem: str = ""
    part: tuple[int, int] = (1, 1)
    origin: str = ""

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

    def not_tried(self, left: Iterable[tuple[str, str, int]]) -> Iterator[str]:
        """Yield the lines about runs that the tool did not make.

        ``left`` has them in words, with the option that makes them, and the number of runs.
        """
        number, parts = self.part
        if parts > 1:
            yield f"This is part {number} of {parts}. To join all parts, use --merge."
        lines = [f"  {words}: {option}, {plural(count, 'run')}" for words, option, count in left if count]
        yield from ("Not tried:", *lines) if lines else ()

    @property
    def unexplored(self) -> str:
        """The reason why the tool tried nothing, empty if it tried something."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
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


def require_whole(files: Sequence[tuple[str, Sequence[Report]]]) -> None:
    """Raise ``BadSetting`` unless these files have every part of one run, each part once.

    ``files`` are the names of the files, each with the reports in it.
    """
    first_file, first = files[0]
    found: dict[int, str] = {}
    for file, reports in files:
        if not reports:
            raise BadSetting(f"{file} has no report")
        origin, first_origin = reports[0].origin, first[0].origin
        if origin != first_origin:
            raise BadSetting(f"{file} is a report of {origin!r}, but {first_file} is one of {first_origin!r}")
        tests, known = ({report.test for report in each} for each in (reports, first))
        if tests != known:
            test = min(tests ^ known)
            lacking, other = (first_file, file) if test in tests else (file, first_file)
            words = test or "the program itself"
            raise BadSetting(f"{lacking} has no report on {words}, but {other} has one")
        (number, parts), whole = reports[0].part, first[0].part[1]
        if parts != whole:
            raise BadSetting(f"{file} is part {number}/{parts}, but {first_file} is one of {whole} parts")
        if number in found:
            raise BadSetting(f"{file} is part {number}/{parts} again, like {found[number]}")
        found[number] = file
    missing_parts = [f"{number}/{whole}" for number in range(1, whole + 1) if number not in found]
    if missing_parts:
        raise BadSetting(f"the reports lack part {', '.join(missing_parts)}")


def files_of(recording: str | None, page: str | None) -> Iterator[str]:
    """Yield the lines that name the files of a finding."""
    if recording:
        yield open_command(recording)
    if page:
        yield f"page: {page}"
