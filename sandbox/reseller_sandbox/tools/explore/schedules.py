"""Schedules: every request order that could matter, and no two equivalent ones.

This is dynamic partial-order reduction (Flanagan and Godefroid 2005) with source sets (Abdulla and others
2014) and sleep sets. A run is the sequence of the actors whose requests were let through. Two requests *race*
if they conflict and no step between them makes the later one wait for the earlier one. For each race, another
run tries the later request first, at the point of the earlier one. Requests that do not conflict commute.
Runs that differ only in the order of such requests are equivalent, so one of them is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from graphlib import CycleError, TopologicalSorter

from msgspec import Struct, field

from reseller_sandbox.tools.explore.read_write_set import Footprint

#: The number of tries for a schedule that the program does not reach.
_TRIES = 5

#: A request of a program: its actor, its number among the requests of that actor, and its text.
RequestKey = tuple[str, int, str]


class ScheduledTurn(Struct, frozen=True):
    """A request that was let through, with its actor and its read-write set.

    ``waiting`` are the actors that waited then, ``came`` those that did not wait one step earlier.
    """

    actor: str
    waiting: frozenset[str]
    came: frozenset[str]
    footprint: Footprint


def turned_after(
    steps: Sequence[ScheduledTurn], actor: str, waiting: Collection[str], footprint: Footprint
) -> ScheduledTurn:
    """Return the next step of a run, in which ``actor`` goes first of all ``waiting``."""
    still = steps[-1].waiting - {steps[-1].actor} if steps else frozenset()
    return ScheduledTurn(actor, frozenset(waiting), frozenset(waiting) - still, footprint)


class _Point(Struct):
    """A point in the tree of runs, with the actors tried there.

    ``wanted`` are the actors to try at this point, ``done`` the tried ones with their read-write sets. The
    actors in ``asleep`` lead to no new state if they go first.
    """

    waiting: frozenset[str]
    asleep: dict[str, Footprint]
    wanted: set[str] = field(default_factory=set)
    done: dict[str, Footprint] = field(default_factory=dict)

    @property
    def left(self) -> set[str]:
        """The wanted actors that were not tried yet."""
        return self.wanted - self.done.keys() - self.asleep.keys()


class _Known(Struct):
    """The known behaviour of the program at one point of the tree.

    ``waiting`` maps each waiting actor to its request, ``leads`` to the next point. ``ends`` is whether the
    program ends at this point.
    """

    waiting: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False
    leads: dict[str, tuple[RequestKey, _Known]] = field(default_factory=dict)


class Schedules:
    """The tree of runs.

    Each run calls ``begin``, then ``choose`` and ``did`` in turn, then ``end``.

    The read-write set of a request can depend on the requests before it: a refused request writes nothing. So
    the set of a request is the union over all runs, and a conflict does not depend on the run. If a set
    grows, the tree is searched again. Runs that were already made are not repeated in that search.
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
        #: Actors by the number and the text of a request that they sent in any run.
        self._senders: dict[tuple[int, str], set[str]] = {}
        self._repeats_from: int | None = None
        self._over = False
        self._tries = 0
        #: Whether the program took another way in this run than before in the same order.
        self.is_unmatched = False
        #: The number of orders that were given up because the program does not reach them.
        self.unmatched = 0

    @property
    def schedule(self) -> tuple[str, ...]:
        """The actors in the order of the run so far."""
        return tuple(step.actor for step in self.steps)

    @property
    def expected(self) -> AbstractSet[str] | None:
        """The actors that earlier runs saw waiting at this point, None if unknown."""
        return None if self.is_unmatched else self._known.waiting.keys() or None

    @property
    def next_up(self) -> str | None:
        """The next actor on the way to the new point of the tree, None after that."""
        at = len(self.steps)
        return self._prefix[at] if at < len(self._prefix) and not self.is_unmatched else None

    @property
    def untried(self) -> int:
        """The number of untried choices, a lower bound for the remaining runs."""
        return sum(len(point.left) for point in self._points)

    @property
    def is_new(self) -> bool:
        """Whether this run has reached a state that no earlier run reached."""
        return self._repeats_from is None

    def begin(self) -> bool:
        """Prepare the next run. Return whether there is one."""
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
        """Whether the next run was made already or reaches nothing new.

        Take the known steps of the run on the way.
        """
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
        """Return the actor whose request goes next.

        ``waiting`` maps each waiting actor to its request.
        """
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
        """Whether an actor asks for a request that only another actor has asked for.

        Two actors with equal first requests can get each other's names. Then this run is not the expected
        one.
        """
        return any(
            asks != known[actor] and actor not in self._senders.get((self._count(actor), asks), {actor})
            for actor, asks in waiting.items()
            if actor in known
        )

    def _count(self, actor: str) -> int:
        return sum(step.actor == actor for step in self.steps)

    def did(self, actor: str, request: RequestKey, footprint: Footprint) -> None:
        """Record that a request of ``actor`` was carried out, with its read-write set."""
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
        """Return the sleep set of the next point.

        These are the actors asleep or done at this point that do not conflict with the last step.
        """
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
        """Learn from a run that has ended. Return whether the run reached its schedule."""
        if self.is_unmatched or self.next_up is not None:
            self._come_again()
            return False
        self._tries = 0
        self._known.ends = True
        self._learn()
        return True

    def _come_again(self) -> None:
        """Try the same schedule again, because the program took another way.

        Give the schedule up after ``_TRIES`` tries.
        """
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
        """Go back to the last point with untried choices."""
        while self._points and not self._points[-1].left:
            self._points.pop()
        self._over = not self._points
        if self._points:
            self._prefix = [*self._prefix[: len(self._points) - 1], min(self._points[-1].left)]

    def _want_reversed(self) -> None:
        """Schedule the reversal of each race of the run."""
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
    """Return the default of ``actors``: the ``last`` one, or the smallest name."""
    return last if last is not None and last in actors else min(actors)


def happens_before(steps: Sequence[ScheduledTurn]) -> list[int]:
    """Return for each step a bit mask of the steps that happen before it."""
    before: list[int] = []
    for late, step in enumerate(steps):
        mask = 0
        for early, other in enumerate(steps[:late]):
            if other.actor == step.actor or other.footprint.conflicts(step.footprint):
                mask |= 1 << early | before[early]
        cause = asked_after(steps, late)
        if cause is not None:
            mask |= 1 << cause | before[cause]
        before.append(mask)
    return before


def asked_after(steps: Sequence[ScheduledTurn], at: int) -> int | None:
    """Return the step whose response preceded the request of step ``at``.

    Any actor can have got that response. Return None if the actor waited from the beginning.
    """
    came = next(early for early in range(at, -1, -1) if steps[at].actor in steps[early].came)
    return came - 1 if came else None


def is_serializable(steps: Sequence[ScheduledTurn]) -> bool:
    """Whether a run is equivalent to one in which the workers take turns.

    Such a run is serializable. In each turn, a worker sends all its requests in a row. If a request waited
    for another worker's response, a new turn begins with it. Examples are a worker that waits for a lock, or
    one that checks the results of the others at the end.
    """
    before, units, current = happens_before(steps), list[int](), dict[str, int]()
    for at, step in enumerate(steps):
        cause = asked_after(steps, at)
        if step.actor not in current or (cause is not None and steps[cause].actor != step.actor):
            current[step.actor] = at
        units.append(current[step.actor])
    order: TopologicalSorter[int] = TopologicalSorter()
    for late, mask in enumerate(before):
        order.add(units[late], *{units[at] for at in range(late) if mask >> at & 1} - {units[late]})
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _race(steps: Sequence[ScheduledTurn], before: Sequence[int], early: int, late: int) -> bool:
    """Whether two steps conflict and can be reversed."""
    first, second = steps[early], steps[late]
    if first.actor == second.actor or not first.footprint.conflicts(second.footprint):
        return False
    if asked_after(steps, late) == early:
        return False
    between = range(early + 1, late)
    return not any(before[late] >> at & 1 and before[at] >> early & 1 for at in between)


def _initials(steps: Sequence[ScheduledTurn], before: Sequence[int], some: Iterable[int]) -> set[str]:
    """Return the actors that can go first if only the steps in ``some`` are taken."""
    taken, initials, seen = 0, set(), set()
    for at in some:
        actor = steps[at].actor
        if actor not in seen and not before[at] & taken:
            initials.add(actor)
        seen.add(actor)
        taken |= 1 << at
    return initials
