"""Sweep: a program that passes runs again, each time with another thing going wrong once.

``troubles`` are the things that can go wrong, ``report`` is the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from reseller_sandbox.app_factory import contract
from reseller_sandbox.registry.refusals import Refused
from reseller_sandbox.registry.text_checks import nearest
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import SLOW
from reseller_sandbox.tools.environment_setup import Ground
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, broken, own_broken
from reseller_sandbox.tools.outcomes import MOST, Outcome, outcome_of, write_recording
from reseller_sandbox.tools.running import (
    ASKED_NOTHING,
    BadProgram,
    CommandProgram,
    Program,
    Tell,
    function_program,
)
from reseller_sandbox.tools.sweep.report import Came, Run, SweepReport
from reseller_sandbox.tools.sweep.troubles import (
    ASSUMPTIONS,
    FAULTS,
    OUTSIDERS,
    SweptRequest,
    Trouble,
    asked,
    is_impossible,
    numbered,
    of_assumptions,
    of_others,
    of_request,
)

__all__ = ["BadProgram", "Came", "SweepReport", "SweepWanted", "sweep"]

#: The end of the message on a program that passes only once.
_A_SECOND_TIME = (
    " the second time, though it did the first: what one run leaves must not be there in the next"
)

#: How much of a program's output is kept of a run that is not fine.
_OUTPUT = 2000


class AskedNothing(BadProgram):
    """A program sends no request to the world of its run."""


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
        folder: Where the recording of each silently wrong run is written.
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

    It has to pass if nothing goes wrong. Takes the fields of ``SweepWanted``. Raise ``BadSetting``.
    """
    return sweep_program(function_program(function), Ground(sandbox), SweepWanted(**wanted))


def sweep_program(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    step: Callable[[SweepReport, str], object] = lambda _, __: None,
) -> SweepReport:
    """Run a program with each thing that is wanted going wrong once.

    ``step`` is called before each run, with the report so far. Raise ``BadProgram``.
    """
    default = _run_well(program, ground, wanted, "")
    second = _run_well(program, ground, wanted, _A_SECOND_TIME)
    requests = numbered(default.requests, (one.id for one in contract()))
    chosen = [one for one in requests if fnmatchcase(one.operation, wanted.only)]
    number, of = wanted.part
    troubles = list(enumerate(_troubles(chosen, requests, wanted)))[number - 1 :: of]
    report = SweepReport(
        rows=[f"{one.record.id} {one}" for one in chosen],
        refused=[f"{one.id} {asked(one)} ({one.refused})" for one in default.requests if one.refused],
        planned=len(troubles),
        unsteady=_asked(default) != _asked(second),
        tests=default.ended.tests,
    )
    step(report, "")
    faulty_run = partial(_faulty_run, program, ground, wanted, default, report.unsteady)
    with _mapping(wanted.jobs) as map_:
        for run in map_(faulty_run, troubles):
            if run is None:
                report.planned -= 1
                continue
            report.runs.append(run)
            step(report, run.trouble)
            if wanted.stop_at_first and run.came is Came.WRONG:
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


def _run_well(program: Program, ground: Ground, wanted: SweepWanted, when: str) -> Outcome:
    """Run the program without faults. Raise ``BadProgram`` if it does not pass or sends no request."""
    with ground.world() as world:
        ended = program(world)
        if not ended.passed:
            raise BadProgram(f"without any fault the program does not pass{when}: {ended}", ended)
        found = outcome_of(world, ended)
        if not found.requests:
            raise AskedNothing(ASKED_NOTHING, ended)
        if len(found.requests) >= MOST or world.journal.find(limit=0).dropped:
            raise BadProgram(f"the program sends more requests than a journal keeps, which is {MOST}", ended)
        if words := [*broken(found, found, Expected()), *own_broken(wanted.invariants, world)]:
            raise BadProgram(f"without any fault the program leaves this{when}: {'; '.join(words)}", ended)
        return found


def _asked(outcome: Outcome) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((one.operation, one.domains) for one in outcome.requests)


def _faulty_run(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    default: Outcome,
    unsteady: bool,
    numbered: tuple[int, Trouble],
) -> Run | None:
    """Run the program with one thing going wrong, and compare the outcome with the ``default`` one.

    Return None if that cannot happen in its world.
    """
    number, trouble = numbered
    with ground.world(assume=trouble.assume) as world:
        try:
            trouble.arm(world)
        except Refused as refused:
            if is_impossible(refused):
                return None
            raise
        ended = program(world)
        expected = replace(trouble.expected, same=trouble.expected.same and not unsteady)
        words = broken(outcome_of(world, ended), default, expected)
        words += own_broken(wanted.invariants, world)
        if not ended.passed:
            came = Came.FAILED
        elif words:
            came = Came.WRONG
        else:
            came = Came.FINE if trouble.is_applied(world) else Came.UNREACHED
        request = trouble.request
        number_of = request.record.id if request is not None else None
        file = None
        if came is Came.WRONG and wanted.folder is not None:
            parts = filter(None, (number_of, trouble.kind, trouble.detail))
            file = write_recording(world, wanted.folder, "-".join(parts))
        return Run(
            number=number,
            request=str(request) if request is not None else None,
            id=number_of,
            kind=trouble.kind,
            detail=trouble.detail,
            came=came,
            ended=str(ended),
            broken=tuple(words),
            file=file,
            output=ended.output[-_OUTPUT:] if came is not Came.FINE else "",
        )


@contextmanager
def _mapping(jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a ``map`` that makes so many calls at once; those that wait at its end are not made."""
    if jobs == 1:
        yield map
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool.map
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def tests_swept(
    program: CommandProgram, wanted: SweepWanted, invariants: Sequence[str], tell: Tell
) -> list[SweepReport]:
    """Have a pytest sweep its own tests, each in its process. Return a report for each. Raise ``BadProgram``.

    The runs of a test are shared by ``wanted.jobs`` processes.
    """
    more = [ASSUMPTIONS] * wanted.assumptions + [OUTSIDERS] * wanted.outsiders
    if not (kinds := ",".join([*wanted.kinds, *more])):
        return []
    said = {
        cli_options.SWEEP: kinds,
        cli_options.SWEEP_ONLY: wanted.only,
        cli_options.SWEEP_SLOW: wanted.slow,
        cli_options.SWEEP_STOP: wanted.stop_at_first,
        cli_options.INVARIANT: ",".join(invariants),
    }
    planned: list[int] = []  # of all processes together, which report on a thread each

    def step(news: Mapping[str, Any]) -> None:
        planned.append(news["planned"])
        tell(news["ran"], sum(planned))

    def part(number: int) -> list[SweepReport]:
        mine = {**said, cli_options.SWEEP_PART: f"{number}/{wanted.jobs}"}
        return convert(
            program.tests("swept", mine, wanted.folder or Path("recordings"), step), list[SweepReport]
        )

    found: dict[str, SweepReport] = {}
    with _mapping(wanted.jobs) as map_:
        for reports in map_(part, range(1, wanted.jobs + 1)):
            mine = {one.test: one for one in reports}
            found |= {test: found[test].beside(one) if test in found else one for test, one in mine.items()}
    return list(found.values())
