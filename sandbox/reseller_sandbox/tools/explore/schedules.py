"""Schedules: the orders in which explore releases the requests of a program.

A *schedule* is the sequence of the actors whose requests are released. Two requests that do not conflict
commute. Schedules that differ only in the order of such requests are equivalent, so one of them is enough.

``Schedules.search`` is dynamic partial-order reduction (Flanagan and Godefroid 2005, Abdulla and others
2014). Two requests *race* if they conflict and no step between them makes the later one wait for the earlier
one. For each race, a *branch* tries the later request first, unless a known run contains that order.
Schedules with few switches between workers come first (Musuvathi and Qadeer 2007). ``Schedules.sample`` is
for programs with too many schedules: random walks, and random priorities that change a few times (PCT,
Burckhardt and others 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, reduce
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from itertools import pairwise
from math import prod
from operator import or_

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.tools.explore.read_write_set import Footprint

#: Maximum number of attempts to run a schedule. Then the schedule is given up.
_TRIES = 5

#: Maximum number of states that are counted for an estimate.
_MOST_COUNTED = 20_000

#: The identity of a request: its actor, its number among the requests of that actor, and its text.
RequestKey = tuple[str, int, str]

#: The beginning of a schedule: a sequence of actors.
Path = tuple[str, ...]


class ScheduledTurn(Struct, frozen=True):
    """A step of a run: a request that was released, with its actor and its read-write set.

    ``waiting`` maps each actor that waited at that time to the text of its request. ``arrived`` are the
    actors whose request arrived after the previous step.
    """

    actor: str
    request: RequestKey
    waiting: Mapping[str, str]
    arrived: AbstractSet[str]
    footprint: Footprint


#: A function that chooses the next actor from the waiting actors. It also gets the steps so far.
Pick = Callable[[AbstractSet[str], Sequence[ScheduledTurn]], str]


def follow(waiting: AbstractSet[str], steps: Sequence[ScheduledTurn]) -> str:
    """Choose the actor of the last step if it has a waiting request, otherwise the first actor by name."""
    return steps[-1].actor if steps and steps[-1].actor in waiting else min(waiting)


def in_turns(turns: Sequence[str]) -> Pick:
    """Return a function that chooses the first worker in the list ``turns`` that has a waiting request."""
    return lambda waiting, steps: next((actor for actor in turns if actor in waiting), follow(waiting, steps))


def _chance(*seed: object) -> int:
    """Return a pseudo-random number that depends only on ``seed``."""
    return int.from_bytes(sha256(repr(seed).encode()).digest()[:8])


def random_walk(seed: int) -> Pick:
    """Return a function that chooses one of the waiting actors at random."""
    return lambda waiting, steps: sorted(waiting)[_chance(seed, len(steps)) % len(waiting)]


def random_priorities(seed: int, length: int, changes: int) -> Pick:
    """Return a function that chooses the waiting actor with the highest random priority.

    At ``changes`` of ``length`` steps, the priority of the current actor becomes the lowest.
    """
    falls = {_chance(seed, "fall", number) % max(length, 1) for number in range(changes)}

    def pick(waiting: AbstractSet[str], steps: Sequence[ScheduledTurn]) -> str:
        fallen = {steps[at].actor for at in falls if at < len(steps)}
        return min(waiting, key=lambda actor: (actor in fallen, _chance(seed, actor)))

    return pick


class Plan(Struct):
    """The plan of one run: first the actors of ``prefix``, then those that ``pick`` chooses.

    ``known`` is the behaviour in earlier runs. ``holds`` maps actors and numbers of requests to the minimum
    hold in seconds. ``missed`` is the first actor of the prefix that had no waiting request at its turn.
    ``is_overdue`` is whether the cause was that the hold of another request reached its limit.
    """

    prefix: Sequence[str] = ()
    pick: Pick = follow
    known: Schedules | None = None
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
        """The next actor of the prefix. None after the end of the prefix, or after a missed turn."""
        at = len(self.steps)
        return self.prefix[at] if at < len(self.prefix) and not self.missed else None

    @property
    def expected(self) -> AbstractSet[str] | None:
        """The actors that had a waiting request at this point in earlier runs, None if unknown."""
        if self.known is None or self.missed:
            return None
        return self.known.waiting_at(self.path) or None

    def again(self) -> Plan:
        """Return this plan without its steps, for another run."""
        return replace(self, steps=[], missed="", is_overdue=False)

    def choose(self, waiting: Mapping[str, str], overdue: str) -> str:
        """Return the actor whose request is released next.

        ``waiting`` maps each waiting actor to its request. If the hold of a request has reached its limit,
        ``overdue`` is its actor, and goes first.
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
        return self.pick(waiting.keys(), self.steps)

    def did(self, actor: str, request: RequestKey, footprint: Footprint) -> None:
        """Record that a request of ``actor`` took effect, with its read-write set."""
        still = self.steps[-1].waiting.keys() - {self.steps[-1].actor} if self.steps else frozenset()
        arrived = self._waiting.keys() - still
        self.steps.append(ScheduledTurn(actor, request, self._waiting, arrived, footprint))


class Schedules:
    """The runs of a program so far, and the search for schedules that reach a new state.

    The read-write set of a request can depend on the requests before it. For example, a refused request
    writes nothing. So the set of a request is the union over all runs, and a conflict does not depend on the
    run. If a set grows, the races of all runs are computed again, but no schedule runs twice.

    ``part`` is the part of the schedules to search, such as 1 of 2.
    """

    def __init__(self, part: tuple[int, int] = (1, 1)) -> None:
        self._part = part
        self._runs: list[_KnownRun] = []
        #: The branches to try, because no run contains them yet: the actors and the requests of each branch.
        self._branches: dict[Path, _Branch] = {}
        #: Empty unless several processes share the search. The branches of the first run that this process
        #: tries, each as a list of requests.
        self._departures: list[list[RequestKey]] = []
        self._waiting: dict[Path, Mapping[str, str]] = {}
        self._footprints: dict[RequestKey, Footprint] = {}
        #: The actors that sent a request in any run. The key is the request's place among the requests of
        #: its actor, and its text.
        self._senders: dict[tuple[int, str], set[str]] = {}
        self._tries = Counter[Path]()
        #: Number of schedules that were given up because the program does not reach them.
        self.unmatched = 0
        #: Number of schedules that were given up because they would hold a request too long for the program.
        self.held_too_long = 0

    def waiting_at(self, path: Path) -> AbstractSet[str]:
        """Return the actors that had a waiting request after ``path`` in an earlier run."""
        return self._waiting.get(path, {}).keys()

    def are_swapped(self, path: Path, waiting: Mapping[str, str]) -> bool:
        """Whether two actors have each other's names, compared to earlier runs.

        Without a header, actors whose first requests are equal can get each other's names. Then an actor
        sends a request that only another actor sent in earlier runs.
        """
        known = self._waiting.get(path, {})
        return any(
            text != known[actor] and actor not in self._senders.get((path.count(actor), text), {actor})
            for actor, text in waiting.items()
            if actor in known
        )

    def sample(self, number: int) -> Plan:
        """Return a random plan: a random walk, or random priorities that change once or twice."""
        seed, changes = number * self._part[1] + self._part[0], number % 3
        pick = random_walk(seed) if not changes else random_priorities(seed, len(self._longest), changes)
        return Plan(pick=pick, known=self)

    def search(self, most: int = 1) -> list[Plan]:
        """Return up to ``most`` plans that can reach a new state. There are none if every state is known.

        Plans that change the order of a payment come first, then plans with few switches between workers.
        """
        if not self._runs:
            return [Plan(known=self)] if self._tries[()] < _TRIES else []
        branches = sorted(
            self._branches,
            key=lambda path: (not self._branches[path].is_paid, switches(path), -len(path), path),
        )
        return [Plan(path, known=self) for path in branches[:most]]

    def learn(self, plan: Plan, *, is_final: bool = False) -> bool:
        """Add the run of a plan to the known runs. Return whether the run followed the plan.

        If no run follows a plan, the plan is given up after ``_TRIES`` runs, or now if ``is_final``.
        """
        path = tuple(plan.prefix)
        if is_final or plan.missed or plan.next_up is not None:
            self._tries[path] += 1
            if is_final or plan.is_overdue or self._tries[path] == _TRIES:
                self.held_too_long += is_final or plan.is_overdue
                self.unmatched += not (is_final or plan.is_overdue)
                self._give_up(path)
            return False
        self._give_up(path)
        steps = plan.steps
        have_grown = False
        for at, step in enumerate(steps):
            footprint = self._footprints.setdefault(step.request, step.footprint)
            have_grown |= footprint.take(step.footprint)
            steps[at] = replace(step, footprint=footprint)
        changed: list[_KnownRun] = []
        if not any(self.are_swapped(plan.path[:at], step.waiting) for at, step in enumerate(steps)):
            for at, step in enumerate(steps):
                self._waiting[plan.path[:at]] = step.waiting
                for actor, text in step.waiting.items():
                    self._senders.setdefault((plan.path[:at].count(actor), text), set()).add(actor)
            self._waiting.setdefault(plan.path, {})
            changed.append(_KnownRun(steps))
        # Every run can add to the read-write sets, which all runs share. Then the branches change, too.
        if have_grown:
            changed = [*(_KnownRun(run.steps) for run in self._runs), *changed]
            self._runs = []
            self._branches.clear()
        self._runs += changed
        for run in changed:
            self._add_branches(run)
        return True

    def _give_up(self, path: Path) -> None:
        """Drop the branch that begins with the actors of ``path``, and never run it again."""
        self._tries[path] = _TRIES
        self._branches.pop(path, None)

    def _add_branches(self, run: _KnownRun) -> None:
        """Add the branches of a run, which are other orders to try. Drop branches that the run contains."""
        contained = [path for path, branch in self._branches.items() if run.contains(branch.requests)]
        for path in contained:
            del self._branches[path]
        branches = list(run.reversals())
        number, parts = self._part
        if run is self._runs[0] and parts > 1:
            departures = list(run.departures())[number - 1 :: parts]
            self._departures = [run.requests(turns) for turns, _ in departures]
            branches += departures
        for branch, is_paid in branches:
            if not (turns := self._in_part(run, branch)):
                continue
            path, requests = tuple(run.steps[at].actor for at in turns), run.requests(turns)
            is_open = self._tries[path] < _TRIES and path not in self._waiting
            if is_open and not any(other.contains(requests) for other in self._runs):
                self._branches[path] = _Branch(requests, is_paid)

    def _in_part(self, run: _KnownRun, turns: Sequence[int]) -> Sequence[int]:
        """Return the steps of a branch in an order that this part of the search tries.

        The result is empty if there is no such order, because the branch is in another part.
        """
        for requests in self._departures:
            if run.contains(requests, turns):
                first = run.places(requests)
                return [*first, *(at for at in turns if at not in first)]
        return turns if self._part[1] == 1 else ()

    @property
    def _longest(self) -> Sequence[ScheduledTurn]:
        """The steps of the longest run."""
        return max((run.steps for run in self._runs), key=len, default=())

    def estimate(self) -> int | None:
        """Return the number of schedules that are not equivalent, None if there are too many to count.

        The number is exact if each worker always sends the requests that it sent in the longest run, and
        never waits for another worker.
        """
        requests: dict[str, list[Footprint]] = {}
        for step in self._longest:
            requests.setdefault(step.actor, []).append(step.footprint)
        return _count(list(requests.values()))


class _Branch(Struct, frozen=True):
    """An order to try: its requests, and whether it changes the order of a request that pays."""

    requests: list[RequestKey]
    is_paid: bool


class _KnownRun:
    """The steps of a run, with two bit masks for each step: its ``dependencies``, and ``happens_before``."""

    def __init__(self, steps: Sequence[ScheduledTurn]) -> None:
        self.steps = steps
        self._direct = dependencies(steps)
        self._before = happens_before(self._direct)
        self._places = {step.request: at for at, step in enumerate(steps)}

    def requests(self, turns: Iterable[int]) -> list[RequestKey]:
        """Return the requests of the steps with these numbers."""
        return [self.steps[at].request for at in turns]

    def places(self, requests: Iterable[RequestKey]) -> list[int]:
        """Return the numbers of the steps that sent these requests."""
        return [self._places[request] for request in requests]

    def contains(self, requests: Iterable[RequestKey], within: Iterable[int] | None = None) -> bool:
        """Whether a run that is equivalent to this one can begin with ``requests``.

        This is the case if each request comes after its dependencies. With ``within``, only these steps of
        the run count.
        """
        mask = -1 if within is None else sum(1 << at for at in within)
        seen = 0
        for request in requests:
            at = self._places.get(request)
            if at is None or not mask >> at & 1 or self._direct[at] & mask & ~seen:
                return False
            seen |= 1 << at
        return True

    def reversals(self) -> Iterator[tuple[list[int], bool]]:
        """Yield a branch for each race: the later of the two racing steps comes before the earlier one.

        The second value is whether one of the two steps pays.
        """
        for late in range(len(self.steps)):
            for early in range(late):
                if self._is_race(early, late):
                    between = range(early + 1, late)
                    rest = (at for at in between if not self._before[at] >> early & 1)
                    yield [*range(early), *rest, late], self._pays(early) or self._pays(late)

    def _pays(self, at: int) -> bool:
        return self.steps[at].footprint.pays

    def _is_race(self, early: int, late: int) -> bool:
        """Whether two steps conflict, and could also have happened in the other order."""
        if self.steps[early].actor == self.steps[late].actor or not self._direct[late] >> early & 1:
            return False
        if answered_before(self.steps, late) == early:
            return False
        before = self._before
        return not any(before[late] >> at & 1 and before[at] >> early & 1 for at in range(early + 1, late))

    def departures(self) -> Iterator[tuple[list[int], bool]]:
        """Yield the branches that leave this run at one step, where another waiting actor goes first.

        The second value is whether one of the two steps that change places pays.
        """
        for at, step in enumerate(self.steps):
            for actor in step.waiting.keys() - {step.actor}:
                late = next(late for late in range(at, len(self.steps)) if self.steps[late].actor == actor)
                yield [*range(at), late], self._pays(at) or self._pays(late)


def switches(path: Sequence[str]) -> int:
    """Return the number of switches between workers in a schedule."""
    return sum(first != second for first, second in pairwise(path))


def _count(workers: Sequence[Sequence[Footprint]]) -> int | None:
    """Return the number of interleavings that are not equivalent, None if there are too many to count.

    Sleep sets make sure that each class of equivalent interleavings counts once.
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


def order_of(steps: Sequence[ScheduledTurn]) -> str:
    """Return a hash of the requests of a run, and of the order of those that conflict.

    Equivalent runs have the same hash.
    """
    conflicts = (
        (early.request, late.request)
        for at, late in enumerate(steps)
        for early in steps[:at]
        if early.actor != late.actor and early.footprint.conflicts(late.footprint)
    )
    known = sorted(step.request for step in steps), sorted(conflicts)
    return sha256(repr(known).encode()).hexdigest()[:16]


def dependencies(steps: Sequence[ScheduledTurn]) -> list[int]:
    """Return for each step a bit mask of the earlier steps on which it depends directly.

    These are the steps of the same actor, the steps with a conflict, and the step for whose response the
    actor waited.
    """
    masks: list[int] = []
    for late, step in enumerate(steps):
        cause = answered_before(steps, late)
        early = (
            at
            for at, other in enumerate(steps[:late])
            if other.actor == step.actor or at == cause or other.footprint.conflicts(step.footprint)
        )
        masks.append(sum(1 << at for at in early))
    return masks


def happens_before(direct: Sequence[int]) -> list[int]:
    """Return for each step a bit mask of the steps on which it depends, directly or through others.

    ``direct`` are the masks of ``dependencies``.
    """
    before: list[int] = []
    for late, mask in enumerate(direct):
        earlier = (before[at] for at in range(late) if mask >> at & 1)
        before.append(reduce(or_, earlier, mask))
    return before


def answered_before(steps: Sequence[ScheduledTurn], at: int) -> int | None:
    """Return the step whose response came right before the request of step ``at`` arrived.

    That step can be one of another actor. Return None if the request waited from the beginning of the run.
    """
    arrival = next(early for early in range(at, -1, -1) if steps[at].actor in steps[early].arrived)
    return arrival - 1 if arrival else None


def is_serializable(steps: Sequence[ScheduledTurn]) -> bool:
    """Whether a run is equivalent to a run in which the workers run one after another.

    In a turn, a worker sends all its requests in a row. If a worker waits for the response to another worker,
    a new turn begins with its next request. For example, it waits for a lock, or checks the results of the
    other workers at the end.
    """
    before, units, current = happens_before(dependencies(steps)), list[int](), dict[str, int]()
    for at, step in enumerate(steps):
        cause = answered_before(steps, at)
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
