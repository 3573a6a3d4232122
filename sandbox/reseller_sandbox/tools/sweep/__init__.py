"""Sweep: run a program repeatedly, each time with a different *trouble*, such as a fault on one request.

``troubles`` declares the troubles, ``report`` prints the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.app_factory import contract
from reseller_sandbox.refusals import Refused
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import SLOW, STALE
from reseller_sandbox.tools.invariants import (
    Expected,
    OwnInvariant,
    noticed_late,
    own_violations,
    violations_of,
)
from reseller_sandbox.tools.outcomes import MOST, Outcome, outcome_of, source_of, write_page, write_recording
from reseller_sandbox.tools.running import (
    NO_REQUEST_SENT,
    BadProgram,
    CommandProgram,
    NothingTried,
    Program,
    Tell,
    fork_of,
    function_program,
    mapping,
)
from reseller_sandbox.tools.sweep.report import Run, SweepReport, SweepResult
from reseller_sandbox.tools.sweep.troubles import (
    ASSUMPTIONS,
    DEFAULT,
    EXTERNAL_CHANGES,
    PRICES,
    TIME,
    WORDS,
    SweptRequest,
    Trouble,
    asked,
    external_changes,
    family_of,
    is_impossible,
    kinds_named,
    numbered,
    of_assumptions,
    of_prices,
    of_request,
    of_time,
    pairs,
)
from reseller_sandbox.values.text_checks import nearest, plural, shortened

__all__ = ["BadProgram", "SweepReport", "SweepResult", "SweepWanted", "sweep"]

#: The end of an error message: the program passes in its first run, and fails in its second run.
_A_SECOND_TIME = " the second time; remove what the first run leaves, such as rows in a database"

#: The step of a sweep in which its runs get a second fault.
SECOND_FAULT = "a second fault"

#: Maximum number of characters of a program's output in a report, counted from the end.
_OUTPUT = 2000


class SentNoRequest(BadProgram, NothingTried):
    """The program sent no request to its sandbox, so there is nothing to sweep."""


@dataclass(frozen=True, kw_only=True)
class SweepWanted:
    """The options of a sweep.

    Args:
        kinds: Kinds of troubles to try, from ``troubles.DEFAULT`` and ``troubles.EXTRA``.
        only: Pattern of the operations to try, such as v3.renew*.
        depth: If 2, also try a second fault on each request that the program sends because of a first fault.
        slow: Delay of a slow answer in seconds.
        stale: Maximum age of a stale answer in seconds of the world's clock.
        jobs: Number of concurrent runs.
        part: Part of the runs that this process makes, such as (1, 2) for the first half of all runs.
        stop_at_first: Whether to stop after the first finding.
        strict: Whether consequences that no client can prevent are findings, too.
        invariants: Functions that check a world after a run. They return a description of a violation, or
            None.
        folder: Folder for the recording and the page of each finding.
    """

    kinds: Sequence[str] = DEFAULT
    only: str = "*"
    depth: int = 1
    slow: float = SLOW
    stale: float = STALE
    jobs: int = 1
    part: tuple[int, int] = (1, 1)
    stop_at_first: bool = False
    strict: bool = False
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None

    def __post_init__(self) -> None:
        for kind in self.kinds:
            kinds_named(kind)
        operations = [operation.id for operation in contract()]
        if not any(fnmatchcase(operation, self.only) for operation in operations):
            problem = f"the pattern {shortened(self.only)} matches no operation"
            raise BadSetting(f"{problem}{nearest(self.only, operations)}")

    @property
    def parameters(self) -> Mapping[str, Mapping[str, object]]:
        """The parameters of fault rules, by kind."""
        return {"slow-answer": {"seconds": self.slow}, "stale-read": {"max_age": self.stale}}


def sweep(function: Callable[[Sandbox], object], sandbox: Sandbox, **wanted: Any) -> SweepReport:
    """Call a function repeatedly, each time with a different trouble, such as a fault.

    Each call gets a fork of ``sandbox``. The keywords are the fields of ``SweepWanted``. Raise ``BadSetting``
    for an invalid keyword, and if the function fails without trouble.
    """
    return sweep_program(function_program(function), sandbox, SweepWanted(**wanted))


def sweep_program(
    program: Program,
    prepared: Sandbox,
    wanted: SweepWanted,
    step: Callable[[SweepReport, str], object] = lambda _, __: None,
) -> SweepReport:
    """Run a program once for each trouble, each time in a fork of the world ``prepared``.

    ``step`` gets the report so far and the latest trouble: before the first run, and after each run. Raise
    ``BadProgram``.
    """
    runs = _Sweep(program, prepared, wanted)
    everything = list(enumerate(runs.troubles(wanted.kinds, runs.chosen)))
    report = SweepReport(
        rows=[f"{request.record.id} {request}" for request in runs.chosen],
        refused=[
            f"{record.id} {asked(record)} ({record.refused})"
            for record in runs.baseline.requests
            if record.refused
        ],
        unsteady=runs.unsteady,
        tests=runs.baseline.ended.tests,
        untried=list(runs.untried()),
        seconds=runs.baseline.ended.seconds / wanted.jobs,
        strict=wanted.strict,
        part=wanted.part,
    )
    troubles = _in_part(everything, wanted.part)
    for depth in range(1, 3):
        if depth > wanted.depth:
            report.deeper = len(troubles)
            break
        report.planned += len(troubles)
        step(report, "" if depth == 1 else SECOND_FAULT)
        with mapping(wanted.jobs) as map_:
            for run in map_(runs.run, troubles):
                if run is None:
                    report.planned -= 1
                    continue
                report.runs.append(run)
                step(report, run.trouble)
                if wanted.stop_at_first and run in report.findings:
                    return report
        troubles = [((first + 1) * _MOST + place, pair) for place, (first, pair) in enumerate(runs.pairs())]
    return report


#: The number of a run with two faults is at least this, so that it sorts after the runs with one fault.
_MOST = 1_000_000


def _in_part(troubles: Sequence[tuple[int, Trouble]], part: tuple[int, int]) -> list[tuple[int, Trouble]]:
    """Return the troubles of one part of a sweep.

    Faults that can lead to the same recovery are in the same part, so that the parts try the same second
    faults as the whole sweep.
    """
    families: dict[object, list[tuple[int, Trouble]]] = {}
    for number, trouble in troubles:
        families.setdefault(family_of(trouble) or number, []).append((number, trouble))
    shares: list[list[tuple[int, Trouble]]] = [[] for _ in range(part[1])]
    for family in sorted(families.values(), key=len, reverse=True):
        min(shares, key=len).extend(family)
    return sorted(shares[part[0] - 1], key=lambda planned: planned[0])


class _Sweep:
    """Runs a program with each trouble, and without trouble for comparison."""

    def __init__(self, program: Program, prepared: Sandbox, wanted: SweepWanted) -> None:
        self._program, self._prepared, self._wanted = program, prepared, wanted
        self._operations = {operation.id: operation for operation in contract()}
        self._external: list[Trouble] = []
        self.baseline = self._run_without_trouble("")
        second = self._run_without_trouble(_A_SECOND_TIME)
        #: The first difference between two runs without trouble. If there is one, the records of runs are not
        #: compared.
        self.unsteady = _difference(self.baseline, second)
        self._requests = self._numbered(self.baseline)
        #: The requests of the program on which troubles are tried.
        self.chosen = [request for request in self._requests if self._is_chosen(request.operation)]
        self._baselines: dict[tuple[object, ...], Outcome | None] = {}
        self._lock = Lock()
        self._done: list[tuple[int, Trouble, list[SweptRequest]]] = []

    def _is_chosen(self, operation: str) -> bool:
        return fnmatchcase(operation, self._wanted.only)

    def _numbered(self, outcome: Outcome) -> list[SweptRequest]:
        return numbered(outcome.requests, self._operations, self._wanted.stale)

    def troubles(self, kinds: Sequence[str], chosen: Sequence[SweptRequest]) -> Iterator[Trouble]:
        """Yield the troubles of these kinds that affect the ``chosen`` requests of the program."""
        if PRICES in kinds:
            yield from of_prices(chosen)
        for request in chosen:
            yield from of_request(
                request, self._operations[request.operation], kinds, self._wanted.parameters
            )
        others = self._external if EXTERNAL_CHANGES in kinds else ()
        timed = of_time(self._requests, self._prepared) if TIME in kinds else iter(())
        yield from (trouble for trouble in chain(others, timed) if trouble.request in chosen)
        if ASSUMPTIONS in kinds:
            yield from of_assumptions(chosen)

    def untried(self) -> Iterator[tuple[str, str, int]]:
        """Yield each kind of run that the sweep does not make: words, its option and the number of runs."""

        def runs(kinds: Sequence[str], requests: Sequence[SweptRequest] = self.chosen) -> int:
            return sum(1 for _ in self.troubles(kinds, requests))

        wanted = self._wanted.kinds
        if left := [kind for kind in DEFAULT if kind not in wanted]:
            yield f"the kinds {', '.join(left)}", "--kinds all", runs(left)
        for kind, words in WORDS.items():
            if kind not in wanted:
                yield words, f"--{kind}", runs([kind])
        if others := [request for request in self._requests if request not in self.chosen]:
            yield f"{plural(len(others), 'request')} of other operations", "--only '*'", runs(wanted, others)

    def pairs(self) -> Iterator[tuple[int, Trouble]]:
        """Yield each fault together with a second fault on a request that the first fault causes."""
        done = sorted(self._done, key=lambda run: run[0])
        return pairs(done, self._requests, self._is_chosen, self._wanted.parameters)

    def _run_without_trouble(self, when: str) -> Outcome:
        """Run the program without trouble, and return the outcome.

        Raise ``BadProgram`` if the program fails, sends no request or violates an invariant. ``when`` says in
        the message which run it was.
        """
        with fork_of(self._prepared) as world:
            ended = self._program(world)
            if not ended.passed:
                raise BadProgram(f"without any fault the program fails{when}: {ended}", ended)
            outcome = outcome_of(world, ended)
            if not outcome.requests:
                raise SentNoRequest(NO_REQUEST_SENT, ended)
            if len(outcome.requests) >= MOST or world.journal.list(limit=0).dropped:
                problem = f"the program sends more requests than the journal keeps ({MOST})"
                raise BadProgram(problem, ended)
            violations = [
                *violations_of(outcome, outcome, Expected()),
                *own_violations(self._wanted.invariants, world),
            ]
            if violations:
                problem = (
                    f"without any fault the program violates an invariant{when}: {'; '.join(violations)}"
                )
                raise BadProgram(problem, ended)
            if not when:
                requests = self._numbered(outcome)
                self._external = list(external_changes(requests, self._operations, world))
            return outcome

    def _baseline_for(self, trouble: Trouble) -> Outcome | None:
        """Return the outcome of a run without ``trouble``, at the same time. Return None if this run fails.

        If the trouble is an action of a third party, the run has the same assumptions.
        """
        assume = trouble.assume if trouble.kind == EXTERNAL_CHANGES else {}
        if trouble.start is None and not trouble.passes and not assume:
            return self.baseline
        with self._lock:
            key = trouble.start, trouble.passes, tuple(assume.items())
            if key not in self._baselines:
                calm = Trouble(kind=trouble.kind, start=trouble.start, passes=trouble.passes)
                with fork_of(self._prepared, assume=assume) as world:
                    calm.begin(world)
                    ended = self._program(world)
                    calm.end(world)
                    self._baselines[key] = outcome_of(world, ended) if ended.passed else None
            return self._baselines[key]

    def run(self, planned: tuple[int, Trouble]) -> Run | None:
        """Run the program with a trouble, and compare the outcome with that of a run without trouble.

        Return None if the trouble is impossible in the program's world.
        """
        number, trouble = planned
        wanted, baseline = self._wanted, self._baseline_for(trouble)
        if baseline is None:
            return None
        with fork_of(self._prepared, assume=trouble.assume) as world:
            try:
                trouble.begin(world)
            except Refused as refused:
                if is_impossible(refused):
                    return None
                raise
            ended = self._program(world)
            trouble.end(world)
            outcome = outcome_of(world, ended)
            recovery = trouble.recovery
            if recovery is None:
                self._done.append((number, trouble, self._numbered(outcome)))
            expected = trouble.expected
            if self.unsteady:
                expected = replace(expected, same=False, asked=False)
            violations = violations_of(outcome, baseline, expected)
            if not expected.sums_only:
                violations += own_violations(wanted.invariants, world)
            late = noticed_late(outcome, baseline, expected)
            if not ended.passed:
                result = SweepResult.NOTICED
            elif violations:
                result = SweepResult.NOT_PREVENTABLE if trouble.notice else SweepResult.WRONG
            elif late:
                result, violations = SweepResult.LATE, late
            else:
                result = SweepResult.FINE if trouble.is_applied(world) else SweepResult.NOT_SENT
            run = Run(
                number=number,
                request=str(trouble.request) if trouble.request is not None else None,
                id=trouble.request.record.id if trouble.request is not None else None,
                kind=trouble.kind,
                detail=trouble.detail,
                then=f"{recovery.request}: {recovery}" if recovery is not None else "",
                result=result,
                ended=str(ended),
                violations=tuple(violations),
                output=ended.output[-_OUTPUT:] if result is not SweepResult.FINE else "",
                notice=trouble.notice,
            )
            if not run.has_consequences:
                return run
            struck = [request for request in outcome.requests if request.fault]
            run = replace(run, source=source_of(struck[0]) if struck else "", remedy=trouble.remedy)
            if wanted.folder is None:
                return run
            file = write_recording(world, wanted.folder, run.name)
            page = write_page(outcome, baseline, file, run.title, violations, run.remedy)
            return replace(run, file=file, page=page)


def _difference(first: Outcome, second: Outcome) -> str:
    """Return a request that only one of two runs sent, as text. Return an empty string without one."""
    sent, again = (Counter(asked(request) for request in outcome.requests) for outcome in (first, second))
    for words, only in (("first", sent - again), ("second", again - sent)):
        for request in only:
            return f"only the {words} run sent {request}"
    return ""


def tests_swept(
    program: CommandProgram, wanted: SweepWanted, invariants: Sequence[str], tell: Tell
) -> list[SweepReport]:
    """Let pytest sweep its own tests, and return a report on each. Raise ``BadProgram`` if pytest stops."""
    if not wanted.kinds:
        return []
    options = {
        cli_options.SWEEP: ",".join(wanted.kinds),
        cli_options.SWEEP_DEPTH: wanted.depth,
        cli_options.SWEEP_ONLY: wanted.only,
        cli_options.SWEEP_SLOW: wanted.slow,
        cli_options.SWEEP_STALE: wanted.stale,
        cli_options.SWEEP_STOP: wanted.stop_at_first,
        cli_options.SWEEP_STRICT: wanted.strict,
        cli_options.INVARIANT: ",".join(invariants),
    }
    folder = wanted.folder or Path("recordings")
    return program.tests(
        SweepReport, "swept", options, jobs=wanted.jobs, part=wanted.part, folder=folder, tell=tell
    )
