"""Explore: run a concurrent program in every request order that could matter.

``turnstile`` holds requests, lets them through one at a time, and finds the actor of each. ``schedules``
chooses the orders to try by the ``read_write_set`` of each request. ``report`` is the report.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, permutations
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, convert
from msgspec.structs import replace

from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET, QUIET_HERE
from reseller_sandbox.tools.environment_setup import Ground
from reseller_sandbox.tools.explore.report import (
    Exploration,
    ExplorationReport,
    ExploredSchedule,
    LetThrough,
    ScheduleFinding,
    findings_in,
    merged,
)
from reseller_sandbox.tools.explore.schedules import (
    Plan,
    ScheduledTurn,
    Schedules,
    equivalence_class,
    in_turns,
    is_serializable,
)
from reseller_sandbox.tools.explore.turnstile import Actors, HeldRequest, Threads, Turnstile, turned
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, broken, own_broken
from reseller_sandbox.tools.outcomes import Outcome, in_a_line, outcome_of, write_page, write_recording
from reseller_sandbox.tools.running import (
    BadProgram,
    CommandProgram,
    Ended,
    Program,
    Tell,
    function_program,
    mapping,
)
from reseller_sandbox.values.clock import stopwatch

__all__ = ["Exploration", "explore"]

#: Factors on ``quiet``: to wait for an actor that an earlier run or a schedule expects, and to wait for more
#: workers while fewer than ``actors`` have appeared.
_KNOWN, _STRANGE = 10, 4

#: Factor on the longest time that the program has taken to start or to send a request, as the limit for the
#: next time.
_SLOWER = 1.5

#: A client or a lock that gives up does so after more than so many seconds.
_HARMLESS = 0.2

#: The most runs of a schedule, each with shorter holds, that find out whether holding causes its failure.
_SHORTER = 6

#: Poll interval in seconds.
_GLANCE = 0.005

#: The most orders of whole workers that are run for comparison if not every order is tried.
_TURNS = 6

#: The share of the runs that are random if there are more schedules than runs.
_RANDOM = 4


class ScheduleNotReached(BadProgram):
    """The program does not reach the requested schedule."""


#: What to change in a program with a race.
_REMEDY = (
    "Let one worker act at a time on what they share: take a lock before the first read, and hold it until "
    "the last write. A lock of a database works across machines."
)


class _RunResult(NamedTuple):
    """A run and its result.

    ``longest`` are the seconds for which it held a request at most. ``is_abandoned`` is whether a client left
    meanwhile.
    """

    schedule: ExploredSchedule
    steps: Sequence[ScheduledTurn]
    outcome: Outcome
    recording: str
    longest: float
    is_abandoned: bool


def _judged(runs: Sequence[_RunResult]) -> list[ExploredSchedule]:
    """Return one run of each outcome and class of equivalent runs, with the findings that need all runs.

    The baseline outcome is that of the first run that passed and in which the workers took turns.
    """
    distinct = {
        (
            equivalence_class(run.steps),
            run.schedule.ended.status,
            frozenset(run.schedule.changes.items()),
        ): run
        for run in reversed(runs)
    }
    pairs = [(run, replace(run.schedule, is_serial=is_serializable(run.steps))) for run in distinct.values()]
    pairs.reverse()
    baseline = next(
        (run.outcome for run, schedule in pairs if schedule.is_serial and schedule.ended.passed), None
    )
    if baseline is None:
        return [schedule for _, schedule in pairs]
    expected = Expected(same=False)
    return [
        replace(schedule, violations=(*schedule.violations, *broken(run.outcome, baseline, expected)))
        for run, schedule in pairs
    ]


class Explorer(Struct, kw_only=True):
    """Runs a ``program`` with ``actors`` concurrent workers, in one order a run.

    The worlds are forks in ``ground``. It makes at most ``max_runs`` runs, ``jobs`` at once, or tries only
    ``schedule``. With ``part``, it tries a part of the schedules, such as 1 of 2. All workers count as
    waiting when no request arrives for ``quiet`` seconds, or longer if the program is slow. ``folder`` gets a
    recording for each finding.
    """

    ground: Ground
    program: Program
    actors: int = ACTORS
    max_runs: int = MAX_RUNS
    schedule: str = ""
    quiet: float = QUIET
    jobs: int = 1
    part: tuple[int, int] = (1, 1)
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None
    _slowest_start: float = 0.0
    _slowest_request: float = 0.0
    _limit: float = float("inf")
    _tolerated: float = _HARMLESS

    def explore(self, tell: Tell = lambda _, __: None) -> Exploration:
        """Try ``schedule`` alone, or every order that could matter.

        ``tell`` gets the schedule of each run. Raise ``ScheduleNotReached`` if the program does not reach
        ``schedule``.
        """
        schedules = Schedules(self.part)
        if self.schedule:
            return self._run_schedule(schedules)
        runs: list[_RunResult] = []
        started = sampled = 0
        with mapping(self.jobs) as map_:
            while started < self.max_runs:
                count = min(self.jobs, self.max_runs - started)
                plans = schedules.search(count)
                if plans and sampled < self.max_runs // _RANDOM and self._are_too_many(schedules, started):
                    plans = [schedules.sample(sampled + number) for number in range(count)]
                    sampled += count
                if not plans:
                    break
                started += len(plans)
                for plan, run in map_(self._fair_run, plans):
                    tell(run.schedule.text if run is not None else "", None)
                    if schedules.learn(plan, is_final=run is None) and run is not None:
                        runs.append(run._replace(steps=plan.steps))
        untried = 0
        is_complete = not schedules.search()
        if not is_complete or self.part[1] > 1:
            runs += self._in_turns(schedules, runs)
        if not is_complete:
            untried = max(1, (schedules.estimate() or 0) - len(_judged(runs)))
        judged = _judged(runs)
        return Exploration(
            judged,
            self._recorded(findings_in(judged)),
            untried=untried,
            is_counted=schedules.estimate() is not None,
            unmatched=schedules.unmatched,
            held_too_long=schedules.held_too_long,
            patience=self._limit if self._limit < float("inf") else None,
            overlapped=any(len(step.waiting) > 1 for run in runs for step in run.steps),
            longest=max((run.longest for run in runs), default=0.0),
        )

    def _are_too_many(self, schedules: Schedules, started: int) -> bool:
        """Whether there are more schedules than runs, so that random ones find a race sooner."""
        estimate = schedules.estimate()
        return started > 0 and (estimate is None or estimate > self.max_runs)

    def _recorded(self, findings: Sequence[ScheduleFinding]) -> list[ScheduleFinding]:
        """Return the findings with their recordings and pages.

        The program runs again for each finding. Without a folder, the findings stay unchanged.
        """
        if self.folder is None:
            return list(findings)
        part = f"part-{self.part[0]}-" if self.part[1] > 1 else ""
        recorded = []
        for number, finding in enumerate(findings, 1):
            run = self.run(Plan(finding.schedule.text.split()), f"explore-{part}{number}")
            title = f"{finding.kind}: {finding.schedule.text}"
            page = write_page(run.outcome, None, run.recording, title, finding.words, _REMEDY)
            recorded.append(replace(finding, recording=run.recording, page=page))
        return recorded

    def _run_schedule(self, schedules: Schedules) -> Exploration:
        plan = Plan(self.schedule.split())
        run = self.run(plan)
        missed = plan.missed or plan.next_up
        if missed:
            words = f"{missed} has no waiting request at its turn in {self.schedule!r}"
            raise ScheduleNotReached(words, run.schedule.ended)
        schedules.learn(plan)
        runs = [run._replace(steps=plan.steps)]
        schedule, *others = _judged([*runs, *self._in_turns(schedules, runs)])
        findings = [finding for finding in findings_in([schedule, *others]) if finding.schedule is schedule]
        return Exploration([schedule], self._recorded(findings))

    def _in_turns(self, schedules: Schedules, runs: Sequence[_RunResult]) -> Iterator[_RunResult]:
        """Yield runs in which whole workers take turns, for comparison with the others."""
        seen = sorted({request.actor for run in runs for request in run.schedule.requests})
        for turns in islice(permutations(seen), _TURNS):
            plan, run = self._fair_run(Plan(pick=in_turns(turns)))
            if run is not None and schedules.learn(plan):
                yield run._replace(steps=plan.steps)

    def _fair_run(self, plan: Plan) -> tuple[Plan, _RunResult | None]:
        """Return a run that does not fail because a request was held too long.

        If a run fails after a long hold, try again with shorter ones. Return None if the plan cannot be
        reached in this way.
        """
        for _ in range(_SHORTER):
            run = self.run(plan)
            is_patient = run.longest <= self._tolerated
            if not run.is_abandoned and (run.schedule.ended.passed or is_patient):
                if run.schedule.ended.passed:
                    self._tolerated = max(self._tolerated, run.longest)
                return plan, run
            self._limit = min(self._limit, max(run.longest / 2, _HARMLESS / 2))
            plan = plan.again()
        return plan, None

    def run(self, plan: Plan, name: str = "") -> _RunResult:
        """Run the program with one schedule.

        With a ``name``, write the recording of the world at the end of the run.
        """
        with self.ground.world(frozen=True) as sandbox:
            with turned(sandbox.app, sandbox.world) as turnstile:
                ended, requests = self._both(sandbox, turnstile, plan)
            words = own_broken(self.invariants, sandbox)
            recording = (
                write_recording(sandbox, self.folder, name) if name and self.folder is not None else ""
            )
            outcome = outcome_of(sandbox, ended)
            schedule = ExploredSchedule(
                tuple(
                    LetThrough(step.actor, request.asked, request.status, request.refused)
                    for step, request in zip(plan.steps, requests, strict=True)
                ),
                ended,
                outcome.lines(),
                tuple(words),
                advice=tuple(map(in_a_line, outcome.of_money)),
            )
            all_requests = (*requests, *turnstile.dropped)
            longest = max((request.held_for for request in all_requests), default=0.0)
            is_abandoned = any(request.is_abandoned for request in requests)
            return _RunResult(schedule, plan.steps, outcome, recording, longest, is_abandoned)

    def _both(
        self, sandbox: Sandbox, turnstile: Turnstile, plan: Plan
    ) -> tuple[Ended, Sequence[HeldRequest]]:
        """Run the program, and let its requests through on another thread."""
        threads = Threads(threading.enumerate())
        with ThreadPoolExecutor(1) as beside:
            driving = beside.submit(self._let_through, plan, turnstile, threads)
            try:
                ended = self.program(sandbox)
            finally:
                turnstile.end()
            return ended, driving.result()

    def _let_through(self, plan: Plan, turnstile: Turnstile, threads: Threads) -> Sequence[HeldRequest]:
        actors = Actors()
        done: list[HeldRequest] = []
        try:
            while waiting := self._settled(plan, turnstile, actors, threads):
                texts = {actor: request.text for actor, request in waiting.items()}
                oldest = min(waiting, key=lambda actor: waiting[actor].arrived_at)
                is_overdue = stopwatch() - waiting[oldest].arrived_at > self._limit
                actor = plan.choose(texts, oldest if is_overdue else "")
                request = waiting[actor]
                actors.settle(waiting, actor)
                turnstile.carry_out(request)
                number = plan.path.count(actor)
                plan.did(actor, (actor, number, request.text), request.footprint)
                done.append(request)
        except BaseException:
            turnstile.open()  # because the program would wait indefinitely
            raise
        return done

    def _settled(
        self, plan: Plan, turnstile: Turnstile, actors: Actors, threads: Threads
    ) -> dict[str, HeldRequest]:
        """Return the waiting requests by actor once all workers wait, or one waits too long.

        The result is empty when the program has ended.
        """
        since = stopwatch()
        expected = plan.expected
        while not turnstile.over:
            requests = turnstile.waiting
            waiting = actors.name(requests)
            enough = len(waiting) >= self.actors
            enough |= threads.all_wait(threading.enumerate(), requests, self.actors)
            there = waiting.keys() >= expected if expected else enough
            there &= plan.next_up is None or plan.next_up in waiting
            known = expected is not None or plan.next_up is not None
            times = _KNOWN if known and not there else 1 if len(actors) >= self.actors else _STRANGE
            is_starting = len(actors) < self.actors
            slowest = self._slowest_start if is_starting else self._slowest_request
            patience = max(self.quiet * times, slowest * _SLOWER)
            quiet = stopwatch() - max(since, turnstile.moved)
            oldest = stopwatch() - min((request.arrived_at for request in requests), default=stopwatch())
            if waiting and (there or quiet > patience or oldest > self._limit):
                took = max(request.arrived_at - since for request in requests)
                if is_starting:
                    self._slowest_start = max(self._slowest_start, took)
                else:
                    self._slowest_request = max(self._slowest_request, took)
                return waiting
            turnstile.wait(_GLANCE)
        return {}


def explore(
    program: Callable[[Sandbox], object],
    sandbox: Sandbox | None = None,
    *,
    actors: int = ACTORS,
    max_runs: int = MAX_RUNS,
    quiet: float = QUIET_HERE,
    schedule: str = "",
    jobs: int = 1,
    part: tuple[int, int] = (1, 1),
    invariants: Sequence[OwnInvariant] = (),
    folder: Path | None = None,
) -> Exploration:
    """Run a threaded ``program`` in every request order that could matter.

    ``program`` gets a sandbox, which its threads share. Each run has a fork of the current ``sandbox`` (or of
    a new one), and its clock stands still. The run ends when ``program`` returns, so ``program`` has to wait
    for its threads. If ``program`` raises an error, the run fails.

    Args:
        actors: The number of concurrent workers.
        max_runs: The largest number of runs.
        quiet: Seconds without a new request after which the waiting requests count as all.
        schedule: The only schedule to try, as an earlier exploration reported it.
        jobs: The number of concurrent runs.
        part: The part of the schedules to try, such as 1 of 2, if several machines share them.
        invariants: Functions that check the world after a run. They return a description of the violation, if
            any.
        folder: Gets a recording for each finding.
    """
    return Explorer(
        ground=Ground(sandbox if sandbox is not None else Sandbox()),
        program=function_program(program),
        actors=actors,
        max_runs=max_runs,
        schedule=schedule,
        quiet=quiet,
        jobs=jobs,
        part=part,
        invariants=invariants,
        folder=folder,
    ).explore()


def tests_explored(
    program: CommandProgram, explorer: Explorer, invariants: Sequence[str], folder: Path, tell: Tell
) -> list[ExplorationReport]:
    """Have pytest explore its own tests, each in its process. Return their reports.

    ``explorer.jobs`` processes share the schedules of a test. Raise ``BadProgram``.
    """
    options = {
        cli_options.EXPLORE: explorer.actors,
        cli_options.EXPLORE_RUNS: explorer.max_runs,
        cli_options.EXPLORE_QUIET: explorer.quiet,
        cli_options.EXPLORE_SCHEDULE: explorer.schedule,
        cli_options.INVARIANT: ",".join(invariants),
    }
    jobs = 1 if explorer.schedule else explorer.jobs

    def step(news: Mapping[str, Any]) -> None:
        tell(news["ran"], None)

    def explored(job: int) -> list[Any]:
        part = cli_options.part_of_job(explorer.part, job, jobs)
        return program.tests("explored", {**options, cli_options.PART: part}, folder, step)

    by_test: dict[str, list[ExplorationReport]] = {}
    with mapping(jobs) as map_:
        for reports in map_(explored, range(1, jobs + 1)):
            for report in convert(reports, list[ExplorationReport]):
                by_test.setdefault(report.test, []).append(report)
    return [merged(each) for each in by_test.values()]
