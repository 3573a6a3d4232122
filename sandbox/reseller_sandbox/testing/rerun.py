"""Tests that run several times: swept, with each thing going wrong once, or explored, in each order."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol
from msgspec import json, to_builtins
from msgspec.structs import replace

from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.cli_options import (
    EXPLORE,
    EXPLORE_QUIET,
    EXPLORE_RUNS,
    EXPLORE_SCHEDULE,
    FIXTURE,
    INVARIANT,
    SWEEP,
    SWEEP_ONLY,
    SWEEP_PART,
    SWEEP_SLOW,
    SWEEP_STOP,
    above_0,
    before_a_path,
    flag,
)
from reseller_sandbox.tools.defaults import QUIET_HERE, is_heard, say_to_tool
from reseller_sandbox.tools.environment_setup import Ground
from reseller_sandbox.tools.explore import Explorer
from reseller_sandbox.tools.explore.report import ExplorationReport
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import KEPT, BadProgram, Ended
from reseller_sandbox.tools.sweep import AskedNothing, SweepReport, SweepWanted, sweep_program
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, FAULTS, OUTSIDERS

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

#: The property of a report that carries the sweep of a test from a worker.
_TOLD = "reseller_sandbox_sweep"


class Reruns:
    """A pytest plugin that takes tests through their protocol itself, and runs some of them again."""

    def __init__(self, run: pytest.StashKey[Sandboxes]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test as usual and then, if it passes, again and again."""
        if not self._concerns(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for one in self._reports(item):
            item.ihook.pytest_runtest_logreport(report=one)
        state = item.session._setupstate
        over = pytest.CallInfo.from_call(lambda: state.teardown_exact(nextitem), when="teardown")
        if over.excinfo is not None:
            left = item.ihook.pytest_runtest_makereport(item=item, call=over)
            item.ihook.pytest_runtest_logreport(report=left)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _concerns(self, item: pytest.Item) -> bool:
        return FIXTURE in getattr(item, "fixturenames", ())

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        raise NotImplementedError


def _again(item: pytest.Item) -> list[pytest.TestReport]:
    """Run a test with its own setup and teardown; fixtures that it shares with other tests stay."""
    shared: Any = item.parent
    return runtestprotocol(item, log=False, nextitem=shared)


def _program(
    item: pytest.Item, run: Sandboxes, fails: Callable[[pytest.TestReport], bool]
) -> Callable[[Sandbox], Ended]:
    """Return a test as a program that runs in any world. It fails if ``fails`` accepts one of its reports."""

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        with run.lending(world):
            failed = [one for one in _again(item) if fails(one)]
        words = "\n".join(one.longreprtext for one in failed)
        return Ended(1 if failed else 0, words[-KEPT:], stopwatch() - began)

    return program


def wished_orders(said: Mapping[str, str]) -> dict[str, Any]:
    """Return the options for all tests that are explored; raise ``UsageError``."""
    numbers: dict[str, tuple[str, type[Any]]] = {
        "actors": (EXPLORE, int),
        "max_runs": (EXPLORE_RUNS, int),
        "quiet": (EXPLORE_QUIET, float),
    }
    try:
        invariants = named(said[INVARIANT].split(","))
        given = {name: above_0(said, *option) for name, option in numbers.items() if said[option[0]]}
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    return {"schedule": said[EXPLORE_SCHEDULE], "invariants": invariants, **given}


class ExploringTests(Reruns):
    """Explores marked tests in every order of their workers that could matter, or with ``everything`` all."""

    def __init__(self, wanted: Mapping[str, Any], run: pytest.StashKey[Sandboxes], everything: bool) -> None:
        super().__init__(run)
        self._wanted = wanted
        self._everything = everything

    def _concerns(self, item: pytest.Item) -> bool:
        marked = item.get_closest_marker(EXPLORE) is not None
        return marked or (self._everything and super()._concerns(item))

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Return the reports of a test; it fails if an order of its workers has findings."""
        reports = _again(item)
        run = item.config.stash.get(self._run, None)
        if run is not None and all(one.passed for one in reports):
            words = self._found(item, run, item.get_closest_marker(EXPLORE))
            for one in reports:
                if words and one.when == "call" and not is_heard():
                    one.outcome, one.longrepr = "failed", words
        return reports

    def _found(self, item: pytest.Item, run: Sandboxes, mark: pytest.Mark | None) -> str:
        """Return the report of the findings; an empty text if there are none."""

        def tell(schedule: str, _: int | None) -> None:
            say_to_tool(ran=f"{item.name} {schedule}")

        try:
            with run.apart(item) as prepared:
                if not isinstance(prepared.transport, LocalTransport):
                    raise BadSetting("it needs worlds in this process, not those of a server")
                positional, marked = (mark.args, mark.kwargs) if mark is not None else ((), {})
                found = Explorer(
                    *positional,
                    ground=Ground(prepared),
                    program=_program(item, run, lambda one: one.failed),
                    folder=run.folder_for(item),
                    **{"quiet": QUIET_HERE, **self._wanted, **marked},
                ).explore(tell)
        except (TypeError, ValueError) as problem:
            how = f"@pytest.mark.{EXPLORE}" if mark is not None else flag(EXPLORE)
            none = ExplorationReport(
                test=item.nodeid, text=[f"not explored: {problem}"], problem=str(problem)
            )
            say_to_tool(explored=to_builtins(none))
            return f"{how}: {problem}"
        if found.actors:
            say_to_tool(explored=to_builtins(ExplorationReport.of(found, test=item.nodeid)))
        return "\n".join(found.lines()) if found.findings else ""


def wished_sweep(said: Mapping[str, str]) -> SweepWanted:
    """Return the sweep that the options describe; raise ``UsageError``."""
    words = said[SWEEP].replace(",", " ").split()
    own = tuple(one for one in words if one not in (ASSUMPTIONS, OUTSIDERS, "all"))
    given: dict[str, Any] = {}
    try:
        given["invariants"] = named(said[INVARIANT].split(","))
        if said[SWEEP_SLOW]:
            given["slow"] = above_0(said, SWEEP_SLOW, float, "a number of seconds")
        if said[SWEEP_PART]:
            given["part"] = _part(said[SWEEP_PART])
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    try:
        return SweepWanted(
            kinds=tuple(FAULTS) if "all" in words else own,
            only=said[SWEEP_ONLY] or "*",
            assumptions=ASSUMPTIONS in words,
            outsiders=OUTSIDERS in words,
            stop_at_first=said[SWEEP_STOP].lower() not in ("", "0", "false", "no", "off"),
            **given,
        )
    except BadSetting as problem:
        more = f"{ASSUMPTIONS}, {OUTSIDERS}"
        raise pytest.UsageError(f"{flag(SWEEP)}: {problem}, {more}, all{before_a_path(SWEEP)}") from None


def _part(word: str) -> tuple[int, int]:
    if found := re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", word):
        number, of = int(found[1]), int(found[2])
        if number <= of:
            return number, of
    raise BadSetting(f"{flag(SWEEP_PART)} must be a part such as 1/2; it is {word[:80]!r}")


class SweepingTests(Reruns):
    """Sweeps all tests that have a sandbox."""

    def __init__(self, wanted: SweepWanted, run: pytest.StashKey[Sandboxes]) -> None:
        super().__init__(run)
        self._wanted = wanted
        self._swept: list[SweepReport] = []
        #: Whether nothing more is to be swept.
        self._over = False

    def _reports(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Return the reports of a test; the last one carries the results of its sweep."""
        reports = _again(item)
        if any(one.failed for one in reports):
            say_to_tool(swept=to_builtins(SweepReport(test=item.nodeid, problem="it does not pass")))
        passed = all(one.passed for one in reports) and not self._over
        if passed and (told := self._sweep(item)) is not None:
            self._over = self._wanted.stop_at_first and bool(told.wrong)
            say_to_tool(swept=to_builtins(told))
            reports[-1].user_properties.append((_TOLD, json.encode(told).decode()))
        return reports

    def _sweep(self, item: pytest.Item) -> SweepReport | None:
        """Return what came of a test's sweep; None for a test that sends no request."""
        run = item.config.stash[self._run]
        program = _program(item, run, lambda one: not one.passed)

        def step(report: SweepReport, words: str) -> None:
            say_to_tool(planned=0 if words else report.planned, ran=f"{item.name} {words}")

        wanted = dataclasses.replace(self._wanted, folder=run.folder_for(item))
        with run.apart(item) as prepared:
            try:
                found = sweep_program(program, Ground(prepared), wanted, step)
                return replace(found, test=item.nodeid)
            except AskedNothing:
                return None
            except BadProgram as problem:
                return SweepReport(test=item.nodeid, problem=str(problem))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test's report carries, in this process or from a worker."""
        told = [value for name, value in report.user_properties if name == _TOLD]
        self._swept += (json.decode(str(one), type=SweepReport) for one in told)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Have the run fail where a test passed that should not have."""
        if any(one.wrong for one in self._swept) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table of each test that was swept."""
        for one in self._swept:
            terminalreporter.section(f"reseller sandbox: sweep of {one.test}")
            for line in one.text():
                terminalreporter.write_line(line)
