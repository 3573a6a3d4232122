"""Explore: run a concurrent program in every order of its requests that can matter.

``turnstile`` holds the requests, releases one at a time, and finds the worker (*actor*) of each.
``schedules`` chooses the orders to try. It needs the ``read_write_set`` of each request. ``report`` prints
the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, permutations
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET, QUIET_HERE
from reseller_sandbox.tools.explore.report import (
    FAILED,
    NOT_SERIALIZABLE,
    VIOLATED,
    Exploration,
    ExploredSchedule,
    ReleasedRequest,
    difference,
)
from reseller_sandbox.tools.explore.schedules import (
    Plan,
    ScheduledTurn,
    Schedules,
    in_turns,
    is_serializable,
    order_of,
)
from reseller_sandbox.tools.explore.turnstile import (
    Actors,
    HeldRequest,
    Threads,
    Turnstile,
    installed_turnstile,
)
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, own_violations, violations_of
from reseller_sandbox.tools.outcomes import Outcome, advice_line, outcome_of, write_page, write_recording
from reseller_sandbox.tools.running import (
    BadProgram,
    CommandProgram,
    Ended,
    Program,
    Tell,
    fork_of,
    function_program,
    mapping,
)
from reseller_sandbox.values.clock import stopwatch

__all__ = ["Exploration", "explore"]

#: Two factors for ``quiet``. The first applies while explore waits for actors that are known from an earlier
#: run or from the schedule. The second applies while fewer than ``actors`` workers have sent a request.
_KNOWN, _STRANGE = 10, 4

#: Wait for the next request at least this many times as long as for the slowest request so far.
_SLOWER = 1.5

#: Explore limits how long it holds a request. If this limit falls below this many seconds, explore holds no
#: requests.
_SHORTEST = 0.02

#: Poll interval in seconds.
_GLANCE = 0.005

#: Maximum number of runs in which the workers run one after another. If explore does not run every schedule,
#: it compares the other runs with these.
_TURNS = 6

#: If there are more schedules than runs, one run in this many has a random schedule.
_RANDOM = 4

#: Estimate the cost after this many runs, because the first run lasts longer than the others.
_FORESEEN = 3

#: Maximum number of lines of a program's output in a finding.
_SHOWN = 12

#: How to change a program with a race condition.
_REMEDY = (
    "Let one worker act at a time on what they share: take a lock before the first read, and hold it until "
    "the last write. A lock of a database works across machines."
)


#: A function that gets the estimated number of schedules (None: too many to count), the maximum number of
#: runs, and the duration of a run in seconds.
Foresee = Callable[[int | None, int, float], object]


class ScheduleNotReached(BadProgram):
    """The program does not reach the requested schedule."""


class _RunResult(NamedTuple):
    """The result of a run: its steps, its requests, and its outcome.

    ``violations`` are those of the user's invariants. ``recording`` is the file with the recording, empty if
    none was written. ``holds`` maps the actor and the number of each request to the seconds for which the
    request was held, and ``longest`` is the longest hold. ``is_abandoned`` is whether a client left while its
    request was held. ``lines`` are the connections, threads and tasks that sent requests.
    """

    steps: Sequence[ScheduledTurn]
    requests: tuple[ReleasedRequest, ...]
    outcome: Outcome
    violations: tuple[str, ...]
    recording: str
    holds: Mapping[tuple[str, int], float]
    longest: float
    is_abandoned: bool
    lines: frozenset[object]

    @property
    def ended(self) -> Ended:
        """How the program ended: its exit status, output and duration."""
        return self.outcome.ended

    @property
    def changes(self) -> tuple[str, ...]:
        """The changes that the run made, as sorted lines of a report."""
        return tuple(self.outcome.lines())


def _judged(runs: Sequence[_RunResult]) -> list[ExploredSchedule]:
    """Return the schedules for the report: one for each different run, with its finding if there is one.

    Equivalent runs with the same outcome count once. The baseline of the invariants is the first passing run
    in which the workers ran one after another.
    """
    distinct = {(order_of(run.steps), run.ended.status, run.changes): run for run in reversed(runs)}
    unique = list(reversed(distinct.values()))
    serial = [run for run in unique if is_serializable(run.steps)]
    baseline = next((run.outcome for run in serial if run.ended.passed), None)
    allowed = [run.changes for run in serial]
    return [_schedule(run, baseline, allowed) for run in unique]


def _schedule(
    run: _RunResult, baseline: Outcome | None, allowed: Sequence[tuple[str, ...]]
) -> ExploredSchedule:
    """Return a run as a schedule of the report. ``allowed`` lists the changes of every serializable run."""
    kind, words = "", run.violations
    if baseline is not None:
        words = (*words, *violations_of(run.outcome, baseline, Expected(same=False)))
    if not run.ended.passed:
        kind, words = FAILED, (str(run.ended), *run.ended.output.strip().splitlines()[-_SHOWN:])
    elif words:
        kind = VIOLATED
    elif run.changes not in allowed:
        kind, words = NOT_SERIALIZABLE, difference(run.changes, allowed)
    return ExploredSchedule(
        requests=run.requests,
        order=order_of(run.steps),
        ended=str(run.ended),
        passed=run.ended.passed,
        changes=run.changes,
        kind=kind,
        words=words,
        advice=tuple(map(advice_line, run.outcome.money_advice)),
        tests=run.ended.tests,
    )


class Explorer(Struct, kw_only=True):
    """Runs a ``program`` with ``actors`` concurrent workers, each time with another order of requests.

    Each run is in a fork of ``prepared``. There are at most ``max_runs`` runs, ``jobs`` of them at once. If
    ``schedule`` is set, only this schedule runs. With ``part``, a part of the schedules runs, such as 1 of 2.
    A request is released if no other request arrives for ``quiet`` seconds, or longer if the program is slow.
    ``folder`` gets a recording and a page for each finding. ``locked`` is whether the user expects that the
    workers act one at a time.
    """

    prepared: Sandbox
    program: Program
    actors: int = ACTORS
    max_runs: int = MAX_RUNS
    schedule: str = ""
    quiet: float = QUIET
    jobs: int = 1
    part: tuple[int, int] = (1, 1)
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None
    locked: bool = False
    _slowest_start: float = 0.0
    _slowest_request: float = 0.0
    #: The maximum hold of a request in seconds, and the longest hold in a run that passed.
    _limit: float = float("inf")
    _tolerated: float = 0.0
    #: The schedule of a run that passed.
    _passing: Sequence[str] | None = None

    def explore(
        self, tell: Tell = lambda _, __: None, foresee: Foresee = lambda _, __, ___: None
    ) -> Exploration:
        """Run ``schedule``, or every schedule that can matter. Call ``tell`` with the schedule of each run.

        After the first runs, call ``foresee`` once, with the cost of all runs.
        Raise ``ScheduleNotReached`` if the program does not send its requests in the order of ``schedule``.
        """
        schedules = Schedules(self.part)
        if self.schedule:
            return self._run_schedule(schedules)
        runs: list[_RunResult] = []
        started = sampled = 0
        is_foreseen = False
        with mapping(self.jobs) as map_:
            while started < self.max_runs:
                count = min(self.jobs, self.max_runs - started)
                plans = schedules.search(count)
                # Spread the random runs, so that the orders of payments come first.
                if plans and sampled < started // _RANDOM and self._are_too_many(schedules):
                    plans = [schedules.sample(sampled + number) for number in range(count)]
                    sampled += count
                if not plans:
                    break
                started += len(plans)
                for plan, run in map_(self._fair_run, plans):
                    tell(" ".join(plan.path), None)
                    if schedules.learn(plan, is_final=run is None) and run is not None:
                        runs.append(run)
                if started >= _FORESEEN and not is_foreseen and runs:
                    is_foreseen = True
                    foresee(schedules.estimate(), self.max_runs, runs[-1].ended.seconds / self.jobs)
        is_complete = not schedules.search()
        if not is_complete or self.part[1] > 1:
            runs += self._in_turns(schedules, runs)
        judged = _judged(runs)
        estimate = schedules.estimate()
        return Exploration(
            schedules=self._with_files(judged),
            untried=0 if is_complete else max(1, (estimate or 0) - len(judged)),
            is_counted=estimate is not None,
            unmatched=schedules.unmatched,
            held_too_long=schedules.held_too_long,
            patience=self._limit if self._limit < float("inf") else None,
            part=self.part,
            overlapped=any(len(step.waiting) > 1 for run in runs for step in run.steps),
            longest=max((run.longest for run in runs), default=0.0),
            senders=max((len(run.lines) for run in runs), default=0),
            locked=self.locked,
        )

    def _are_too_many(self, schedules: Schedules) -> bool:
        """Whether there are more schedules than ``max_runs``. If so, random schedules find a race sooner."""
        estimate = schedules.estimate()
        return estimate is None or estimate > self.max_runs

    def _with_files(self, schedules: list[ExploredSchedule]) -> list[ExploredSchedule]:
        """Run the simplest schedule of each finding again, and write its recording and its page.

        Return the schedules with the names of these files. Without a folder, nothing runs.
        """
        part = f"part-{self.part[0]}-" if self.part[1] > 1 else ""
        findings = Exploration(schedules=schedules).findings if self.folder is not None else ()
        for number, finding in enumerate(findings, 1):
            schedule = finding.schedule
            run = self.run(Plan(schedule.text.split()), f"explore-{part}{number}")
            title = f"{finding.kind}: {schedule.text}"
            page = write_page(run.outcome, None, run.recording, title, finding.words, _REMEDY)
            schedules[schedules.index(schedule)] = replace(schedule, recording=run.recording, page=page)
        return schedules

    def _run_schedule(self, schedules: Schedules) -> Exploration:
        plan = Plan(self.schedule.split())
        run = self.run(plan)
        missed = plan.missed or plan.next_up
        if missed:
            words = f"{missed} has no waiting request at its turn in {self.schedule!r}"
            raise ScheduleNotReached(words, run.ended)
        schedules.learn(plan)
        schedule, *_ = _judged([run, *self._in_turns(schedules, [run])])
        return Exploration(schedules=self._with_files([schedule]))

    def _in_turns(self, schedules: Schedules, runs: Sequence[_RunResult]) -> Iterator[_RunResult]:
        """Run the workers one after another, in several orders. The other runs are compared with these."""
        seen = sorted({request.actor for run in runs for request in run.requests})
        for turns in islice(permutations(seen), _TURNS):
            plan, run = self._fair_run(Plan(pick=in_turns(turns)))
            if run is not None and schedules.learn(plan):
                yield run

    def _fair_run(self, plan: Plan) -> tuple[Plan, _RunResult | None]:
        """Run a plan, and make sure that a failure is not the result of holding requests too long.

        If holds can be the cause of a failure, repeat the run with shorter holds, in the end without holds.
        Return None if the plan needs longer holds than the program tolerates.
        """
        while True:
            run = self.run(plan)
            if not run.is_abandoned and run.ended.passed:
                self._tolerated = max(self._tolerated, run.longest)
                self._passing = self._passing or plan.path
                return plan, run
            if not run.is_abandoned and self._tolerates(run):
                return plan, run
            if self._limit == 0 and self._passing:
                return plan, None
            if self._limit == 0:
                # Holds are not the cause, because the program fails without holds, too. Remove the limit.
                self._limit = self._tolerated = float("inf")
            else:
                shorter = min(self._limit, run.longest) / 2
                self._limit = shorter if shorter >= _SHORTEST else 0
            plan = plan.again()

    def _tolerates(self, failed: _RunResult) -> bool:
        """Whether the program tolerates the holds of a failed run. Then the order of requests is the cause.

        The program does if a passing run had a hold as long. Otherwise, run a passing schedule with the holds
        of the failed run.
        """
        if failed.longest > self._tolerated and self._passing:
            plan = Plan(self._passing, holds=failed.holds)
            run = self.run(plan)
            if run.ended.passed and not run.is_abandoned and not plan.missed:
                self._tolerated = failed.longest
        return failed.longest <= self._tolerated

    def run(self, plan: Plan, name: str = "") -> _RunResult:
        """Run the program with one schedule. With a ``name``, write a recording of the run.

        The program runs on this thread. Another thread releases its requests.
        """
        with fork_of(self.prepared, frozen=True) as sandbox:
            threads = Threads()
            with (
                installed_turnstile(sandbox.app, sandbox.world) as turnstile,
                ThreadPoolExecutor(1) as beside,
            ):
                driving = beside.submit(self._release_requests, plan, turnstile, threads)
                try:
                    ended = self.program(sandbox)
                finally:
                    turnstile.end()
                requests = driving.result()
            violations = own_violations(self.invariants, sandbox)
            recording = write_recording(sandbox, self.folder, name) if self.folder and name else ""
            outcome = outcome_of(sandbox, ended)
        done = list(zip(plan.steps, requests, strict=True))
        return _RunResult(
            steps=plan.steps,
            requests=tuple(
                ReleasedRequest(
                    step.actor, request.asked, request.status, request.refused, is_named=bool(request.named)
                )
                for step, request in done
            ),
            outcome=outcome,
            violations=tuple(violations),
            recording=recording,
            holds={step.request[:2]: request.held_for for step, request in done},
            longest=max((request.held_for for request in (*requests, *turnstile.dropped)), default=0.0),
            is_abandoned=any(request.is_abandoned for request in requests),
            lines=frozenset(request.line for request in requests),
        )

    def _release_requests(self, plan: Plan, turnstile: Turnstile, threads: Threads) -> Sequence[HeldRequest]:
        actors = Actors()
        done: list[HeldRequest] = []
        try:
            while waiting := self._settled(plan, turnstile, actors, threads):
                texts = {actor: request.text for actor, request in waiting.items()}
                oldest = min(waiting, key=lambda actor: waiting[actor].arrived_at)
                is_overdue = stopwatch() - waiting[oldest].arrived_at > self._limit_of(plan)
                actor = plan.choose(texts, oldest if is_overdue else "")
                request, number = waiting[actor], plan.path.count(actor)
                actors.settle(waiting, actor)
                turnstile.carry_out(request, plan.holds.get((actor, number), 0.0))
                plan.did(actor, (actor, number, request.text), request.footprint)
                done.append(request)
        except BaseException:
            turnstile.open()  # otherwise the program would wait indefinitely
            raise
        return done

    def _limit_of(self, plan: Plan) -> float:
        """Return the maximum hold of a request in seconds. A plan with its own holds has no maximum."""
        return float("inf") if plan.holds else self._limit

    def _settled(
        self, plan: Plan, turnstile: Turnstile, actors: Actors, threads: Threads
    ) -> dict[str, HeldRequest]:
        """Wait until a request can be released, and return all waiting requests by actor.

        A request can be released if all workers wait, if no further request arrives, or if its hold reaches
        the limit. The result is empty if the program has ended.
        """
        since = stopwatch()
        expected = plan.expected
        while not turnstile.over:
            requests = turnstile.waiting
            waiting = actors.name(requests)
            enough = len(waiting) >= self.actors
            enough |= threads.all_wait(requests, self.actors)
            there = waiting.keys() >= expected if expected else enough
            there &= plan.next_up is None or plan.next_up in waiting
            known = expected is not None or plan.next_up is not None
            times = _KNOWN if known and not there else 1 if len(actors) >= self.actors else _STRANGE
            is_starting = len(actors) < self.actors
            slowest = self._slowest_start if is_starting else self._slowest_request
            patience = max(self.quiet * times, slowest * _SLOWER)
            quiet = stopwatch() - max(since, turnstile.moved)
            oldest = stopwatch() - min((request.arrived_at for request in requests), default=stopwatch())
            if waiting and (there or quiet > patience or oldest > self._limit_of(plan)):
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
    locked: bool = False,
) -> Exploration:
    """Run a threaded ``program`` in every order of its requests that can matter.

    ``program`` gets a sandbox, which its threads share. Each run has a fork of ``sandbox`` (or of a new one)
    with a frozen clock. ``program`` must wait for its threads, because a run ends when ``program`` returns.
    If ``program`` raises an error, the run fails.

    Args:
        actors: Number of concurrent workers.
        max_runs: Maximum number of runs.
        quiet: Seconds without a new request after which a waiting request is released.
        schedule: Schedule to run, from an earlier report. No other schedule runs.
        jobs: Number of concurrent runs.
        part: Part of the schedules that this machine tries, such as (1, 2) for the first half of them.
        invariants: Functions that check the world after a run. They return a description of a violation, or
            None.
        folder: Folder for the recording and the page of each finding.
        locked: Whether you expect that a lock lets one worker act at a time. Otherwise, such a program counts
            as not explored.
    """
    return Explorer(
        prepared=sandbox if sandbox is not None else Sandbox(),
        program=function_program(program),
        actors=actors,
        max_runs=max_runs,
        schedule=schedule,
        quiet=quiet,
        jobs=jobs,
        part=part,
        invariants=invariants,
        folder=folder,
        locked=locked,
    ).explore()


def tests_explored(
    program: CommandProgram, explorer: Explorer, invariants: Sequence[str], folder: Path, tell: Tell
) -> list[Exploration]:
    """Let pytest explore its own tests, and return a report on each. Raise ``BadProgram`` if pytest stops."""
    options = {
        cli_options.EXPLORE: explorer.actors,
        cli_options.EXPLORE_RUNS: explorer.max_runs,
        cli_options.EXPLORE_QUIET: explorer.quiet,
        cli_options.EXPLORE_SCHEDULE: explorer.schedule,
        cli_options.EXPLORE_LOCKED: explorer.locked,
        cli_options.INVARIANT: ",".join(invariants),
    }
    jobs = 1 if explorer.schedule else explorer.jobs
    return program.tests(
        Exploration, "explored", options, jobs=jobs, part=explorer.part, folder=folder, tell=tell
    )
