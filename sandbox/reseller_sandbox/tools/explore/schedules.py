"""Schedules: the orders of requests to try.

A *schedule* is the sequence of the actors whose requests are let through. Two requests that do not conflict
commute, and schedules that differ only in the order of such requests are equivalent. One of them is enough.

``Schedules.search`` is dynamic partial-order reduction (Flanagan and Godefroid 2005) with source sets
(Abdulla and others 2014) and sleep sets. Two requests *race* if they conflict and no step between them makes
the later one wait for the earlier one. For each race, another run tries the later request first. Runs with
few preemptions come first (Musuvathi and Qadeer 2007). ``Schedules.sample`` is for programs with too many
schedules: random walks, and random priorities that change a few times (PCT, Burckhardt and others 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.tools.explore.read_write_set import Footprint

#: The number of tries for a schedule that the program does not reach.
_TRIES = 5

#: The most states that are counted for an estimate.
_MOST_COUNTED = 20_000

#: A request of a program: its actor, its number among the requests of that actor, and its text.
RequestKey = tuple[str, int, str]

#: The beginning of a schedule.
Path = tuple[str, ...]


class ScheduledTurn(Struct, frozen=True):
    """A request that was let through, with its actor and its read-write set.

    ``waiting`` maps each actor that waited then to the text of its request. ``arrived`` are the actors that
    did not wait one step earlier.
    """

    actor: str
    request: RequestKey
    waiting: Mapping[str, str]
    arrived: AbstractSet[str]
    footprint: Footprint


#: Chooses the next actor, from the set of waiting actors and the steps so far.
Pick = Callable[[AbstractSet[str], Sequence[ScheduledTurn]], str]


def follow(waiting: AbstractSet[str], steps: Sequence[ScheduledTurn]) -> str:
    """Return the actor of the last step if it waits, otherwise the smallest name."""
    return steps[-1].actor if steps and steps[-1].actor in waiting else min(waiting)


def in_turns(turns: Sequence[str]) -> Pick:
    """Return a choice of whole workers, in the order of ``turns``."""
    return lambda waiting, steps: next((actor for actor in turns if actor in waiting), follow(waiting, steps))


def _chance(*seed: object) -> int:
    """Return a number that looks random and depends only on ``seed``."""
    return int.from_bytes(sha256(repr(seed).encode()).digest()[:8])


def random_walk(seed: int) -> Pick:
    """Return a choice in which each waiting actor is equally likely."""
    return lambda waiting, steps: sorted(waiting)[_chance(seed, len(steps)) % len(waiting)]


def random_priorities(seed: int, length: int, changes: int) -> Pick:
    """Return a choice by random priorities, which fall at ``changes`` of ``length`` steps."""
    falls = {_chance(seed, "fall", number) % max(length, 1) for number in range(changes)}

    def pick(waiting: AbstractSet[str], steps: Sequence[ScheduledTurn]) -> str:
        fallen = {steps[at].actor for at in falls if at < len(steps)}
        return min(waiting, key=lambda actor: (actor in fallen, _chance(seed, actor)))

    return pick


class Plan(Struct):
    """The plan of one run: the actors of ``prefix`` go first, then those that ``pick`` chooses.

    After the prefix, the actors in ``asleep`` lead to no new state. ``known`` is the behaviour in earlier
    runs. ``holds`` are the seconds for which requests are held at least, by actor and number. ``missed`` is
    the first actor of the prefix that had no request waiting. ``is_overdue`` is whether that happened because
    another request had waited too long.
    """

    prefix: Sequence[str] = ()
    pick: Pick = follow
    known: Schedules | None = None
    asleep: Mapping[str, Footprint] = {}
    holds: Mapping[tuple[str, int], float] = {}
    steps: list[ScheduledTurn] = field(default_factory=list)
    missed: str = ""
    is_overdue: bool = False
    _waiting: Mapping[str, str] = {}

    @property
    def path(self) -> Path:
        """The actors of the steps so far."""
        return tuple(step.actor for step in self.steps)

    @property
    def next_up(self) -> str | None:
        """The next actor of the prefix, None after its end."""
        at = len(self.steps)
        return self.prefix[at] if at < len(self.prefix) and not self.missed else None

    @property
    def expected(self) -> AbstractSet[str] | None:
        """The actors that earlier runs saw waiting at this point, None if unknown."""
        if self.known is None or self.missed:
            return None
        return self.known.waiting_at(self.path) or None

    def again(self) -> Plan:
        """Return the same plan for another run."""
        return replace(self, steps=[], missed="", is_overdue=False)

    def choose(self, waiting: Mapping[str, str], overdue: str = "") -> str:
        """Return the actor whose request goes next.

        ``waiting`` maps each waiting actor to its request. If the request of an actor is ``overdue``, that
        actor goes first.
        """
        self._waiting = waiting
        chosen = self._choice(waiting)
        if not overdue or overdue == chosen:
            return chosen
        if len(self.steps) < len(self.prefix):
            self.missed, self.is_overdue = self.missed or chosen, True
        return overdue

    def _choice(self, waiting: Mapping[str, str]) -> str:
        scheduled = self.next_up
        if scheduled is not None:
            are_swapped = self.known is not None and self.known.are_swapped(self.path, waiting)
            if scheduled in waiting and not are_swapped:
                return scheduled
            self.missed = scheduled
        awake = waiting.keys() - self.asleep.keys() if len(self.steps) >= len(self.prefix) else set()
        return self.pick(awake or waiting.keys(), self.steps)

    def did(self, actor: str, request: RequestKey, footprint: Footprint) -> None:
        """Record that a request of ``actor`` was carried out, with its read-write set."""
        still = self.steps[-1].waiting.keys() - {self.steps[-1].actor} if self.steps else frozenset()
        arrived = self._waiting.keys() - still
        self.steps.append(ScheduledTurn(actor, request, self._waiting, arrived, footprint))
        if len(self.steps) >= len(self.prefix):
            self.asleep = _still_asleep(self.asleep, actor, footprint)


def _still_asleep(asleep: Mapping[str, Footprint], actor: str, footprint: Footprint) -> dict[str, Footprint]:
    return {
        other: touched
        for other, touched in asleep.items()
        if other != actor and not touched.conflicts(footprint)
    }


class _Point(Struct):
    """A point in the tree of schedules, with the actors that go first there.

    ``to_try`` are the actors to try at this point, ``done`` the tried ones with their read-write sets. The
    actors in ``asleep`` lead to no new state if they go first. ``preemptions`` is the number of workers that
    had to wait on the way although their last request was answered.
    """

    waiting: AbstractSet[str]
    asleep: dict[str, Footprint]
    preemptions: int
    to_try: set[str] = field(default_factory=set)
    done: dict[str, Footprint] = field(default_factory=dict)


class Schedules:
    """The known behaviour of a program, and the search for schedules that reach a new state.

    The read-write set of a request can depend on the requests before it: a refused request writes nothing. So
    the set of a request is the union over all runs, and a conflict does not depend on the run. If a set
    grows, the search begins again. It does not repeat runs that were already made.

    ``part`` is the part of the schedules to search, such as 1 of 2.
    """

    def __init__(self, part: tuple[int, int] = (1, 1)) -> None:
        self._part = part
        self._waiting: dict[Path, Mapping[str, str]] = {}
        self._requests: dict[Path, RequestKey] = {}
        self._ends: set[Path] = set()
        self._footprints: dict[RequestKey, Footprint] = {}
        #: Actors by the number and the text of a request that they sent in any run.
        self._senders: dict[tuple[int, str], set[str]] = {}
        self._points: dict[Path, _Point] = {}
        self._tries = Counter[Path]()
        #: Branches that are not searched: given up, or in another part.
        self._closed: set[Path] = set()
        self._longest: Sequence[ScheduledTurn] = ()
        #: The number of schedules that were given up because the program does not reach them.
        self.unmatched = 0
        #: The number of schedules that were given up because they would hold a request too long.
        self.held_too_long = 0

    def waiting_at(self, path: Path) -> AbstractSet[str]:
        """Return the actors that an earlier run saw waiting after ``path``."""
        return self._waiting.get(path, {}).keys()

    def are_swapped(self, path: Path, waiting: Mapping[str, str]) -> bool:
        """Whether two actors have exchanged their names since the earlier runs.

        Actors with equal first requests can get each other's names. Then an actor sends a request that only
        another actor sent in earlier runs.
        """
        known = self._waiting.get(path, {})
        return any(
            text != known[actor] and actor not in self._senders.get((path.count(actor), text), {actor})
            for actor, text in waiting.items()
            if actor in known
        )

    def sample(self, number: int) -> Plan:
        """Return random plan ``number``: a random walk, or random priorities with 1 or 2 changes."""
        seed, changes = number * self._part[1] + self._part[0], number % 3
        length = len(self._longest)
        pick = random_walk(seed) if not changes else random_priorities(seed, length, changes)
        return Plan(pick=pick, known=self)

    def search(self, most: int = 1) -> list[Plan]:
        """Return up to ``most`` plans that can reach a new state, none if every state is known."""
        plans: dict[Path, Plan] = {}
        while len(plans) < most and (prefix := self._next_prefix(plans.keys())) is not None:
            unknown = self._walk(prefix)
            if unknown in plans:
                break
            if unknown is not None:
                parent = self._points[unknown[:-1]] if unknown else None
                asleep = {**parent.asleep, **parent.done} if parent is not None else {}
                plans[unknown] = Plan(unknown, known=self, asleep=asleep)
        return list(plans.values())

    def learn(self, plan: Plan, *, is_final: bool = False) -> bool:
        """Learn from a run. Return whether the run followed its plan.

        A plan that is not reached is given up after ``_TRIES`` runs, or after this one if ``is_final``.
        """
        if is_final or plan.missed or plan.next_up is not None:
            path = tuple(plan.prefix)
            self._tries[path] += 1
            if is_final or plan.is_overdue:
                self._closed.add(path)
                self.held_too_long += 1
            elif self._tries[path] == _TRIES:
                self._closed.add(path)
                self.unmatched += 1
            return False
        has_grown, path = False, ()
        are_known = not any(
            self.are_swapped(plan.path[:at], step.waiting) for at, step in enumerate(plan.steps)
        )
        for at, step in enumerate(plan.steps):
            footprint = self._footprints.setdefault(step.request, step.footprint)
            has_grown |= footprint.take(step.footprint)
            plan.steps[at] = replace(step, footprint=footprint)
            if are_known:
                for actor, text in step.waiting.items():
                    self._senders.setdefault((path.count(actor), text), set()).add(actor)
                self._waiting[path] = step.waiting
                path = (*path, step.actor)
                self._requests[path] = step.request
        if are_known:
            self._ends.add(path)
        if has_grown:
            self._points.clear()
        self._longest = max(self._longest, plan.steps, key=len)
        return True

    def estimate(self) -> int | None:
        """Return the number of schedules that are not equivalent, None if there are too many to count.

        The estimate is exact if each worker always sends the requests of the longest run, and waits for no
        other worker.
        """
        requests: dict[str, list[Footprint]] = {}
        for step in self._longest:
            requests.setdefault(step.actor, []).append(step.footprint)
        return _count(list(requests.values()))

    def _next_prefix(self, planned: Iterable[Path]) -> Path | None:
        """Return the branch to try next: the one with the fewest preemptions."""
        if not self._points:
            is_over = () in planned or () in self._closed or () in self._ends
            return None if is_over else ()
        left = [
            (point.preemptions + _is_preemption(path, actor, point.waiting), (*path, actor))
            for path, point in self._points.items()
            for actor in point.to_try - point.done.keys() - point.asleep.keys()
            if (*path, actor) not in self._closed
            and not any(other[: len(path) + 1] == (*path, actor) for other in planned)
        ]
        return min(left, key=lambda branch: (branch[0], -len(branch[1]), branch[1]))[1] if left else None

    def _walk(self, prefix: Path) -> Path | None:
        """Follow a branch through known runs, and want the reversal of each race on the way.

        Return the beginning of the schedule that leads to unknown states, None if there is none.
        """
        path: Path = ()
        steps: list[ScheduledTurn] = []
        asleep: dict[str, Footprint] = {}
        preemptions = 0
        is_first = not self._points
        while path not in self._ends:
            waiting = self._waiting.get(path)
            if waiting is None:
                return path
            point = self._points.setdefault(path, _Point(waiting.keys(), asleep, preemptions))
            open_ = {actor for actor in waiting if (*path, actor) not in self._closed}
            awake = open_ - point.asleep.keys()
            if len(path) < len(prefix):
                actor = prefix[len(path)]
            elif awake:
                actor = follow(awake, steps)
            else:
                break
            point.to_try.add(actor)
            preemptions = point.preemptions + _is_preemption(path, actor, point.waiting)
            request = self._requests.get((*path, actor))
            if request is None:
                return (*path, actor)
            footprint = self._footprints[request]
            arrived = waiting.keys() - (
                steps[-1].waiting.keys() - {steps[-1].actor} if steps else frozenset()
            )
            steps.append(ScheduledTurn(actor, request, waiting, arrived, footprint))
            asleep = _still_asleep({**point.asleep, **point.done}, actor, footprint)
            point.done[actor] = footprint
            path = (*path, actor)
        if len(path) < len(prefix):  # because the program does not always send the same requests
            self._closed.add(prefix)
        if is_first and self._part[1] > 1:
            self._share(path)
        self._want_reversed(steps)
        return None

    def _share(self, first: Path) -> None:
        """Want every branch off the first schedule, and close those of other parts.

        Each schedule is in the part of the branch at which it leaves the first one. Every part knows all
        these branches, because they do not depend on other runs.
        """
        number, parts = self._part
        branches = [
            (*first[:at], actor)
            for at in range(len(first))
            for actor in sorted(self._points[first[:at]].waiting - {first[at]})
        ]
        for at, branch in enumerate(branches):
            self._points[branch[:-1]].to_try.add(branch[-1])
            if at % parts != number - 1:
                self._closed.add(branch)

    def _want_reversed(self, steps: Sequence[ScheduledTurn]) -> None:
        """Want the reversal of each race of a run."""
        before = happens_before(steps)
        path = tuple(step.actor for step in steps)
        for late in range(len(steps)):
            for early in range(late):
                if not _race(steps, before, early, late):
                    continue
                point = self._points[path[:early]]
                free = [at for at in range(early + 1, late) if not before[at] >> early & 1]
                first = _initials(steps, before, [*free, late])
                if not first & (point.to_try | point.asleep.keys()):
                    there = first & point.waiting
                    point.to_try |= {min(there)} if there else point.waiting


def _is_preemption(path: Path, actor: str, waiting: AbstractSet[str]) -> bool:
    """Whether the worker of the last step waits while another one goes on."""
    return bool(path) and path[-1] != actor and path[-1] in waiting


def _count(workers: Sequence[Sequence[Footprint]]) -> int | None:
    """Return the number of interleavings that are not equivalent, None if there are too many to count.

    The sleep sets make sure that each class of equivalent interleavings is counted once.
    """
    if prod(len(requests) + 1 for requests in workers) << len(workers) > _MOST_COUNTED:
        return None

    @cache
    def conflict(first: int, at: int, second: int, other: int) -> bool:
        return workers[first][at].conflicts(workers[second][other])

    counts: dict[tuple[tuple[int, ...], frozenset[int]], int] = {}

    def successors(
        places: tuple[int, ...], asleep: frozenset[int]
    ) -> Iterator[tuple[tuple[int, ...], frozenset[int]]]:
        done = set(asleep)
        for worker, at in enumerate(places):
            if at < len(workers[worker]) and worker not in asleep:
                still = frozenset(other for other in done if not conflict(other, places[other], worker, at))
                yield (*places[:worker], at + 1, *places[worker + 1 :]), still
                done.add(worker)

    begin = (0,) * len(workers), frozenset[int]()
    stack = [begin]
    while stack:
        state = stack[-1]
        following = list(successors(*state))
        unknown = [each for each in following if each not in counts]
        if unknown:
            stack += unknown
            continue
        is_end = all(at == len(requests) for at, requests in zip(state[0], workers, strict=True))
        counts[state] = int(is_end) + sum(counts[each] for each in following)
        stack.pop()
    return counts[begin]


def equivalence_class(steps: Sequence[ScheduledTurn]) -> tuple[frozenset[object], frozenset[object]]:
    """Return a value that is equal for equivalent runs: their requests, and the order of the conflicts."""
    conflicts = (
        (early.request, late.request)
        for at, late in enumerate(steps)
        for early in steps[:at]
        if early.actor != late.actor and early.footprint.conflicts(late.footprint)
    )
    return frozenset(step.request for step in steps), frozenset(conflicts)


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
    arrival = next(early for early in range(at, -1, -1) if steps[at].actor in steps[early].arrived)
    return arrival - 1 if arrival else None


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
