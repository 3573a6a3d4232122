"""Sweeping tests: each that passes is run again in this process, with each thing going wrong once."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from reseller_sandbox.settings import BadSetting
from reseller_sandbox.testing.again import again, in_full, program_of
from reseller_sandbox.testing.options import (
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
from reseller_sandbox.tools.ground import Ground
from reseller_sandbox.tools.hearing import say_to_tool
from reseller_sandbox.tools.invariants import named
from reseller_sandbox.tools.running import BadProgram
from reseller_sandbox.tools.sweep.engine import AskedNothing, SweepWanted, sweep_program
from reseller_sandbox.tools.sweep.told import SweepTold, in_sections
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, FAULTS, OUTSIDERS

if TYPE_CHECKING:
    from reseller_sandbox.testing.run import Sandboxes
    from reseller_sandbox.tools.sweep.report import SweepReport

#: What the report of a test carries from a worker.
_TOLD = "reseller_sandbox_sweep"


def wished(said: Mapping[str, str]) -> SweepWanted:
    """Return what the options ask for; raise ``UsageError``."""
    words = said[SWEEP].replace(",", " ").split()
    own = tuple(one for one in words if one not in (ASSUMPTIONS, OUTSIDERS, "all"))
    try:
        invariants = named(said[INVARIANT].split(","))
        slow = (
            above_0(said, SWEEP_SLOW, float, "a number of seconds") if said[SWEEP_SLOW] else SweepWanted.slow
        )
        part = _part(said[SWEEP_PART]) if said[SWEEP_PART] else SweepWanted.part
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    try:
        return SweepWanted(
            kinds=tuple(FAULTS) if "all" in words else own,
            only=said[SWEEP_ONLY] or "*",
            assumptions=ASSUMPTIONS in words,
            outsiders=OUTSIDERS in words,
            slow=slow,
            part=part,
            stop_at_first=said[SWEEP_STOP].lower() not in ("", "0", "false", "no", "off"),
            invariants=invariants,
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


class SweepingTests:
    """A plugin of its own, which is there only where a sweep is asked for."""

    def __init__(self, wanted: SweepWanted, run: pytest.StashKey[Sandboxes]) -> None:
        self._wanted = wanted
        self._run = run
        self._swept: list[SweepTold] = []
        #: Whether nothing more is to be swept.
        self._over = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test as usual and then, if it passes, again and again."""
        if FIXTURE not in getattr(item, "fixturenames", ()):
            return None
        return in_full(item, nextitem, lambda: self._told(item))

    def _told(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Return the reports of a test, which carry what came of its sweep."""
        reports = again(item)
        if any(one.failed for one in reports):
            say_to_tool(swept=to_builtins(SweepTold(test=item.nodeid, problem="it does not pass")))
        passed = all(one.passed for one in reports) and not self._over
        if passed and (told := self._sweep(item)) is not None:
            self._over = self._wanted.stop_at_first and bool(told.wrong)
            say_to_tool(swept=to_builtins(told))
            reports[-1].user_properties.append((_TOLD, json.dumps(to_builtins(told))))
        return reports

    def _sweep(self, item: pytest.Item) -> SweepTold | None:
        """Return what came of a test's sweep; None for a test that sends no request."""
        run = item.config.stash[self._run]
        program = program_of(item, run, lambda one: not one.passed)

        def step(report: SweepReport, words: str) -> None:
            say_to_tool(planned=0 if words else report.planned, ran=f"{item.name} {words}")

        wanted = replace(self._wanted, folder=run.folder_for(item))
        with run.apart(item) as prepared:
            try:
                return sweep_program(program, Ground(prepared), wanted, step).told(item.nodeid)
            except AskedNothing:
                return None
            except BadProgram as problem:
                return SweepTold(test=item.nodeid, problem=str(problem))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test's report carries, in this process or from a worker."""
        told = [value for name, value in report.user_properties if name == _TOLD]
        self._swept += map(SweepTold.read, map(json.loads, map(str, told)))

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
            for line in in_sections(one):
                terminalreporter.write_line(line)
