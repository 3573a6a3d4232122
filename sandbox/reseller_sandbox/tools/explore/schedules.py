"""Which orders of requests to try: every one that could matter, and no two that come to the same.

This is dynamic partial-order reduction (Flanagan and Godefroid 2005) with source sets (Abdulla and others
2014) and sleep sets. A run is the sequence of the actors whose requests were let through. Two requests *race*
when they conflict and nothing between them makes the one wait for the other; then the later one is to be
tried first, at the point where the earlier one went. Requests that do not conflict may change places, so
that all the runs that differ by this alone come to the same, and one of them is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from graphlib import CycleError, TopologicalSorter

from msgspec import Struct, field

from reseller_sandbox.tools.explore.read_write_set import Footprint

#: How often an order is tried that the program does not come to.
_TRIES = 5

#: A request of a program: whose it is, the how manyth of that actor's, and what it asks for.
RequestKey = tuple[str, int, str]


class ScheduledTurn(Struct, frozen=True):
    """One request let through: whose it was, who waited then, and what it touched.

    ``came`` are those of the ``waiting`` that were not waiting one step earlier.
    """

    actor: str
    waiting: frozenset[str]
    came: frozenset[str]
    footprint: Footprint


def turned_after(
    steps: Sequence[ScheduledTurn], actor: str, waiting: Collection[str], footprint: Footprint
) -> ScheduledTurn:
    """Return the next step of a run: ``actor`` was let through of all that were ``waiting``."""
    still = steps[-1].waiting - {steps[-1].actor} if steps else frozenset()
    return ScheduledTurn(actor, frozenset(waiting), frozenset(waiting) - still, footprint)


class _Point(Struct):
    """A point in the tree of runs, and what has been tried from there.

    ``wanted`` are the actors to be let through there, ``done`` those that have been, with what they touched;
    of the ones in ``asleep`` it is known that going first they lead to nothing new.
    """

    waiting: frozenset[str]
    asleep: dict[str, Footprint]
    wanted: set[str] = field(default_factory=set)
    done: dict[str, Footprint] = field(default_factory=dict)

    @property
    def left(self) -> set[str]:
        """What is wanted and has not been tried."""
        return self.wanted - self.done.keys() - self.asleep.keys()


class _Known(Struct):
    """What is known of a program that has come this far: who waits then, and where each of them leads.

    ``waiting`` has for each what it asks for. ``ends`` is whether the program ends there.
    """

    waiting: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False
    leads: dict[str, tuple[RequestKey, _Known]] = field(default_factory=dict)


class Schedules:
    """The tree of runs. For each run: ``begin``, ``choose`` and ``did`` in turn, and ``end``.

    What a request touches may depend on what went before: one that is refused writes nothing. So whatever it
    has touched in any run counts in all of them, and whether two requests conflict does not depend on the
    run. When a request turns out to touch more than it did, the tree is gone through again; runs that have
    been made are not made again for that.
    """

    def __init__(self) -> None:
        self._root = _Known()
        self._known = self._root
        self._footprints: dict[RequestKey, Footprint] = {}
        self._grown = False
        self._points: list[_Point] = []
        self._prefix: list[str] = []
        #: The run so far.
        self.steps: list[ScheduledTurn] = []
        self._asks: Mapping[str, str] = {}
        #: Who has sent a request, as the first, second, … of its own, in any run.
        self._senders: dict[tuple[int, str], set[str]] = {}
        self._repeats_from: int | None = None
        self._over = False
        self._tries = 0
        #: Whether the program has gone another way in this run than it did before in the same order.
        self.is_unmatched = False
        #: How many orders were given up because the program would not come to them.
        self.unmatched = 0

    @property
    def schedule(self) -> tuple[str, ...]:
        """The actors in the order of the run so far."""
        return tuple(step.actor for step in self.steps)

    @property
    def expected(self) -> AbstractSet[str] | None:
        """Who waits at this point of the run, as far as earlier runs have shown; None where none has."""
        return None if self.is_unmatched else self._known.waiting.keys() or None

    @property
    def next_up(self) -> str | None:
        """Whom the run has to let through next, to come to what it is to try; None after that."""
        at = len(self.steps)
        return self._prefix[at] if at < len(self._prefix) and not self.is_unmatched else None

    @property
    def untried(self) -> int:
        """How many points of the tree have something to be tried: so many more runs there are, at least."""
        return sum(len(point.left) for point in self._points)

    @property
    def is_new(self) -> bool:
        """Whether the run comes to something that no earlier one has come to, as far as is known by now."""
        return self._repeats_from is None

    def begin(self) -> bool:
        """Get ready for the next run; return whether there is one."""
        while not self._over or self._grown:
            if self._over:
                self._points, self._prefix = [], []
                self._over = self._grown = False
            if not self._is_known():
                self._prefix = [*self.schedule, *self._prefix[len(self.steps) :]]
                self._rewind()
                return True
            self._learn()
        return False

    def _is_known(self) -> bool:
        """Whether the next run has been made or is not worth it; take its known steps."""
        self._rewind()
        while not self._known.ends:
            if not self._known.waiting:
                return False
            actor = self.choose(self._known.waiting)
            if not self.is_new:
                return True
            if actor not in self._known.leads:
                self._prefix = [*self.schedule, actor]
                return False
            request = self._known.leads[actor][0]
            self.did(actor, request, self._footprints[request])
        return True

    def _rewind(self) -> None:
        self.steps, self._repeats_from, self._known = [], None, self._root
        self.is_unmatched = False

    def choose(self, waiting: Mapping[str, str]) -> str:
        """Return whose request is let through next, of those that wait and what each of them asks for."""
        at = len(self.steps)
        last = self.steps[-1].actor if self.steps else None
        wanted, known = self.next_up, self._known.waiting
        self._asks = waiting
        if wanted is not None and (known.keys() - waiting.keys() or self._are_swapped(known, waiting)):
            self.is_unmatched = True
        if self.is_unmatched:
            return preferred(waiting, last)
        for actor, asks in waiting.items():
            self._senders.setdefault((self._count(actor), asks), set()).add(actor)
        if wanted is not None and wanted in waiting:
            return wanted
        self._points.append(point := _Point(frozenset(waiting), self._asleep()))
        awake = set(waiting) - point.asleep.keys()
        if not awake and self._repeats_from is None:
            self._repeats_from = at
        chosen = preferred(awake or waiting, last)
        point.wanted.add(chosen)
        return chosen

    def _are_swapped(self, known: Mapping[str, str], waiting: Mapping[str, str]) -> bool:
        """Whether somebody asks for what only another has asked for: they began alike, and were mistaken."""
        return any(
            asks != known[actor] and actor not in self._senders.get((self._count(actor), asks), {actor})
            for actor, asks in waiting.items()
            if actor in known
        )

    def _count(self, actor: str) -> int:
        return sum(step.actor == actor for step in self.steps)

    def did(self, actor: str, request: RequestKey, footprint: Footprint) -> None:
        """Note that the request of ``actor`` has been carried out, and what it touched."""
        if self.is_unmatched:
            self.steps.append(turned_after(self.steps, actor, self._asks, footprint))
            return
        known = self._footprints.setdefault(request, footprint)
        self._grown |= known.take(footprint)
        point = self._points[len(self.steps)]
        self.steps.append(turned_after(self.steps, actor, point.waiting, known))
        point.done[actor] = known
        self._known.waiting = self._asks
        _, self._known = self._known.leads.setdefault(actor, (request, _Known()))

    def _asleep(self) -> dict[str, Footprint]:
        """Return who sleeps at the next point: whoever did before, and does not conflict with what came."""
        if not self.steps:
            return {}
        point, last = self._points[len(self.steps) - 1], self.steps[-1]
        known = {**point.asleep, **point.done}
        return {
            actor: touched
            for actor, touched in known.items()
            if actor != last.actor and not touched.conflicts(last.footprint)
        }

    def end(self) -> bool:
        """Learn from a run that has ended; return whether it has come to what it was to try."""
        if self.is_unmatched or self.next_up is not None:
            self._come_again()
            return False
        self._tries = 0
        self._known.ends = True
        self._learn()
        return True

    def _come_again(self) -> None:
        """Try the same once more, as the program went another way; give it up after some tries."""
        self._tries += 1
        if self._tries < _TRIES:
            return
        self.unmatched += 1
        self._tries = 0
        del self._points[len(self._prefix) :]
        self._points[-1].done[self._prefix[-1]] = Footprint(everything=True)
        self._back()

    def _learn(self) -> None:
        self._want_reversed()
        self._prefix = list(self.schedule)
        self._back()

    def _back(self) -> None:
        """Go back to the last point where something is left to be tried."""
        while self._points and not self._points[-1].left:
            self._points.pop()
        self._over = not self._points
        if self._points:
            self._prefix = [*self._prefix[: len(self._points) - 1], min(self._points[-1].left)]

    def _want_reversed(self) -> None:
        """Want each race of the run the other way round as well."""
        steps = self.steps[: self._repeats_from]
        before = happens_before(steps)
        for late in range(len(steps)):
            for early in range(late):
                if _race(steps, before, early, late):
                    self._want(steps, before, early, late)

    def _want(self, steps: Sequence[ScheduledTurn], before: Sequence[int], early: int, late: int) -> None:
        point = self._points[early]
        free = [at for at in range(early + 1, late) if not before[at] >> early & 1]
        first = _initials(steps, before, [*free, late])
        if first & (point.wanted | point.asleep.keys()):
            return
        there = first & point.waiting
        point.wanted |= {min(there)} if there else point.waiting


def preferred(actors: Collection[str], last: str | None) -> str:
    """Return the one of ``actors`` to go on with where nothing else counts: the one that went ``last``."""
    return last if last is not None and last in actors else min(actors)


def happens_before(steps: Sequence[ScheduledTurn]) -> list[int]:
    """Return for each step the steps that have to come before it, as the bits of a number."""
    before: list[int] = []
    for late, step in enumerate(steps):
        found = 0
        for early, other in enumerate(steps[:late]):
            if other.actor == step.actor or other.footprint.conflicts(step.footprint):
                found |= 1 << early | before[early]
        cause = asked_after(steps, late)
        if cause is not None:
            found |= 1 << cause | before[cause]
        before.append(found)
    return before


def asked_after(steps: Sequence[ScheduledTurn], at: int) -> int | None:
    """Return the step whose answer the request of step ``at`` has waited for, whoever got that, if any."""
    came = next(early for early in range(at, -1, -1) if steps[at].actor in steps[early].came)
    return came - 1 if came else None


def goes_in_turn(steps: Sequence[ScheduledTurn]) -> bool:
    """Whether a run comes to the same as one in which each worker does all that it does at one go.

    A worker whose request waited for another's answer begins anew with it: so do those under a lock, and
    whoever looks at the end what the others have done.
    """
    before, units, current = happens_before(steps), list[int](), dict[str, int]()
    for at, step in enumerate(steps):
        cause = asked_after(steps, at)
        if step.actor not in current or (cause is not None and steps[cause].actor != step.actor):
            current[step.actor] = at
        units.append(current[step.actor])
    order: TopologicalSorter[int] = TopologicalSorter()
    for late, found in enumerate(before):
        order.add(units[late], *{units[at] for at in range(late) if found >> at & 1} - {units[late]})
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _race(steps: Sequence[ScheduledTurn], before: Sequence[int], early: int, late: int) -> bool:
    """Whether two steps conflict, and could have come the other way round."""
    one, other = steps[early], steps[late]
    if one.actor == other.actor or not one.footprint.conflicts(other.footprint):
        return False
    if asked_after(steps, late) == early:
        return False
    between = range(early + 1, late)
    return not any(before[late] >> at & 1 and before[at] >> early & 1 for at in between)


def _initials(steps: Sequence[ScheduledTurn], before: Sequence[int], some: Iterable[int]) -> set[str]:
    """Return the actors that can begin when only ``some`` of the steps are taken."""
    taken, found, seen = 0, set(), set()
    for at in some:
        actor = steps[at].actor
        if actor not in seen and not before[at] & taken:
            found.add(actor)
        seen.add(actor)
        taken |= 1 << at
    return found
