"""Sweep: run a passing program again and again, each time with another trouble.

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
from reseller_sandbox.refusals import Refused
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
from reseller_sandbox.tools.sweep.report import Run, SweepReport, SweepResult
from reseller_sandbox.tools.sweep.troubles import (
    ASSUMPTIONS,
    EXTERNAL_CHANGES,
    FAULTS,
    SweptRequest,
    Trouble,
    asked,
    external_changes,
    is_impossible,
    numbered,
    of_assumptions,
    of_request,
)
from reseller_sandbox.values.text_checks import nearest

__all__ = ["BadProgram", "SweepReport", "SweepResult", "SweepWanted", "sweep"]

#: The end of the message about a program that passes only once.
_A_SECOND_TIME = " the second time; remove what the first run leaves, such as rows in a database"

#: The most characters of output that a run which is not fine keeps, from the end.
_OUTPUT = 2000


class AskedNothing(BadProgram):
    """A program sends no request to the world of its run."""


@dataclass(frozen=True, kw_only=True)
class SweepWanted:
    """The options of a sweep.

    Args:
        kinds: The kinds of faults to try, see ``troubles.FAULTS``.
        only: A pattern of the operations whose requests are tried, such as v3.renew*.
        assumptions: Whether to try other values of the assumptions that the run rested on.
        external_changes: Whether third parties act right before each request that is paid for.
        slow: The delay of a slow answer in seconds.
        jobs: The number of concurrent runs.
        part: The part of all runs to make, such as 1 of 2, if several processes share them.
        stop_at_first: Whether to stop after the first silently wrong run.
        invariants: Functions that check a world after a run and return a description of the violation, if
            any.
        folder: The folder for the recording of each silently wrong run.
    """

    kinds: Sequence[str] = tuple(FAULTS)
    only: str = "*"
    assumptions: bool = False
    external_changes: bool = False
    slow: float = SLOW
    jobs: int = 1
    part: tuple[int, int] = (1, 1)
    stop_at_first: bool = False
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in FAULTS:
                hint = nearest(kind, FAULTS) or f"; the kinds are {', '.join(FAULTS)}"
                raise BadSetting(f"unknown kind {kind!r}{hint}")


def sweep(function: Callable[[Sandbox], object], sandbox: Sandbox, **wanted: Any) -> SweepReport:
    """Call a function repeatedly, each time with another trouble.

    Each call gets a fork of ``sandbox``. The function has to pass without trouble.
    Takes the fields of ``SweepWanted``. Raise ``BadSetting``.
    """
    return sweep_program(function_program(function), Ground(sandbox), SweepWanted(**wanted))


def sweep_program(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    step: Callable[[SweepReport, str], object] = lambda _, __: None,
) -> SweepReport:
    """Run a program once for each wanted trouble.

    ``step`` is called before each run, with the report so far. Raise ``BadProgram``.
    """
    baseline = _run_well(program, ground, wanted, "")
    second = _run_well(program, ground, wanted, _A_SECOND_TIME)
    requests = numbered(baseline.requests, (operation.id for operation in contract()))
    chosen = [request for request in requests if fnmatchcase(request.operation, wanted.only)]
    number, of = wanted.part
    troubles = list(enumerate(_troubles(chosen, requests, wanted)))[number - 1 :: of]
    report = SweepReport(
        rows=[f"{request.record.id} {request}" for request in chosen],
        refused=[
            f"{record.id} {asked(record)} ({record.refused})"
            for record in baseline.requests
            if record.refused
        ],
        planned=len(troubles),
        unsteady=_asked(baseline) != _asked(second),
        tests=baseline.ended.tests,
    )
    step(report, "")
    faulty_run = partial(_faulty_run, program, ground, wanted, baseline, report.unsteady)
    with _mapping(wanted.jobs) as map_:
        for run in map_(faulty_run, troubles):
            if run is None:
                report.planned -= 1
                continue
            report.runs.append(run)
            step(report, run.trouble)
            if wanted.stop_at_first and run.result is SweepResult.WRONG:
                break
    return report


def _troubles(
    chosen: Sequence[SweptRequest], every: Sequence[SweptRequest], wanted: SweepWanted
) -> Iterator[Trouble]:
    operations = {operation.id: operation for operation in contract()}
    for request in chosen:
        yield from of_request(request, operations[request.operation], wanted.kinds, wanted.slow)
    if wanted.external_changes:
        yield from (trouble for trouble in external_changes(every) if trouble.request in chosen)
    if wanted.assumptions:
        yield from of_assumptions(chosen)


def _run_well(program: Program, ground: Ground, wanted: SweepWanted, when: str) -> Outcome:
    """Run the program without faults.

    Raise ``BadProgram`` if the program does not pass or sends no request.
    """
    with ground.world() as world:
        ended = program(world)
        if not ended.passed:
            raise BadProgram(f"without any fault the program does not pass{when}: {ended}", ended)
        outcome = outcome_of(world, ended)
        if not outcome.requests:
            raise AskedNothing(ASKED_NOTHING, ended)
        if len(outcome.requests) >= MOST or world.journal.find(limit=0).dropped:
            raise BadProgram(f"the program sends more requests than a journal keeps, which is {MOST}", ended)
        if words := [*broken(outcome, outcome, Expected()), *own_broken(wanted.invariants, world)]:
            raise BadProgram(f"without any fault the program leaves this{when}: {'; '.join(words)}", ended)
        return outcome


def _asked(outcome: Outcome) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((request.operation, request.domains) for request in outcome.requests)


def _faulty_run(
    program: Program,
    ground: Ground,
    wanted: SweepWanted,
    baseline: Outcome,
    unsteady: bool,
    numbered: tuple[int, Trouble],
) -> Run | None:
    """Run the program with one trouble, and compare the outcome with ``baseline``.

    Return None if the trouble is impossible in the program's world.
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
        words = broken(outcome_of(world, ended), baseline, expected)
        words += own_broken(wanted.invariants, world)
        if not ended.passed:
            result = SweepResult.NOTICED
        elif words:
            result = SweepResult.WRONG
        else:
            result = SweepResult.FINE if trouble.is_applied(world) else SweepResult.NOT_SENT
        request = trouble.request
        number_of = request.record.id if request is not None else None
        file = None
        if result is SweepResult.WRONG and wanted.folder is not None:
            parts = filter(None, (number_of, trouble.kind, trouble.detail))
            file = write_recording(world, wanted.folder, "-".join(parts))
        return Run(
            number=number,
            request=str(request) if request is not None else None,
            id=number_of,
            kind=trouble.kind,
            detail=trouble.detail,
            result=result,
            ended=str(ended),
            violations=tuple(words),
            file=file,
            output=ended.output[-_OUTPUT:] if result is not SweepResult.FINE else "",
        )


@contextmanager
def _mapping(jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a ``map`` that makes ``jobs`` calls at once.

    At the end of the context, calls that have not started are cancelled.
    """
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
    """Have pytest sweep its own tests, each in its process. Return their reports.

    ``wanted.jobs`` processes share the runs of a test. Raise ``BadProgram``.
    """
    more = [ASSUMPTIONS] * wanted.assumptions + [EXTERNAL_CHANGES] * wanted.external_changes
    if not (kinds := ",".join([*wanted.kinds, *more])):
        return []
    options = {
        cli_options.SWEEP: kinds,
        cli_options.SWEEP_ONLY: wanted.only,
        cli_options.SWEEP_SLOW: wanted.slow,
        cli_options.SWEEP_STOP: wanted.stop_at_first,
        cli_options.INVARIANT: ",".join(invariants),
    }
    planned: list[int] = []  # of all processes, because each reports on a separate thread

    def step(news: Mapping[str, Any]) -> None:
        planned.append(news["planned"])
        tell(news["ran"], sum(planned))

    def part(number: int) -> list[SweepReport]:
        mine = {**options, cli_options.PART: f"{number}/{wanted.jobs}"}
        return convert(
            program.tests("swept", mine, wanted.folder or Path("recordings"), step), list[SweepReport]
        )

    merged: dict[str, SweepReport] = {}
    with _mapping(wanted.jobs) as map_:
        for reports in map_(part, range(1, wanted.jobs + 1)):
            for report in reports:
                first = merged.get(report.test)
                merged[report.test] = report if first is None else first.beside(report)
    return list(merged.values())
