"""Tests that run several times: sweeps with one fault per run, and exploration of request orders."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol
from msgspec import json, to_builtins
from msgspec.structs import replace

from reseller_sandbox.config_sources import value_of
from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.cli_options import (
    EXPLORE,
    EXPLORE_LOCKED,
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
    SWEEP_STALE,
    SWEEP_STOP,
    SWEEP_STRICT,
    flag,
    part_of,
)
from reseller_sandbox.tools.defaults import QUIET_HERE, is_run_by_tool, report_to_tool
from reseller_sandbox.tools.explore import Explorer
from reseller_sandbox.tools.explore.report import Exploration
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import KEPT, BadProgram, Ended
from reseller_sandbox.tools.sweep import SentNoRequest, SweepReport, SweepWanted, sweep_program
from reseller_sandbox.tools.sweep.troubles import EXTRA, kinds_named
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.kinds import MOST, SWITCH, Kind, span, whole

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

#: The kinds of numbers of workers and runs, and of waits in seconds.
_COUNT, _WAIT = whole(1, MOST), span(0.001)

#: A pytest-xdist worker sends the result of a sweep in this property of the test's report.
_PROPERTY = "reseller_sandbox_sweep"

#: The property with the reason why there was nothing to explore in a test.
_UNEXPLORED = "reseller_sandbox_unexplored"


_BY_TOOL = {
    SWEEP: (SWEEP_ONLY, SWEEP_DEPTH, SWEEP_STOP, SWEEP_STRICT),
    EXPLORE: (EXPLORE_RUNS, EXPLORE_QUIET, EXPLORE_SCHEDULE, EXPLORE_LOCKED),
}

#: The options of the commands ``sweep`` and ``explore`` in reports, each with the option of pytest.
_OPTIONS = {
    "--kinds all": f"{flag(SWEEP)}=all",
    **{f"--{kind}": f"{flag(SWEEP)}={kind}" for kind in EXTRA},
    **{
        flag(option).replace(flag(tool), "-"): flag(option)
        for tool, options in _BY_TOOL.items()
        for option in options
    },
    "--part": flag(PART),
}
_OPTION = re.compile(r"(?<![\w-])--(?:kinds all|[a-z-]+)")


class Reruns:
    """Pytest plugin that runs the protocol of tests itself, and runs some tests again."""

    def __init__(self, run: pytest.StashKey[Sandboxes]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test normally. If the test passes, let each plugin of this kind run it again many times."""
        plugins = [plugin for plugin in item.config.pluginmanager.get_plugins() if isinstance(plugin, Reruns)]
        concerned = [plugin for plugin in plugins if plugin._concerns(item)]
        if not concerned:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = _again(item)
        has_passed = all(report.passed for report in reports)
        for plugin in concerned:
            plugin._judge(item, reports, has_passed)
        for report in reports:
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

    def _judge(self, item: pytest.Item, reports: Sequence[pytest.TestReport], has_passed: bool) -> None:
        """Run a test again, and add the findings to the ``reports`` of its first run."""
        raise NotImplementedError


def _again(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test with its setup and teardown. Keep fixtures that other tests share."""
    shared: Any = item.parent
    return runtestprotocol(item, log=False, nextitem=shared)


def _in_pytest(lines: Iterable[str]) -> str:
    """Return the text of a report, with the options of pytest in place of those of the command."""
    return _OPTION.sub(lambda match: _OPTIONS.get(match[0], match[0]), "\n".join(lines))


def _fail(reports: Sequence[pytest.TestReport], lines: Iterable[str]) -> None:
    """Turn the report of a test's call into a failure with the text ``lines``, or add the text to it.

    If a tool runs this process, the tool reports the findings instead.
    """
    words = _in_pytest(lines)
    for report in reports:
        if report.when == "call" and words and not is_run_by_tool():
            report.longrepr = "\n\n".join(filter(None, (report.longreprtext, words)))
            report.outcome = "failed"


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


def parse_exploration(texts: Mapping[str, str]) -> dict[str, object]:
    """Return the options of all explored tests. Raise ``UsageError`` for an invalid option."""
    return {
        "schedule": texts[EXPLORE_SCHEDULE],
        **_read_options(
            texts,
            actors=(EXPLORE, _COUNT),
            max_runs=(EXPLORE_RUNS, _COUNT),
            quiet=(EXPLORE_QUIET, _WAIT),
            locked=(EXPLORE_LOCKED, SWITCH),
        ),
    }


def _read_options(texts: Mapping[str, str], **options: tuple[str, Kind[Any]]) -> dict[str, Any]:
    """Return the values of ``options`` that are set, and of the options of both tools.

    Each of ``options`` is the name of an option and the kind of its value. Raise ``UsageError`` for an
    invalid value.
    """
    values: dict[str, Any] = {}
    for name, (option, kind) in options.items():
        if text := texts[option]:
            try:
                values[name] = kind.read(value_of(kind, text))
            except ValueError as problem:
                raise pytest.UsageError(f"{flag(option)} {problem}; it is {text[:80]!r}") from None
    try:
        values["invariants"] = named(texts[INVARIANT].split(","))
        if texts[PART]:
            values["part"] = part_of(texts[PART])
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    return values


class ExploringTests(Reruns):
    """Plugin that explores the marked tests, or all tests if ``everything`` is true.

    A marked test fails if nothing was explored. Other such tests are listed at the end of the run.
    """

    def __init__(
        self, options: Mapping[str, object], run: pytest.StashKey[Sandboxes], everything: bool
    ) -> None:
        super().__init__(run)
        self._options = options
        self._everything = everything

    def _concerns(self, item: pytest.Item) -> bool:
        marked = item.get_closest_marker(EXPLORE) is not None
        return marked or (self._everything and super()._concerns(item))

    def _judge(self, item: pytest.Item, reports: Sequence[pytest.TestReport], has_passed: bool) -> None:
        """Explore a test. The test fails if there are findings, and if a marked test cannot be explored."""
        mark = item.get_closest_marker(EXPLORE)
        if not has_passed:
            return
        run = item.config.stash.get(self._run, None)
        if run is not None and super()._concerns(item):
            exploration = self._explored(item, run, mark)
        else:
            exploration = Exploration(problem=f"the test does not use the fixture {FIXTURE}")
        reason = exploration.problem or exploration.unexplored
        if exploration.findings or exploration.problem or (reason and mark is not None):
            _fail(reports, exploration.lines())
        elif reason:
            reports[-1].user_properties.append((_UNEXPLORED, reason))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the tests in which there was nothing to explore."""
        passed = terminalreporter.getreports("") + terminalreporter.getreports("passed")
        reasons = {
            report.nodeid: reason
            for report in passed
            for name, reason in report.user_properties
            if name == _UNEXPLORED
        }
        if reasons:
            terminalreporter.section("reseller sandbox: not explored")
            for test, reason in reasons.items():
                terminalreporter.write_line(f"{test}: {_in_pytest([reason])}")

    def _explored(self, item: pytest.Item, run: Sandboxes, mark: pytest.Mark | None) -> Exploration:
        """Explore a test, and return the report."""

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
            exploration = Exploration(problem=f"{how}: {problem}")
        if exploration.actors or exploration.problem:
            report_to_tool(explored=to_builtins(replace(exploration, test=item.nodeid)))
        return exploration


def parse_sweep(texts: Mapping[str, str]) -> SweepWanted:
    """Return the sweep that the options describe. Raise ``UsageError`` for an invalid option."""
    options = _read_options(
        texts,
        slow=(SWEEP_SLOW, _WAIT),
        stale=(SWEEP_STALE, _WAIT),
        depth=(SWEEP_DEPTH, whole(1, 2)),
        stop_at_first=(SWEEP_STOP, SWITCH),
        strict=(SWEEP_STRICT, SWITCH),
    )
    try:
        return SweepWanted(kinds=kinds_named(texts[SWEEP]), only=texts[SWEEP_ONLY] or "*", **options)
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

    def _judge(self, item: pytest.Item, reports: Sequence[pytest.TestReport], has_passed: bool) -> None:
        """Sweep a test. The last of its reports has the result of the sweep."""
        if any(report.failed for report in reports) and not has_passed:
            problem = "the test does not pass"
            report_to_tool(swept=to_builtins(SweepReport(test=item.nodeid, problem=problem)))
        if has_passed and not self._over and (swept := self._sweep(item)) is not None:
            self._over = self._options.stop_at_first and bool(swept.findings)
            report_to_tool(swept=to_builtins(swept))
            reports[-1].user_properties.append((_PROPERTY, json.encode(swept).decode()))
            _fail(reports, swept.lines() if swept.findings else ())

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
            terminalreporter.write_line(_in_pytest(swept.text()))
