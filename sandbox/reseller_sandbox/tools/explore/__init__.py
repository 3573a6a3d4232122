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
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools import cli_options
from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET, QUIET_HERE
from reseller_sandbox.tools.environment_setup import Ground
from reseller_sandbox.tools.explore.read_write_set import Footprint
from reseller_sandbox.tools.explore.report import (
    Exploration,
    ExplorationReport,
    ExploredSchedule,
    LetThrough,
    ScheduleFinding,
    findings_in,
)
from reseller_sandbox.tools.explore.schedules import (
    RequestKey,
    ScheduledTurn,
    Schedules,
    is_serializable,
    preferred,
    turned_after,
)
from reseller_sandbox.tools.explore.turnstile import Actors, HeldRequest, Threads, Turnstile, turned
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, broken, own_broken
from reseller_sandbox.tools.outcomes import Outcome, in_a_line, outcome_of, write_recording
from reseller_sandbox.tools.running import BadProgram, CommandProgram, Ended, Program, Tell, function_program
from reseller_sandbox.values.clock import stopwatch

__all__ = ["Exploration", "explore"]

#: Factors on the patience: to wait for an actor that an earlier run or a schedule expects, and to wait for
#: more workers while fewer than ``actors`` have appeared.
_KNOWN, _STRANGE = 10, 4

#: Factor on the longest time that the program has taken for a request, as the limit for the next one.
_SLOWER = 1.5

#: Poll interval in seconds.
_GLANCE = 0.005

#: The most orders of whole workers that are run for comparison if not every order is tried.
_TURNS = 6


class FixedSchedule(Struct):
    """A fixed order: first of requests by ``schedule``, then of workers by ``turns``.

    ``missed`` is the first scheduled actor that had no request waiting, empty if there is none.
    """

    schedule: Sequence[str] = ()
    turns: Sequence[str] = ()
    steps: list[ScheduledTurn] = field(default_factory=list)
    missed: str = ""
    expected: None = None
    _waiting: frozenset[str] = frozenset()

    @property
    def next_up(self) -> str | None:
        """Return the next actor of the schedule, None after its end."""
        return self.schedule[len(self.steps)] if len(self.steps) < len(self.schedule) else None

    def choose(self, waiting: Mapping[str, str]) -> str:
        """Return the actor whose request goes next."""
        self._waiting = frozenset(waiting)
        if self.next_up is not None:
            if self.next_up in waiting:
                return self.next_up
            self.missed = self.missed or self.next_up
        first = [actor for actor in self.turns if actor in waiting]
        return first[0] if first else preferred(waiting, self.steps[-1].actor if self.steps else None)

    def did(self, actor: str, _: RequestKey, footprint: Footprint) -> None:
        """Record that the request of ``actor`` was carried out."""
        self.steps.append(turned_after(self.steps, actor, self._waiting, footprint))


#: Chooses the order in which requests are let through.
_Chooser: TypeAlias = Schedules | FixedSchedule


class ScheduleNotReached(BadProgram):
    """The program does not reach the requested schedule."""


class _Made(NamedTuple):
    """A run and its result."""

    schedule: ExploredSchedule
    steps: Sequence[ScheduledTurn]
    outcome: Outcome
    recording: str


def _judged(made: Sequence[_Made]) -> list[ExploredSchedule]:
    """Return the runs with the findings that need all runs.

    The baseline outcome is that of the first run that passed and in which the workers took turns.
    """
    schedules = [replace(run.schedule, is_serial=is_serializable(run.steps)) for run in made]
    pairs = list(zip(made, schedules, strict=True))
    baseline = next(
        (run.outcome for run, schedule in pairs if schedule.is_serial and schedule.ended.passed), None
    )
    if baseline is None:
        return schedules
    expected = Expected(same=False)
    return [
        replace(schedule, violations=(*schedule.violations, *broken(run.outcome, baseline, expected)))
        for run, schedule in pairs
    ]


class Explorer(Struct, kw_only=True):
    """Runs a ``program`` with ``actors`` concurrent workers, in one order a run.

    The worlds are forks in ``ground``. It makes at most ``max_runs`` runs, or tries only ``schedule``. All
    workers count as waiting when no request arrives for ``quiet`` seconds, or longer if the program is slow.
    ``folder`` gets a recording for each finding.
    """

    ground: Ground
    program: Program
    actors: int = ACTORS
    max_runs: int = MAX_RUNS
    schedule: str = ""
    quiet: float = QUIET
    invariants: Sequence[OwnInvariant] = ()
    folder: Path | None = None
    _longest: float = 0.0

    def explore(self, tell: Tell = lambda _, __: None) -> Exploration:
        """Try ``schedule`` alone, or every order that could matter.

        ``tell`` gets the schedule of each run. Raise ``ScheduleNotReached`` if the program does not reach
        ``schedule``.
        """
        if self.schedule:
            return self._run_schedule()
        schedules, made = Schedules(), list[_Made]()
        more = schedules.begin()
        for _ in range(self.max_runs):
            if not more:
                break
            run = self.run(schedules)
            tell(run.schedule.text, None)
            if schedules.end():
                made.append(run)
            more = schedules.begin()
        untried = max(schedules.untried, 1) if more else 0
        if untried:
            made += self._in_turns(made)
        judged = _judged(made)
        return Exploration(judged, self._recorded(findings_in(judged)), untried, schedules.unmatched)

    def _recorded(self, findings: Sequence[ScheduleFinding]) -> list[ScheduleFinding]:
        """Return the findings with their recordings.

        The program runs again for each finding. Without a folder, the findings stay unchanged.
        """
        if self.folder is None:
            return list(findings)
        return [
            replace(
                finding,
                recording=self.run(
                    FixedSchedule(finding.schedule.text.split()), f"explore-{number}"
                ).recording,
            )
            for number, finding in enumerate(findings, 1)
        ]

    def _run_schedule(self) -> Exploration:
        chooser = FixedSchedule(self.schedule.split())
        made = self.run(chooser)
        missed = chooser.missed or chooser.next_up
        if missed:
            words = f"{missed} has no waiting request at its turn in {self.schedule!r}"
            raise ScheduleNotReached(words, made.schedule.ended)
        schedule, *others = _judged([made, *self._in_turns([made])])
        findings = [finding for finding in findings_in([schedule, *others]) if finding.schedule is schedule]
        return Exploration([schedule], self._recorded(findings))

    def _in_turns(self, made: Sequence[_Made]) -> Iterator[_Made]:
        """Yield runs in which whole workers take turns, for comparison with the others."""
        seen = sorted({request.actor for run in made for request in run.schedule.requests})
        for turns in islice(permutations(seen), _TURNS):
            yield self.run(FixedSchedule(turns=turns))

    def run(self, chooser: _Chooser, name: str = "") -> _Made:
        """Run the program with one schedule.

        With a ``name``, write the recording of the world at the end of the run.
        """
        with self.ground.world(frozen=True) as sandbox:
            with turned(sandbox.app, sandbox.world) as turnstile:
                ended, requests = self._both(sandbox, turnstile, chooser)
            words = own_broken(self.invariants, sandbox)
            recording = (
                write_recording(sandbox, self.folder, name) if name and self.folder is not None else ""
            )
            outcome = outcome_of(sandbox, ended)
            schedule = ExploredSchedule(
                requests, ended, outcome.lines(), tuple(words), advice=tuple(map(in_a_line, outcome.of_money))
            )
            return _Made(schedule, tuple(chooser.steps), outcome, recording)

    def _both(
        self, sandbox: Sandbox, turnstile: Turnstile, chooser: _Chooser
    ) -> tuple[Ended, tuple[LetThrough, ...]]:
        """Run the program, and let its requests through on another thread."""
        threads = Threads(threading.enumerate())
        with ThreadPoolExecutor(1) as beside:
            driving = beside.submit(self._let_through, chooser, turnstile, threads)
            try:
                ended = self.program(sandbox)
            finally:
                turnstile.end()
            return ended, driving.result()

    def _let_through(
        self, chooser: _Chooser, turnstile: Turnstile, threads: Threads
    ) -> tuple[LetThrough, ...]:
        actors = Actors()
        done: list[LetThrough] = []
        try:
            while waiting := self._settled(chooser, turnstile, actors, threads):
                actor = chooser.choose({actor: request.text for actor, request in waiting.items()})
                request = waiting[actor]
                actors.settle(waiting, actor)
                turnstile.carry_out(request)
                number = sum(earlier.actor == actor for earlier in done)
                chooser.did(actor, (actor, number, request.text), request.footprint)
                done.append(LetThrough(actor, request.asked, request.status, request.refused))
        except BaseException:
            turnstile.open()  # because the program would wait indefinitely
            raise
        return tuple(done)

    def _settled(
        self, chooser: _Chooser, turnstile: Turnstile, actors: Actors, threads: Threads
    ) -> dict[str, HeldRequest]:
        """Return the waiting requests by actor once all workers wait.

        The result is empty when the program has ended.
        """
        since = stopwatch()
        expected = chooser.expected
        while not turnstile.over:
            held = turnstile.waiting
            waiting = actors.name(held)
            enough = len(waiting) >= self.actors
            enough |= threads.all_wait(threading.enumerate(), held, self.actors)
            there = waiting.keys() >= expected if expected else enough
            there &= chooser.next_up is None or chooser.next_up in waiting
            known = expected is not None or chooser.next_up is not None
            times = _KNOWN if known and not there else 1 if len(actors) >= self.actors else _STRANGE
            if waiting and (there or stopwatch() - max(since, turnstile.moved) > self._patience() * times):
                self._longest = max(self._longest, *(request.came - since for request in held))
                return waiting
            turnstile.wait(_GLANCE)
        return {}

    def _patience(self) -> float:
        """Return the seconds without a new request after which the waiting ones are all."""
        return max(self.quiet, self._longest * _SLOWER)


def explore(
    program: Callable[[Sandbox], object],
    sandbox: Sandbox | None = None,
    *,
    actors: int = ACTORS,
    max_runs: int = MAX_RUNS,
    quiet: float = QUIET_HERE,
    schedule: str = "",
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
        invariants=invariants,
        folder=folder,
    ).explore()


def tests_explored(
    program: CommandProgram, explorer: Explorer, invariants: Sequence[str], folder: Path, tell: Tell
) -> list[ExplorationReport]:
    """Have pytest explore its own tests, each in its process. Return their reports.

    Raise ``BadProgram``.
    """
    said = {
        cli_options.EXPLORE: explorer.actors,
        cli_options.EXPLORE_RUNS: explorer.max_runs,
        cli_options.EXPLORE_QUIET: explorer.quiet,
        cli_options.EXPLORE_SCHEDULE: explorer.schedule,
        cli_options.INVARIANT: ",".join(invariants),
    }

    def step(news: Mapping[str, Any]) -> None:
        tell(news["ran"], None)

    reports = program.tests("explored", said, folder, step)
    return list({report["test"]: ExplorationReport(**report) for report in reports}.values())
