"""A pytest that the command runs sweeps its own tests: in their process, each for itself.

``--jobs`` has several of it share the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reseller_sandbox.testing import options
from reseller_sandbox.tools.sweep.told import SweepTold
from reseller_sandbox.tools.sweep.troubles import ASSUMPTIONS, OUTSIDERS

if TYPE_CHECKING:
    from reseller_sandbox.tools.progress import Tell
    from reseller_sandbox.tools.running import CommandProgram
    from reseller_sandbox.tools.sweep.engine import SweepWanted


def tests_swept(
    program: CommandProgram, wanted: SweepWanted, invariants: Sequence[str], tell: Tell
) -> list[SweepTold]:
    """Return what came of each test that sends requests. Raise ``BadProgram``."""
    more = [ASSUMPTIONS] * wanted.assumptions + [OUTSIDERS] * wanted.outsiders
    if not (kinds := ",".join([*wanted.kinds, *more])):
        return []
    said = {
        options.SWEEP: kinds,
        options.SWEEP_ONLY: wanted.only,
        options.SWEEP_SLOW: wanted.slow,
        options.SWEEP_STOP: wanted.stop_at_first,
        options.INVARIANT: ",".join(invariants),
    }
    planned: list[int] = []  # of all processes together, which speak on a thread each

    def step(news: Mapping[str, Any]) -> None:
        planned.append(news["planned"])
        tell(news["ran"], sum(planned))

    def part(number: int) -> dict[str, SweepTold]:
        mine = {**said, options.SWEEP_PART: f"{number}/{wanted.jobs}"}
        told = map(SweepTold.read, program.tests("swept", mine, wanted.folder or Path("capsules"), step))
        return {one.test: one for one in told}

    pool = ThreadPoolExecutor(wanted.jobs)
    try:
        first, *others = pool.map(part, range(1, wanted.jobs + 1))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # whoever ends the program ends what they wait for
    for other in others:
        for test, one in other.items():
            first[test] = first[test].beside(one) if test in first else one
    return list(first.values())
