"""Exploring tests: one that is marked is run in every order of its workers that could matter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.powers.here import Here
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.testing.again import again, in_full
from reseller_sandbox.tools.explore.runs import QUIET_HERE, Explorer
from reseller_sandbox.tools.ground import Ground
from reseller_sandbox.tools.running import KEPT, Ended

if TYPE_CHECKING:
    from pathlib import Path

    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes
    from reseller_sandbox.tools.explore import Exploration

#: The mark that makes a test one that is explored.
MARK = "reseller_sandbox_explore"


class ExploringTests:
    """A plugin of its own, which is there only where a test is marked."""

    def __init__(self, run: pytest.StashKey[Sandboxes]) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a marked test as usual and then, if it passes, in every order."""
        mark = item.get_closest_marker(MARK)
        return None if mark is None else in_full(item, nextitem, lambda: self._told(item, mark))

    def _told(self, item: pytest.Item, mark: pytest.Mark) -> list[pytest.TestReport]:
        """Return the reports of a test; what was found in some order makes it fail."""
        reports = again(item)
        run = item.config.stash.get(self._run, None)
        if run is not None and all(one.passed for one in reports):
            words = self._found(item, run, mark)
            for one in reports:
                if words and one.when == "call":
                    one.outcome, one.longrepr = "failed", words
        return reports

    def _found(self, item: pytest.Item, run: Sandboxes, mark: pytest.Mark) -> str:
        """Return the report of what was found, or nothing."""
        run.watcher.end()  # what each run has made goes with it
        prepared = run.prepared(item)
        try:
            if not isinstance(prepared.door, Here):
                return f"@pytest.mark.{MARK} needs worlds in this process, not those of a server"
            explored = partial(_explored, _tested(item, run), prepared, run.folder_for(item))
            found = explored(*mark.args, **mark.kwargs)
            return "\n".join(found.lines()) if found.findings else ""
        except (TypeError, ValueError, BadSetting) as problem:
            return f"@pytest.mark.{MARK}: {problem}"
        finally:
            prepared.close()
            run.watcher.begin()


def _explored(
    program: Any,
    prepared: Sandbox,
    folder: Path | None,
    *,
    actors: int = 2,
    max_runs: int = 200,
    schedule: str = "",
) -> Exploration:
    explorer = Explorer(
        ground=Ground(prepared), program=program, actors=actors, quiet=QUIET_HERE, folder=folder
    )
    return explorer.one(schedule) if schedule else explorer.explore(max_runs)


def _tested(item: pytest.Item, run: Sandboxes) -> Any:
    """Return a test as a program."""

    def program(world: Sandbox) -> Ended:
        began = stopwatch()
        with run.lending(world):
            failed = [one for one in again(item) if one.failed]
        words = "\n".join(one.longreprtext for one in failed)
        return Ended(1 if failed else 0, words[-KEPT:], stopwatch() - began)

    return program
