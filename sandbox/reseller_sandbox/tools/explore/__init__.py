"""Explore: a program with several workers, in every order of their requests that could matter.

``turnstile`` holds requests and lets them through one at a time, and tells whose they are; ``orders`` says
which orders to try, by the ``footprint`` of each request; ``report`` is the report.
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

from reseller_sandbox.registry.clock import stopwatch
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
    OrderFinding,
    found,
)
from reseller_sandbox.tools.explore.schedules import (
    RequestKey,
    ScheduledTurn,
    Schedules,
    goes_in_turn,
    preferred,
    turned_after,
)
from reseller_sandbox.tools.explore.turnstile import Actors, HeldRequest, Threads, Turnstile, turned
from reseller_sandbox.tools.invariants import Expected, OwnInvariant, broken, own_broken
from reseller_sandbox.tools.outcomes import Outcome, changed, in_a_line, outcome_of, write_recording
from reseller_sandbox.tools.running import BadProgram, CommandProgram, Ended, Program, Tell, function_program

__all__ = ["Exploration", "explore"]

#: How many times as long it waits for somebody who came there in an earlier run, or is named by a schedule;
#: and for more workers while not all have been there.
_KNOWN, _STRANGE = 10, 4

#: How many times as long as the program has ever taken for a request it may take for the next one.
_SLOWER = 1.5

#: For how many seconds nobody looks whether something has happened.
_GLANCE = 0.005

#: How many orders of whole workers are tried at most where not every order was.
_TURNS = 6


class FixedSchedule(Struct):
    """An order that is given: of single requests by ``schedule``, after it of whole workers by ``turns``.

    ``missed`` is whom it has asked for in vain, if anybody.
    """

    schedule: Sequence[str] = ()
    turns: Sequence[str] = ()
    steps: list[ScheduledTurn] = field(default_factory=list)
    missed: str = ""
    expected: None = None
    _waiting: frozenset[str] = frozenset()

    @property
    def next_up(self) -> str | None:
        """Who is next by the schedule."""
        return self.schedule[len(self.steps)] if len(self.steps) < len(self.schedule) else None

    def choose(self, waiting: Mapping[str, str]) -> str:
        """Return who is next."""
        self._waiting = frozenset(waiting)
        if self.next_up is not None:
            if self.next_up in waiting:
                return self.next_up
            self.missed = self.missed or self.next_up
        first = [actor for actor in self.turns if actor in waiting]
        return first[0] if first else preferred(waiting, self.steps[-1].actor if self.steps else None)

    def did(self, actor: str, _: RequestKey, footprint: Footprint) -> None:
        """Note that a request has been carried out."""
        self.steps.append(turned_after(self.steps, actor, self._waiting, footprint))


#: What says in which order requests are let through.
_Chooser: TypeAlias = Schedules | FixedSchedule


class ScheduleNotReached(BadProgram):
    """The program has not come to the order that was asked for."""


class _Made(NamedTuple):
    """A run that was made."""

    order: ExploredSchedule
    steps: Sequence[ScheduledTurn]
    outcome: Outcome
    recording: str


def _judged(made: Sequence[_Made]) -> list[ExploredSchedule]:
    """Return the orders with the findings that need all of them.

    The usual outcome is that of the first order which passed and in which the workers took turns.
    """
    orders = [replace(one.order, in_turn=goes_in_turn(one.steps)) for one in made]
    pairs = list(zip(made, orders, strict=True))
    default = next((one.outcome for one, order in pairs if order.in_turn and order.ended.passed), None)
    if default is None:
        return orders
    expected = Expected(same=False)
    return [
        replace(order, broken=(*order.broken, *broken(one.outcome, default, expected)))
        for one, order in pairs
    ]


class Explorer(Struct, kw_only=True):
    """Runs a ``program`` with ``actors`` workers at a time in worlds of ``ground``, in one order a run.

    It makes at most ``max_runs`` runs, or tries one ``schedule`` alone. All that wait are there when nothing
    has come for ``quiet`` seconds, or longer where the program is slow. ``folder`` gets a file for each
    finding, which replays it.
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
        """Try the one order or every one that could matter; call ``tell`` with the schedule of each of these.

        Raise ``ScheduleNotReached`` where the program does not come to the one order.
        """
        if self.schedule:
            return self._one()
        orders, made = Schedules(), list[_Made]()
        more = orders.begin()
        for _ in range(self.max_runs):
            if not more:
                break
            run = self.run(orders)
            tell(run.order.schedule, None)
            if orders.end():
                made.append(run)
            more = orders.begin()
        untried = max(orders.untried, 1) if more else 0
        if untried:
            made += self._in_turns(made)
        judged = _judged(made)
        return Exploration(judged, self._kept(found(judged)), untried, orders.unmatched)

    def _kept(self, findings: Sequence[OrderFinding]) -> list[OrderFinding]:
        """Return the findings with the files that replay them, for each of which the program is run again."""
        if self.folder is None:
            return list(findings)
        return [
            replace(
                one,
                recording=self.run(FixedSchedule(one.order.schedule.split()), f"explore-{number}").recording,
            )
            for number, one in enumerate(findings, 1)
        ]

    def _one(self) -> Exploration:
        given = FixedSchedule(self.schedule.split())
        made = self.run(given)
        missed = given.missed or given.next_up
        if missed:
            words = f"{missed} has no request waiting where {self.schedule!r} lets one through"
            raise ScheduleNotReached(words, made.order.ended)
        order, *others = _judged([made, *self._in_turns([made])])
        findings = [one for one in found([order, *others]) if one.order is order]
        return Exploration([order], self._kept(findings))

    def _in_turns(self, made: Sequence[_Made]) -> Iterator[_Made]:
        """Run the orders of whole workers, to have them for comparison where not every order is tried."""
        seen = sorted({request.actor for one in made for request in one.order.requests})
        for turns in islice(permutations(seen), _TURNS):
            yield self.run(FixedSchedule(turns=turns))

    def run(self, chooser: _Chooser, name: str = "") -> _Made:
        """Run the program in one order, and with a ``name`` write the recording of the world at its end."""
        with self.ground.world(frozen=True) as sandbox:
            begin = sandbox.world.state
            with turned(sandbox.app, sandbox.world) as turnstile:
                ended, requests = self._both(sandbox, turnstile, chooser)
            words = own_broken(self.invariants, sandbox)
            recording = (
                write_recording(sandbox, self.folder, name) if name and self.folder is not None else ""
            )
            outcome = outcome_of(sandbox, ended)
            order = ExploredSchedule(
                requests,
                ended,
                changed(begin, sandbox.world.state, ended),
                tuple(words),
                advice=tuple(map(in_a_line, outcome.of_money)),
            )
            return _Made(order, tuple(chooser.steps), outcome, recording)

    def _both(
        self, sandbox: Sandbox, turnstile: Turnstile, chooser: _Chooser
    ) -> tuple[Ended, tuple[LetThrough, ...]]:
        """Run the program, and let its requests through meanwhile on a thread beside it."""
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
                actor = chooser.choose({actor: one.text for actor, one in waiting.items()})
                request = waiting[actor]
                actors.settle(waiting, actor)
                turnstile.carry_out(request)
                number = sum(one.actor == actor for one in done)
                chooser.did(actor, (actor, number, request.text), request.footprint)
                done.append(LetThrough(actor, request.asked, request.status, request.refused))
        except BaseException:
            turnstile.open()  # or the program would wait for ever
            raise
        return tuple(done)

    def _settled(
        self, chooser: _Chooser, turnstile: Turnstile, actors: Actors, threads: Threads
    ) -> dict[str, HeldRequest]:
        """Return the requests that wait once all are there, by actor; none when the program is over."""
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
                self._longest = max(self._longest, *(one.came - since for one in held))
                return waiting
            turnstile.wait(_GLANCE)
        return {}

    def _patience(self) -> float:
        """Return for how many seconds nothing has to come until nothing more is waited for."""
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
    """Return what comes of ``program``, whose threads use the sandbox it gets, in every order that matters.

    Each run has a fork of ``sandbox`` (or of a new one) as it is now, with its clock standing still. It is
    over when ``program`` returns, which is to wait for its threads; what that raises is how it fails.

    Args:
        actors: How many workers there are at a time.
        max_runs: How many runs are made at most.
        quiet: For how many seconds nothing comes from the program until those that wait are taken for all.
        schedule: The one order to be tried, as an earlier exploration has told it.
        invariants: Functions that look at what is left, and return what is wrong with it, or nothing.
        folder: Gets a file for each finding, which replays it.
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
    """Have a pytest explore its own tests, each in its process. Return a report for each.

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

    told = program.tests("explored", said, folder, step)
    return list({one["test"]: ExplorationReport(**one) for one in told}.values())
