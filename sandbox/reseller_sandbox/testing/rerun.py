"""Tests that run several times: sweeps with one fault per run, and exploration of request orders."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol
from msgspec import json, to_builtins
from msgspec.structs import replace

from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.cli_options import (
    EXPLORE,
    EXPLORE_QUIET,
    EXPLORE_RUNS,
    EXPLORE_SCHEDULE,
    FIXTURE,
    INVARIANT,
    PART,
    SWEEP,
    SWEEP_DEPTH,
    SWEEP_ONLY,
    SWEEP_SLOW,
    SWEEP_STOP,
    above_0,
    flag,
    part_of,
)
from reseller_sandbox.tools.defaults import QUIET_HERE, is_run_by_tool, report_to_tool
from reseller_sandbox.tools.explore import Explorer
from reseller_sandbox.tools.explore.report import Exploration
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import KEPT, BadProgram, Ended
from reseller_sandbox.tools.sweep import SentNoRequest, SweepReport, SweepWanted, sweep_program
from reseller_sandbox.tools.sweep.troubles import kinds_named
from reseller_sandbox.values.clock import stopwatch

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

#: A pytest-xdist worker sends the result of a sweep in this property of the test's report.
_PROPERTY = "reseller_sandbox_sweep"


class Reruns:
    """Pytest plugin that runs the protocol of tests itself, and runs some tests again."""

    def __init__(self, run: pytest.StashKey[Sandboxes]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test normally. If the test passes, run it again many times."""
        if not self._concerns(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item):
            item.ihook.pytest_runtest_logreport(report=report)
        state = item.session._setupstate
        teardown = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), when="teardown")
        if teardown.excinfo is not None:
            failure = item.ihook.pytest_runtest_makereport(item=item, call=teardown)
            item.ihook.pytest_runtest_logreport(report=failure)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _concerns(self, item: pytest.Item) -> bool:
        return FIXTURE in getattr(item, "fixturenames", ())

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        raise NotImplementedError


def _again(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test with its setup and teardown. Keep fixtures that other tests share."""
    shared: Any = item.parent
    return runtestprotocol(item, log=False, nextitem=shared)


def _fail(reports: Sequence[pytest.TestReport], words: str) -> None:
    """Turn the passed report of a test's call into a failure with the text ``words``.

    If a tool runs this process, the tool reports the findings instead.
    """
    for report in reports:
        if report.when == "call" and words and not is_run_by_tool():
            report.outcome, report.longrepr = "failed", words


def _program(
    item: pytest.Item, run: Sandboxes, fails: Callable[[pytest.TestReport], bool]
) -> Callable[[Sandbox], Ended]:
    """Return a program that runs a test in a given world. The program fails if ``fails(report)`` is true."""

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        with run.lending(world):
            failed = [report for report in _again(item) if fails(report)]
        words = "\n".join(report.longreprtext for report in failed)
        return Ended(1 if failed else 0, words[-KEPT:], stopwatch() - began)

    return program


def parse_exploration(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of all explored tests. Raise ``UsageError`` for an invalid option."""
    numbers: dict[str, tuple[str, type[Any]]] = {
        "actors": (EXPLORE, int),
        "max_runs": (EXPLORE_RUNS, int),
        "quiet": (EXPLORE_QUIET, float),
    }
    try:
        invariants = named(texts[INVARIANT].split(","))
        part = part_of(texts[PART]) if texts[PART] else (1, 1)
        limits = {name: above_0(texts, *option) for name, option in numbers.items() if texts[option[0]]}
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    return {"schedule": texts[EXPLORE_SCHEDULE], "invariants": invariants, "part": part, **limits}


class ExploringTests(Reruns):
    """Plugin that explores the marked tests, or all tests if ``everything`` is true."""

    def __init__(self, options: Mapping[str, Any], run: pytest.StashKey[Sandboxes], everything: bool) -> None:
        super().__init__(run)
        self._options = options
        self._everything = everything

    def _concerns(self, item: pytest.Item) -> bool:
        marked = item.get_closest_marker(EXPLORE) is not None
        return marked or (self._everything and super()._concerns(item))

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Run and explore a test, and return its reports. The test fails if there are findings."""
        reports = _again(item)
        run = item.config.stash.get(self._run, None)
        if run is not None and all(report.passed for report in reports):
            words = self._findings(item, run, item.get_closest_marker(EXPLORE))
            _fail(reports, words)
        return reports

    def _findings(self, item: pytest.Item, run: Sandboxes, mark: pytest.Mark | None) -> str:
        """Explore a test, and return the text of the findings, or an empty string without findings."""

        def tell(schedule: str, _: int | None) -> None:
            report_to_tool(ran=f"{item.name} {schedule}")

        try:
            with run.apart(item) as prepared:
                if not isinstance(prepared.transport, LocalTransport):
                    raise BadSetting(
                        "explore requires worlds in this process, not in a server. Use the mode 'process'"
                    )
                positional, marked = (mark.args, mark.kwargs) if mark is not None else ((), {})
                exploration = Explorer(
                    *positional,
                    prepared=prepared,
                    program=_program(item, run, lambda report: report.failed),
                    folder=run.folder_for(item),
                    **{"quiet": QUIET_HERE, **self._options, **marked},
                ).explore(tell)
        except (TypeError, ValueError) as problem:
            how = f"@pytest.mark.{EXPLORE}" if mark is not None else flag(EXPLORE)
            failure = Exploration(test=item.nodeid, problem=str(problem))
            report_to_tool(explored=to_builtins(failure))
            return f"{how}: {problem}"
        if exploration.actors:
            report_to_tool(explored=to_builtins(replace(exploration, test=item.nodeid)))
        return "\n".join(exploration.lines()) if exploration.findings else ""


def parse_sweep(texts: Mapping[str, str]) -> SweepWanted:
    """Return the sweep that the options describe. Raise ``UsageError`` for an invalid option."""
    options: dict[str, Any] = {}
    try:
        options["invariants"] = named(texts[INVARIANT].split(","))
        if texts[SWEEP_SLOW]:
            options["slow"] = above_0(texts, SWEEP_SLOW, float, "a number of seconds")
        if texts[PART]:
            options["part"] = part_of(texts[PART])
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    if texts[SWEEP_DEPTH] not in ("", "1", "2"):
        raise pytest.UsageError(f"{flag(SWEEP_DEPTH)} must be 1 or 2; it is {texts[SWEEP_DEPTH][:80]!r}")
    try:
        return SweepWanted(
            kinds=kinds_named(texts[SWEEP]),
            only=texts[SWEEP_ONLY] or "*",
            depth=int(texts[SWEEP_DEPTH] or 1),
            stop_at_first=texts[SWEEP_STOP].lower() not in ("", "0", "false", "no", "off"),
            **options,
        )
    except BadSetting as problem:
        raise pytest.UsageError(f"{flag(SWEEP)}: {problem}") from None


class SweepingTests(Reruns):
    """Plugin that sweeps all tests that use a sandbox."""

    def __init__(self, options: SweepWanted, run: pytest.StashKey[Sandboxes]) -> None:
        super().__init__(run)
        self._options = options
        self._swept: list[SweepReport] = []
        #: Whether the sweep has stopped after a finding (``stop_at_first``).
        self._over = False

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Run and sweep a test, and return its reports. The last report has the result of the sweep."""
        reports = _again(item)
        if any(report.failed for report in reports):
            problem = "the test does not pass"
            report_to_tool(swept=to_builtins(SweepReport(test=item.nodeid, problem=problem)))
        passed = all(report.passed for report in reports) and not self._over
        if passed and (swept := self._sweep(item)) is not None:
            self._over = self._options.stop_at_first and bool(swept.wrong)
            report_to_tool(swept=to_builtins(swept))
            reports[-1].user_properties.append((_PROPERTY, json.encode(swept).decode()))
            _fail(reports, "\n".join(swept.lines()) if swept.wrong else "")
        return reports

    def _sweep(self, item: pytest.Item) -> SweepReport | None:
        """Sweep a test, and return the result, or None if the test sends no request."""
        run = item.config.stash[self._run]
        program = _program(item, run, lambda report: not report.passed)

        def step(report: SweepReport, words: str) -> None:
            report_to_tool(planned=0 if words else report.planned, ran=f"{item.name} {words}")

        options = dataclasses.replace(self._options, folder=run.folder_for(item))
        with run.apart(item) as prepared:
            try:
                swept = sweep_program(program, prepared, options, step)
                return replace(swept, test=item.nodeid)
            except SentNoRequest:
                return None
            except BadProgram as problem:
                return SweepReport(test=item.nodeid, problem=str(problem))
            except BadSetting as problem:  # such as a folder in which no recording can be written
                pytest.exit(f"reseller-sandbox: {problem}", returncode=pytest.ExitCode.USAGE_ERROR)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the sweep result in a test's report, which can come from a pytest-xdist worker."""
        encoded = [value for name, value in report.user_properties if name == _PROPERTY]
        self._swept += (json.decode(str(value), type=SweepReport) for value in encoded)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of each swept test."""
        for swept in self._swept:
            terminalreporter.section(f"reseller sandbox: sweep of {swept.test}")
            for line in swept.text():
                terminalreporter.write_line(line)
