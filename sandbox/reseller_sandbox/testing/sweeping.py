"""Sweeping tests: each that passes is run again in this process, with each thing going wrong once."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tables import in_lines
from reseller_sandbox.testing.again import again, in_full
from reseller_sandbox.tools.ground import Ground
from reseller_sandbox.tools.running import KEPT, Ended
from reseller_sandbox.tools.sweep.engine import AskedNothing, BadProgram, SweepWanted, sweep_program
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, FAULTS, OUTSIDERS

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

#: The fixture that makes a test one that is swept, and what its report carries from a worker.
_FIXTURE, _TOLD = "reseller_sandbox", "reseller_sandbox_sweep"


def wished(kinds: str) -> SweepWanted:
    """Return what the option asks for; raise ``UsageError``."""
    words = kinds.replace(",", " ").split()
    own = tuple(one for one in words if one not in (ASSUMPTIONS, OUTSIDERS, "all"))
    try:
        return SweepWanted(
            kinds=tuple(FAULTS) if "all" in words else own,
            assumptions=ASSUMPTIONS in words,
            outsiders=OUTSIDERS in words,
        )
    except BadSetting as problem:
        more = f"{ASSUMPTIONS}, {OUTSIDERS}"
        raise pytest.UsageError(f"--reseller-sandbox-sweep: {problem}, {more}, all") from None


class SweepingTests:
    """A plugin of its own, which is there only where a sweep is asked for."""

    def __init__(self, wanted: SweepWanted, run: pytest.StashKey[Sandboxes]) -> None:
        self._wanted = wanted
        self._run = run
        self._swept: list[dict[str, Any]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test as usual and then, if it passes, again and again."""
        if _FIXTURE not in getattr(item, "fixturenames", ()):
            return None
        return in_full(item, nextitem, lambda: self._told(item))

    def _told(self, item: pytest.Item) -> list[pytest.TestReport]:
        """Return the reports of a test, which carry what came of its sweep."""
        reports = again(item)
        told = self._sweep(item) if all(one.passed for one in reports) else None
        if told is not None:
            reports[-1].user_properties.append((_TOLD, json.dumps({"test": item.nodeid, **told})))
        return reports

    def _sweep(self, item: pytest.Item) -> dict[str, Any] | None:
        """Return what came of a test's sweep, to be shown; None for a test that sends no request."""
        run = item.config.stash[self._run]
        run.watcher.end()  # what each run has made goes with it
        prepared = run.prepared(item)

        def program(world: Sandbox) -> Ended:
            began = stopwatch()
            with run.lending(world):
                failed = [one for one in again(item) if not one.passed]
            words = "\n".join(one.longreprtext for one in failed)
            return Ended(1 if failed else 0, words[-KEPT:], stopwatch() - began)

        try:
            wanted = replace(self._wanted, folder=run.folder_for(item))
            report = sweep_program(program, Ground(prepared), wanted)
        except AskedNothing:
            return None
        except BadProgram as problem:
            return {"tables": [], "lines": [f"not swept: {problem}"], "wrong": 0}
        finally:
            prepared.close()
            run.watcher.begin()
        tables = in_lines({name: rows for name, rows in report.tables().items() if rows})
        return {"tables": tables, "lines": list(report.lines()), "wrong": len(report.wrong)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test's report carries, in this process or from a worker."""
        told = [value for name, value in report.user_properties if name == _TOLD]
        self._swept += map(json.loads, map(str, told))

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Have the run fail where a test passed that should not have."""
        if any(one["wrong"] for one in self._swept) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table of each test that was swept."""
        for one in self._swept:
            terminalreporter.section(f"reseller sandbox: sweep of {one['test']}")
            for line in (*one["tables"], *([""] if one["tables"] else []), *one["lines"]):
                terminalreporter.write_line(line)
