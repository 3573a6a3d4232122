"""A world: a registry in time, with the memory of how it came to be as it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Generic, TypeVar

from sandbox.core.assumptions import Assumptions, watched
from sandbox.core.clock import Clock
from sandbox.core.events import Fired
from sandbox.core.refusals import Refused
from sandbox.core.state import Change, Draft, State
from sandbox.worlds.journal import Entry, Journal
from sandbox.worlds.moment import Journey, Moment, to

T = TypeVar("T")

#: How many requests a world remembers unless it is told otherwise.
JOURNAL = 1000

#: How many futures left behind a world keeps; past that the oldest is dropped.
BRANCHES = 32


@dataclass(slots=True)
class Outcome(Generic[T]):
    """What came of one request: its result or its refusal, and what it changed."""

    result: T | None = None
    refused: Refused | None = None
    changes: list[Change] = field(default_factory=list)
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A future that a rewind left behind: the moment it had come to, and the entries that led there."""

    name: str
    tip: Moment
    entries: tuple[Entry, ...]


class World:
    """A registry in time. Operations take effect one after another, each whole or not at all."""

    def __init__(
        self, name: str, state: State, clock: Clock, assumptions: Assumptions, journal: int = JOURNAL
    ) -> None:
        self.name = name
        self.origin = Moment(state, clock, assumptions)
        self.moment = self.origin
        self.journal = Journal(journal)
        self.snapshots: dict[str, Moment] = {}
        self.branches: dict[str, Branch] = {}
        self._left = 0
        self.lock = threading.RLock()

    @property
    def state(self) -> State:
        """The registry as it is now."""
        return self.moment.state

    @property
    def assumptions(self) -> Assumptions:
        """What the contract's silences are taken to mean here."""
        return self.moment.assumptions

    @property
    def clock(self) -> Clock:
        """The world's clock."""
        return self.moment.clock

    def now(self) -> datetime:
        """The instant the world stands at."""
        return self.moment.clock.now()

    def next_request(self) -> str:
        """The name of the next request: ``r1``, ``r2``, …"""
        with self.lock:
            self.moment = replace(self.moment, requests=self.moment.requests + 1)
            return f"r{self.moment.requests}"

    def transact(self, cause: str, work: Callable[[Draft], T], assumed: set[str] | None = None) -> Outcome[T]:
        """Carry out ``work`` on a draft and commit it, or drop the draft when ``work`` refuses.

        What has come due by now happens first. The assumptions that ``work`` reads are added to
        ``assumed``. Anything that ``work`` raises beside :class:`Refused` drops the draft too, and
        is raised on.
        """
        with self.lock:
            self.settle()
            now = self.now()
            outcome: Outcome[T] = Outcome(at=now)
            read = assumed if assumed is not None else set()
            draft = Draft(self.state, now, watched(self.assumptions, read), cause)
            try:
                outcome.result = work(draft)
            except Refused as refused:
                outcome.refused = refused
            else:
                outcome.changes = draft.changes()
                if draft.state is not draft.base:
                    self.moment = replace(self.moment, state=draft.state)
            return outcome

    def settle(self) -> list[Fired]:
        """Let everything happen that a running clock has made due; answers what did."""
        with self.lock:
            self.moment, fired = self.moment.settled(self.now())
            return fired

    def travel(self, journey: Journey, *, dry: bool = False) -> tuple[Moment, list[Fired]]:
        """Go where ``journey`` leads, or with ``dry`` only look; answers the moment reached and what fired.

        Raises what the journey raises, and then nothing has changed.
        """
        with self.lock:
            reached, fired = journey(self.moment)
            if not dry:
                self.moment = reached
            return reached, fired

    def move_clock(self, target: Callable[[datetime], datetime]) -> list[Fired]:
        """Move to the instant that ``target`` makes of the present one.

        Everything that comes due on the way happens at its own instant; answers it in order.
        Raises :class:`~sandbox.worlds.SetBack` when the world is past the instant already.
        """
        return self.travel(to(target))[1]

    def freeze(self) -> None:
        """Stop the clock where it is."""
        with self.lock:
            self.moment = replace(self.moment, clock=self.clock.freeze())

    def run(self) -> None:
        """Let the clock move with the machine's."""
        with self.lock:
            self.moment = replace(self.moment, clock=self.clock.run())

    def assume(self, assumptions: Assumptions) -> None:
        """Take the contract's silences to mean something else from now on."""
        with self.lock:
            self.moment = replace(self.moment, assumptions=assumptions)

    def reset(self) -> None:
        """Go back to the moment the world began at; the journal and the branches are forgotten."""
        with self.lock:
            self.moment = _again(self.origin, self.origin.clock.instant)
            self.journal.clear()
            self.branches.clear()
            self._left = 0

    def replace(self, state: State, now: datetime) -> None:
        """Go on with another registry at another time, as a new beginning."""
        with self.lock:
            self.origin = _again(replace(self.origin, state=state), now)
            self.reset()

    def snapshot(self, name: str) -> Moment:
        """Keep this moment under ``name``."""
        with self.lock:
            self.settle()
            kept = self.snapshots[name] = self.moment.at(self.now())
            return kept

    def restore(self, name: str) -> Moment:
        """Go back to the moment kept under ``name``, and forget the requests since. Raises KeyError."""
        with self.lock:
            kept = self.snapshots[name]
            self.journal.replace(tuple(entry for entry in self.journal if entry.number <= kept.requests))
            self.moment = _again(kept, kept.clock.instant)
            return kept

    def rewind(self, entry: Entry, *, before: bool) -> Branch:
        """Go back to the moment before or after a request; the future left behind becomes a branch."""
        with self.lock:
            branch = self._leave(entry, inclusive=before)
            self.moment = _again(entry.before if before else entry.after, entry.at)
            return branch

    def switch(self, name: str) -> Branch:
        """Go to the tip of a branch; what is left behind becomes one in its turn. Raises KeyError."""
        with self.lock:
            wanted = self.branches.pop(name)
            left = self._leave(None, inclusive=True)
            self.journal.replace(wanted.entries)
            self.moment = _again(wanted.tip, wanted.tip.clock.instant)
            return left

    def _leave(self, entry: Entry | None, *, inclusive: bool) -> Branch:
        """Keep the present as a branch, and take what came after ``entry`` out of the journal."""
        entries = tuple(self.journal)
        if entry is not None:
            self.journal.cut_after(entry, inclusive=inclusive)
        self._left += 1
        branch = Branch(f"b{self._left}", self.moment.at(self.now()), entries)
        self.branches[branch.name] = branch
        while len(self.branches) > BRANCHES:
            del self.branches[next(iter(self.branches))]
        return branch


def _again(moment: Moment, instant: datetime) -> Moment:
    """``moment`` lived again from ``instant`` on, by a clock that runs if it ran."""
    clock = Clock(instant) if moment.clock.frozen else Clock(instant).run()
    return replace(moment, clock=clock)
