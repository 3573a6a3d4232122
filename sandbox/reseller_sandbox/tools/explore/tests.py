"""A pytest that the command runs explores its own tests: in their process, each for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.testing import options
from reseller_sandbox.tools.hearing import with_near_files

if TYPE_CHECKING:
    from pathlib import Path

    from reseller_sandbox.tools.explore.report import Exploration
    from reseller_sandbox.tools.explore.runs import Explorer
    from reseller_sandbox.tools.ground import Ground
    from reseller_sandbox.tools.progress import Tell
    from reseller_sandbox.tools.running import CommandProgram

#: With which a pytest ends that has run: all passed, and some failed.
_HAS_RUN = (0, 1)


@dataclass(frozen=True, slots=True)
class ExploredTold:
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
    program: CommandProgram,
    ground: Ground,
    explorer: Explorer,
    wanted: Mapping[str, Any],
    folder: Path,
    tell: Tell,
) -> list[ExploredTold]:
    """Return what came of each test; raise ValueError where the program breaks off."""
    found: dict[str, ExploredTold] = {}

    def hear(said: Mapping[str, Any]) -> None:
        if "explored" in said:
            one = ExploredTold(**with_near_files(said["explored"], folder))
            found[one.test] = one
        elif "ran" in said:
            tell(said["ran"], None)

    more = {**wanted, options.EXPLORE: explorer.actors, options.EXPLORE_QUIET: explorer.quiet}
    variables = options.variables({**more, options.CAPSULES: folder.absolute()})
    with ground.world() as world:
        ended = program.heard(world, variables, hear)
    if ended.status not in _HAS_RUN:
        raise ValueError(f"while its tests are explored the program breaks off: {ended}")
    return list(found.values())
