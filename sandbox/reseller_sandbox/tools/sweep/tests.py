"""A pytest that the command runs sweeps its own tests: in their process, each for itself.

``--jobs`` has several of it share the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reseller_sandbox.testing import options
from reseller_sandbox.tools.hearing import with_near_files
from reseller_sandbox.tools.sweep.engine import BadProgram
from reseller_sandbox.tools.sweep.told import SweepTold
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, OUTSIDERS

if TYPE_CHECKING:
    from reseller_sandbox.tools.ground import Ground
    from reseller_sandbox.tools.running import CommandProgram
    from reseller_sandbox.tools.sweep.engine import SweepWanted

#: With which a pytest ends that has run: all passed, and some failed.
_HAS_RUN = (0, 1)

#: Takes how many runs there are in all, and a few words on one that is over.
Step = Callable[[int, str], object]


def tests_swept(
    program: CommandProgram, ground: Ground, wanted: SweepWanted, invariants: Sequence[str], step: Step
) -> list[SweepTold]:
    """Return what came of each test that sends requests. Raise ``BadProgram``."""
    if not (chosen := _kinds(wanted)):
        return []
    folder = wanted.folder or Path("capsules")
    told = {
        options.SWEEP: chosen,
        options.SWEEP_ONLY: wanted.only,
        options.SWEEP_SLOW: wanted.slow,
        options.SWEEP_STOP: wanted.stop_at_first,
        options.INVARIANT: ",".join(invariants),
        options.CAPSULES: folder.absolute(),
    }
    counting = _Counting(step)

    def part(number: int) -> dict[str, SweepTold]:
        mine = {**told, options.SWEEP_PART: f"{number}/{wanted.jobs}"}
        return _swept(program, ground, options.variables(mine), folder, counting)

    pool = ThreadPoolExecutor(wanted.jobs)
    try:
        first, *others = pool.map(part, range(1, wanted.jobs + 1))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # whoever ends the program ends what they wait for
    for other in others:
        for test, one in other.items():
            first[test] = first[test].beside(one) if test in first else one
    return list(first.values())


def _kinds(wanted: SweepWanted) -> str:
    more = [ASSUMPTIONS] * wanted.assumptions + [OUTSIDERS] * wanted.outsiders
    return ",".join([*wanted.kinds, *more])


class _Counting:
    """Puts together what several processes say of their progress."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._planned = 0

    def __call__(self, said: Mapping[str, Any]) -> None:
        self._planned += said["planned"]
        if said["ran"]:
            self._step(self._planned, said["ran"])


def _swept(
    program: CommandProgram, ground: Ground, variables: Mapping[str, str], folder: Path, tell: _Counting
) -> dict[str, SweepTold]:
    """Return what came of each test in one process; raise ``BadProgram`` where that breaks off."""
    found: dict[str, SweepTold] = {}

    def hear(said: Mapping[str, Any]) -> None:
        if "swept" in said:
            one = SweepTold.read(with_near_files(said["swept"], folder))
            found[one.test] = one
        elif "ran" in said:
            tell(said)

    with ground.world() as world:
        ended = program.heard(world, variables, hear)
    if ended.status not in _HAS_RUN:
        raise BadProgram(f"while its tests are swept the program does not come to its end: {ended}", ended)
    return found
