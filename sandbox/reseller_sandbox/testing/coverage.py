"""Collects the coverage of the contract in a test run, after each test and from all workers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from reseller_sandbox.app_factory import contract
from reseller_sandbox.control.contract import matching_items
from reseller_sandbox.coverage.figures import FIGURES, Key, Mark, Marks, total
from reseller_sandbox.coverage.items import AREAS
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.reports.coverage import Report, lines, page
from reseller_sandbox.testing.run import Watched
from reseller_sandbox.values.text_checks import nearest

#: The forms of a report, each with its default file.
FORMS = {"term": "", "html": "reseller-sandbox-coverage.html", "json": "reseller-sandbox-coverage.json"}

#: A minimum without a name (``90``) applies to this figure: the coverage of the operations in use.
_USED = next(iter(FIGURES))

#: A pytest-xdist worker sends its coverage under this key of ``workeroutput``.
_OUTPUT = "reseller_sandbox_coverage"


def _forms(option: str) -> Iterator[tuple[str, str]]:
    for word in re.split(rf"[\s,]+(?=(?:{'|'.join(FORMS)})\b)", option.strip()):
        name, _, file = word.partition(":")
        if name not in FORMS or (file and not FORMS[name]):
            raise pytest.UsageError(
                f"--reseller-sandbox-coverage must be html, html:FILE, json, json:FILE or term, "
                f"not {word[:80]!r}{nearest(name, FORMS)}"
            )
        yield name, file


def _minimum(option: str) -> Iterator[tuple[str, float]]:
    for word in option.replace(",", " ").split():
        area, mark, number = word.rpartition("=")
        try:
            percent = float(number)
        except ValueError:
            percent = -1.0
        if not 0 <= percent <= 100 or area not in ((*AREAS, *FIGURES) if mark else ("",)):
            raise pytest.UsageError(
                "--reseller-sandbox-cover-min must be a percentage from 0 to 100, or percentages by name "
                f"(such as used=90,errors=40, with the names {', '.join((*FIGURES, *AREAS))}); "
                f"{word[:80]!r} is invalid{nearest(area, (*FIGURES, *AREAS))}"
            )
        yield area or _USED, percent


class Collector:
    """Pytest plugin that collects coverage, registered only if an option asks for it.

    ``forms``, ``minimum`` and ``operation`` are the options of pytest. Files without an absolute path are in
    ``folder``. Raise ``UsageError`` for an invalid option.
    """

    def __init__(self, forms: str, minimum: str, operation: str, folder: Path) -> None:
        if operation:
            try:
                matching_items(contract(), operation)
            except Refused as refused:
                raise pytest.UsageError(f"--reseller-sandbox-cover-of: {refused.message}") from None
        self._files = {name: folder / (file or FORMS[name]) for name, file in _forms(forms or "term")}
        self._minimum, self._operation = dict(_minimum(minimum)), operation or None
        self._counts: list[tuple[Key, Mark]] = []
        self._known: dict[Watched, Marks] = {}
        self._test = ""
        self._report: Report | None = None
        self._written: list[str] = []
        self._problems: list[str] = []

    def collect(self, worlds: Sequence[Watched]) -> None:
        """Add the coverage of a test that ends. In worlds of several tests, count only new coverage."""
        known, self._known = self._known, {}
        for world in worlds:
            with suppress(Refused, Unreachable):  # The test may have deleted the world or stopped the server.
                marks = {item.key: item.mark for item in world.coverage.items(seen=True).items}
                self._known[world], before = marks, known.get(world, {})
                new = ((key, mark.since(before.get(key, Mark()))) for key, mark in marks.items())
                by = {self._test: None}
                self._counts += [(key, replace(mark, by=by)) for key, mark in new if mark.times]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Store the name of the test that starts, for its coverage."""
        self._test = nodeid

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Add the coverage that a pytest-xdist worker has collected."""
        output = getattr(node, "workeroutput", {}).get(_OUTPUT, "[]")
        self._counts += msgspec.json.decode(output, type=list[tuple[Key, Mark]])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report. Fail the run if coverage is too low. A worker only sends its coverage."""
        marks = total(self._counts)
        output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = msgspec.json.encode(list(marks.items())).decode()
        elif not session.config.option.collectonly:
            self._report = report = Report.of(marks, "tests", self._operation)
            self._problems = [*self._unwritten(report), *self._too_little(report)]
            if self._problems and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the coverage, the missing items, and whether the coverage is too low."""
        if self._report is None:
            return
        terminalreporter.write_sep("-", "reseller sandbox: coverage of the contract")
        if "term" in self._files:
            for line in lines(self._report):
                terminalreporter.write_line(line)
        for line in self._written:
            terminalreporter.write_line(line)
        for line in self._problems:
            terminalreporter.write_line(f"FAIL {line}", red=True, bold=True)

    def _unwritten(self, report: Report) -> Iterator[str]:
        """Write the files of the report. Yield a line for each file that cannot be written."""
        for form, file in self._files.items():
            if form == "term":
                continue
            try:
                file.write_text(_text(form, report), "utf-8")
            except OSError as problem:
                yield f"{form} cannot be written to {file}: {problem.strerror}"
            else:
                self._written.append(f"{form} written to {file}")

    def _too_little(self, report: Report) -> Iterator[str]:
        about = {figure.name: figure.about for figure in report.figures}
        percentages = {each.name: each.percentage for each in report.figures}
        percentages |= {area.area: area.percentage for area in report.areas}
        for name, minimum in self._minimum.items():
            if percentages[name] < minimum:
                yield (
                    f"{about.get(name, name)}: {percentages[name]:g} % is covered; "
                    f"--reseller-sandbox-cover-min asks for {name}={minimum:g} %"
                )


def _text(form: str, report: Report) -> str:
    if form == "json":
        return json.dumps(report.json(), ensure_ascii=False, indent=2) + "\n"
    return page(report)
