"""The runs of a sweep: once without faults, and once for each request and each thing that can go wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from reseller_sandbox.app_factory import contract
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.texts import nearest
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.defaults import SLOW
from reseller_sandbox.tools.ground import Ground
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, broken, own_broken
from reseller_sandbox.tools.left import MOST, Left, kept, left_in
from reseller_sandbox.tools.running import ASKED_NOTHING, BadProgram, FunctionProgram, Program
from reseller_sandbox.tools.sweep.report import Run, SweepReport
from reseller_sandbox.tools.sweep.told import Came
from reseller_sandbox.tools.sweep.troubles import (
    FAULTS,
    SweptRequest,
    Trouble,
    is_impossible,
    numbered,
    of_assumptions,
    of_others,
    of_request,
)

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox

_T = TypeVar("_T")

#: What is said of a program that passes once alone.
_A_SECOND_TIME = (
    " the second time, though it did the first: what one run leaves must not be there in the next"
)


class AskedNothing(BadProgram):
    """A program sends no request, or none to the world of its run."""


@dataclass(frozen=True, kw_only=True)
class SweepWanted:
    """What is to be tried.

    Args:
        kinds: Which faults: see ``troubles.FAULTS``.
        only: A pattern of the operations whose requests are tried, such as v3.renew*.
        assumptions: Whether other values of the assumptions that the run rested on are tried.
        outsiders: Whether other people act right before each request that is paid for.
        slow: How many seconds a slow answer takes.
        jobs: How many runs go on at once.
        part: Which part of all runs is made, as in 1 of 2, where several processes share them.
        stop_at_first: Whether the first silently wrong run is the last.
        invariants: What else holds of a world after a run: a function that returns words where it does not.
        folder: Where the capsule of each silently wrong run is written.
    """

    kinds: Sequence[str] = tuple(FAULTS)
    only: str = "*"
    assumptions: bool = False
    outsiders: bool = False
    slow: float = SLOW
    jobs: int = 1
    part: tuple[int, int] = (1, 1)
    stop_at_first: bool = False
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in FAULTS:
                near = nearest(kind, FAULTS)
                raise BadSetting(f"there is no kind {kind!r}{near}; there are {', '.join(FAULTS)}")


def sweep(function: Callable[[Sandbox], object], sandbox: Sandbox, **wanted: Any) -> SweepReport:
    """Call a function over and over, with a fork of ``sandbox`` in which another thing goes wrong each time.

    It has to pass without that; takes the fields of ``SweepWanted``. Raise ``BadSetting``.
    """
    return sweep_program(FunctionProgram(function), Ground(sandbox), SweepWanted(**wanted))


def sweep_program(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    step: Callable[[SweepReport, str], object] | None = None,
) -> SweepReport:
    """Run a program with each thing that is wanted going wrong once.

    ``step`` is called before each run, with the report so far. Raise ``BadProgram``.
    """
    usual = _run_well(program, ground, wanted, "")
    second = _run_well(program, ground, wanted, _A_SECOND_TIME)
    requests = numbered(usual.requests, (one.id for one in contract()))
    chosen = [one for one in requests if fnmatchcase(one.operation, wanted.only)]
    refused = [one for one in usual.requests if one.refused]
    report = SweepReport(chosen, refused, unsteady=_asked(usual) != _asked(second), tests=usual.ended.tests)
    number, of = wanted.part
    troubles = list(enumerate(_troubles(chosen, requests, wanted)))[number - 1 :: of]
    report.planned = len(troubles)
    if step is not None:
        step(report, "")

    def one(numbered: tuple[int, Trouble]) -> Run | None:
        return _tried(program, ground, wanted, *numbered, usual, report.unsteady)

    for made in _in_order(one, troubles, wanted.jobs):
        if made is None:
            report.planned -= 1
            continue
        report.runs.append(made)
        if step is not None:
            step(report, str(made.trouble))
        if wanted.stop_at_first and made.came is Came.WRONG:
            break
    return report


def _troubles(
    chosen: Sequence[SweptRequest], every: Sequence[SweptRequest], wanted: SweepWanted
) -> Iterator[Trouble]:
    operations = {one.id: one for one in contract()}
    for one in chosen:
        yield from of_request(one, operations[one.operation], wanted.kinds, wanted.slow)
    if wanted.outsiders:
        yield from (one for one in of_others(every) if one.request in chosen)
    if wanted.assumptions:
        yield from of_assumptions(chosen)


def _run_well(program: Program, ground: Ground, wanted: SweepWanted, when: str) -> Left:
    """Run the program without faults; raise ``BadProgram`` where it does not pass or asks nothing."""
    with ground.world() as world:
        ended = program(world)
        if not ended.passed:
            raise BadProgram(f"without any fault the program does not pass{when}: {ended}", ended)
        left = left_in(world, ended)
        if not left.requests:
            raise AskedNothing(ASKED_NOTHING, ended)
        if len(left.requests) >= MOST or world.journal.find(limit=0).dropped:
            raise BadProgram(f"the program sends more requests than a journal keeps, which is {MOST}", ended)
        if words := [*broken(left, left, Expected()), *own_broken(wanted.invariants, world)]:
            raise BadProgram(f"without any fault the program leaves this{when}: {'; '.join(words)}", ended)
        return left


def _asked(left: Left) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((one.operation, one.domains) for one in left.requests)


def _tried(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    number: int,
    trouble: Trouble,
    usual: Left,
    unsteady: bool,
) -> Run | None:
    """Run the program with one thing going wrong; return None where that cannot happen in its world."""
    with ground.world(assume=trouble.assume) as world:
        try:
            trouble.arm(world)
        except Refused as refused:
            if is_impossible(refused):
                return None
            raise
        ended = program(world)
        left = left_in(world, ended)
        expected = replace(trouble.expected, same=trouble.expected.same and not unsteady)
        words = (*broken(left, usual, expected), *own_broken(wanted.invariants, world))
        run = Run(trouble, ended, words, trouble.has_struck(world), number=number)
        if run.came is Came.WRONG and wanted.folder is not None:
            return replace(run, file=_kept(world, trouble, wanted.folder))
        return run


def _kept(world: Sandbox, trouble: Trouble, folder: Path) -> str:
    request = trouble.request.record.id if trouble.request is not None else ""
    parts = filter(None, (request, trouble.kind, trouble.detail))
    return kept(world, folder, "-".join(parts))


def _in_order(work: Callable[[_T], Run | None], troubles: Sequence[_T], jobs: int) -> Iterator[Run | None]:
    """Yield what comes of each, in their order, with so many under way at once."""
    if jobs == 1:
        yield from map(work, troubles)
        return
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[Future[Run | None]] = deque()
    try:
        for one in troubles:
            waiting.append(pool.submit(work, one))
            if len(waiting) >= 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
