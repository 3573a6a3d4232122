"""A pytest that the command runs explores its own tests: in their process, each for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reseller_sandbox.testing import options

if TYPE_CHECKING:
    from pathlib import Path

    from reseller_sandbox.tools.explore.report import Exploration
    from reseller_sandbox.tools.explore.runs import Explorer
    from reseller_sandbox.tools.progress import Tell
    from reseller_sandbox.tools.running import CommandProgram


class ExploredTold(Struct, frozen=True):
    """An exploration in words: of the program, or of a ``test`` of it.

    ``told`` is what programs are told, ``problem`` why it was not explored.
    """

    test: str
    told: Mapping[str, Any]
    lines: Sequence[str]
    problem: str = ""

    @classmethod
    def of(cls, found: Exploration, problem: str = "") -> ExploredTold:
        """Return what is told of the program itself."""
        return cls("", found.told(), list(found.lines()), problem)

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """What was found."""
        return list(self.told.get("findings", ()))

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        test = {"test": self.test} if self.test else {}
        problem = {"problem": self.problem} if self.problem and self.test else {}
        return {**test, **self.told, **problem}


def tests_explored(
    program: CommandProgram, explorer: Explorer, invariants: Sequence[str], folder: Path, tell: Tell
) -> list[ExploredTold]:
    """Return what came of each test. Raise ``BadProgram``."""
    said = {
        options.EXPLORE: explorer.actors,
        options.EXPLORE_RUNS: explorer.max_runs,
        options.EXPLORE_QUIET: explorer.quiet,
        options.EXPLORE_SCHEDULE: explorer.schedule,
        options.INVARIANT: ",".join(invariants),
    }
    told = program.tests("explored", said, folder, lambda news: tell(news["ran"], None))
    return list({one["test"]: ExploredTold(**one) for one in told}.values())
