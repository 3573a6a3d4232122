"""Exploring tests: one that is marked is run in every order of its workers that could matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from reseller_sandbox.powers.here import Here
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.testing.again import again, in_full, program_of
from reseller_sandbox.testing.options import (
    EXPLORE,
    EXPLORE_QUIET,
    EXPLORE_RUNS,
    EXPLORE_SCHEDULE,
    FIXTURE,
    INVARIANT,
    above_0,
    flag,
)
from reseller_sandbox.tools.defaults import QUIET_HERE
from reseller_sandbox.tools.explore.runs import Explorer
from reseller_sandbox.tools.ground import Ground
from reseller_sandbox.tools.hearing import is_heard, say_to_tool
from reseller_sandbox.tools.invariants import named

if TYPE_CHECKING:
    from reseller_sandbox.testing.run import Sandboxes
    from reseller_sandbox.tools.invariants import OwnInvariant


def wished(said: Mapping[str, str]) -> dict[str, Any]:
    """Return what the options ask for, for every test that is explored; raise ``UsageError``."""
    found: dict[str, Any] = {"all": bool(said[EXPLORE]), "schedule": said[EXPLORE_SCHEDULE]}
    try:
        found["invariants"] = named(said[INVARIANT].split(","))
        found |= {name: above_0(said, option, kind) for name, option, kind in _NUMBERS if said[option]}
    except ValueError as problem:
        raise pytest.UsageError(str(problem)) from None
    return found


_NUMBERS: tuple[tuple[str, str, type[Any]], ...] = (
    ("actors", EXPLORE, int),
    ("max_runs", EXPLORE_RUNS, int),
    ("quiet", EXPLORE_QUIET, float),
)


class ExploringTests:
    """A plugin of its own, which is there only where a test is marked, or all are to be explored."""

    def __init__(self, wanted: Mapping[str, Any], run: pytest.StashKey[Sandboxes]) -> None:
        self._wanted = {**wanted}
        self._all = self._wanted.pop("all")
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test as usual and then, if it passes, in every order."""
        mark = item.get_closest_marker(EXPLORE)
        if mark is None and not (self._all and FIXTURE in getattr(item, "fixturenames", ())):
            return None
        return in_full(item, nextitem, lambda: self._told(item, mark))

    def _told(self, item: pytest.Item, mark: pytest.Mark | None) -> list[pytest.TestReport]:
        """Return the reports of a test; what was found in some order makes it fail."""
        reports = again(item)
        run = item.config.stash.get(self._run, None)
        if run is not None and all(one.passed for one in reports):
            words = self._found(item, run, mark)
            for one in reports:
                if words and one.when == "call" and not is_heard():
                    one.outcome, one.longrepr = "failed", words
        return reports

    def _found(self, item: pytest.Item, run: Sandboxes, mark: pytest.Mark | None) -> str:
        """Return the report of what was found, or nothing."""

        def tell(schedule: str, _: int | None) -> None:
            say_to_tool(ran=f"{item.name} {schedule}")

        try:
            with run.apart(item) as prepared:
                if not isinstance(prepared.door, Here):
                    raise BadSetting("it needs worlds in this process, not those of a server")
                marked = _marked(*mark.args, **mark.kwargs) if mark is not None else {}
                found = Explorer(
                    ground=Ground(prepared),
                    program=program_of(item, run, lambda one: one.failed),
                    folder=run.folder_for(item),
                    **{"quiet": QUIET_HERE, **self._wanted, **marked},
                ).explore(tell)
        except (TypeError, ValueError) as problem:
            how = f"@pytest.mark.{EXPLORE}" if mark is not None else flag(EXPLORE)
            none = {"told": {}, "lines": [f"not explored: {problem}"], "problem": str(problem)}
            say_to_tool(explored={"test": item.nodeid, **none})
            return f"{how}: {problem}"
        lines = list(found.lines())
        if found.actors:
            say_to_tool(explored={"test": item.nodeid, "told": found.told(), "lines": lines})
        return "\n".join(lines) if found.findings else ""


def _marked(
    *,
    actors: int | None = None,
    max_runs: int | None = None,
    schedule: str | None = None,
    invariants: Sequence[OwnInvariant] | None = None,
) -> dict[str, Any]:
    """Return what a mark says."""
    told = {"actors": actors, "max_runs": max_runs, "schedule": schedule, "invariants": invariants}
    return {name: value for name, value in told.items() if value is not None}
