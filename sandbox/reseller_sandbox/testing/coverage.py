"""Coverage of the contract by a test run, collected after each test and summed over workers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from reseller_sandbox.app_factory import contract
from reseller_sandbox.control.contract import matching_items
from reseller_sandbox.coverage.items import AREAS
from reseller_sandbox.coverage.marks import Key, Mark, Marks, merged
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.reports.lines import lines
from reseller_sandbox.reports.report import Report
from reseller_sandbox.testing.run import Watched
from reseller_sandbox.tools.cli_options import COVERAGE, before_a_path
from reseller_sandbox.values.text_checks import nearest

#: The forms of a report, each with its default file.
FORMS = {"term": "", "html": "reseller-sandbox-coverage.html", "json": "reseller-sandbox-coverage.json"}

#: The name of the minimum percentage of all areas together.
_ALL = "all"

#: The key of a worker's output under which it sends its coverage.
_TOLD = "reseller_sandbox_coverage"


@dataclass(frozen=True)
class Wishes:
    """Options of the report: its forms, the minimum percentages, and the operations."""

    forms: Mapping[str, Path]
    least: Mapping[str, float]
    operation: str | None


def wishes(forms: str, least: str, operation: str, folder: Path) -> Wishes:
    """Return the parsed options, with files below ``folder``. Raise ``UsageError``."""
    if operation:
        try:
            matching_items(contract(), operation)
        except Refused as refused:
            raise pytest.UsageError(f"--reseller-sandbox-cover-of: {refused.message}") from None
    return Wishes(
        {name: folder / (file or FORMS[name]) for name, file in _forms(forms or "term")},
        dict(_least(least)),
        operation or None,
    )


def _forms(option: str) -> Iterator[tuple[str, str]]:
    for word in re.split(rf"[\s,]+(?=(?:{'|'.join(FORMS)})\b)", option.strip()):
        name, _, file = word.partition(":")
        if name not in FORMS or (file and not FORMS[name]):
            raise pytest.UsageError(
                f"--reseller-sandbox-coverage takes html, json and term, the first two with a file "
                f"(html:FILE), not {word[:80]!r}{nearest(name, FORMS)}{before_a_path(COVERAGE)}"
            )
        yield name, file


def _least(option: str) -> Iterator[tuple[str, float]]:
    for word in option.replace(",", " ").split():
        area, mark, number = word.rpartition("=")
        try:
            percent = float(number)
        except ValueError:
            percent = -1.0
        if not 0 <= percent <= 100 or area not in ((*AREAS, _ALL) if mark else ("",)):
            raise pytest.UsageError(
                "--reseller-sandbox-cover-min takes a percentage from 0 to 100, or such of areas "
                f"({', '.join(AREAS)}) as in operations=90,errors=40, not {word[:80]!r}{nearest(area, AREAS)}"
            )
        yield area or _ALL, percent


class Collector:
    """Pytest plugin that collects coverage, registered only if an option asks for it."""

    def __init__(self, wanted: Wishes) -> None:
        self._wanted = wanted
        self._runs: list[Marks] = []
        # With each world, so that its id cannot be reused for another object.
        self._known: dict[int, tuple[Watched, Mapping[Key, Mark]]] = {}
        self._test = ""
        self._report: Report | None = None
        self._written: list[str] = []
        self._wrong: list[str] = []

    def collect(self, worlds: Sequence[Watched]) -> None:
        """Add the coverage of a test that ends, from each world. A world may outlive the test."""
        known, self._known = self._known, {}
        for world in worlds:
            with suppress(Refused, Unreachable):  # The test may have deleted the world or stopped the server.
                marks = {item.key: item.mark for item in world.coverage.items(seen=True).items}
                self._known[id(world)] = world, marks
                _, before = known.get(id(world), (world, {}))
                self._runs.append(dict(self._new(marks, before)))

    def _new(self, marks: Mapping[Key, Mark], known: Mapping[Key, Mark]) -> Iterator[tuple[Key, Mark]]:
        for key, mark in marks.items():
            since = mark.since(known.get(key, Mark()))
            if since.times:
                since.by = {self._test: None}
                yield key, since

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember the name of the test that runs."""
        self._test = nodeid

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the coverage that a worker has collected."""
        output = getattr(node, "workeroutput", {}).get(_TOLD, "[]")
        self._runs.append({(area, name): _mark(**fields) for area, name, fields in json.loads(output)})

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report, and fail the run if the coverage is too low. In a worker, send the coverage."""
        marks = merged(self._runs)
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_TOLD] = json.dumps([[*key, to_builtins(mark)] for key, mark in marks.items()])
        elif not session.config.option.collectonly:
            self._report = report = Report(marks, "tests", self._wanted.operation)
            self._wrong = [*self._unwritten(report), *self._too_little(report)]
            if self._wrong and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the coverage, the missing items, and whether the coverage is too low."""
        if self._report is None:
            return
        terminalreporter.write_sep("-", "reseller sandbox: coverage of the contract")
        if "term" in self._wanted.forms:
            for line in lines(self._report):
                terminalreporter.write_line(line)
        for line in self._written:
            terminalreporter.write_line(line)
        for line in self._wrong:
            terminalreporter.write_line(f"FAIL {line}", red=True, bold=True)

    def _unwritten(self, report: Report) -> Iterator[str]:
        """Write the files of the report. Yield a line for each file that cannot be written."""
        for form, file in self._wanted.forms.items():
            if form == "term":
                continue
            try:
                file.write_text(_text(form, report), "utf-8")
            except OSError as problem:
                yield f"{form} cannot be written to {file}: {problem.strerror}"
            else:
                self._written.append(f"{form} written to {file}")

    def _too_little(self, report: Report) -> Iterator[str]:
        percentages = {_ALL: report.percentage, **{area.area: area.percentage for area in report.areas}}
        for area, least in self._wanted.least.items():
            if percentages[area] < least:
                about = "" if area == _ALL else f"{area}: "
                yield (
                    f"{about}{percentages[area]:g} % of the contract is covered; "
                    f"--reseller-sandbox-cover-min asks for {least:g} %"
                )


def _text(form: str, report: Report) -> str:
    if form == "json":
        return json.dumps(report.json(), ensure_ascii=False, indent=2) + "\n"
    from reseller_sandbox.reports.page import page

    return page(report)


def _mark(**fields: Any) -> Mark:
    return Mark(**{**fields, "values": dict.fromkeys(fields["values"]), "by": dict.fromkeys(fields["by"])})
