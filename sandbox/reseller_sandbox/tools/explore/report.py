"""The result of an exploration: the orders tried, their outcomes, and findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import Any

from msgspec import Struct

from reseller_sandbox.advice.words import plural
from reseller_sandbox.tools.running import Ended

#: Kinds of findings: the program fails, an invariant is violated, or the outcome equals that of no order in
#: which the workers take turns.
FAILED, BROKEN, MIXED = "failed", "broken", "mixed up"

_ABOUT = {
    FAILED: "the program does not end well",
    BROKEN: "an invariant does not hold",
    MIXED: "what is left is left by no order in which the workers go one after the other",
}

#: The most lines of a program's output that are shown.
_SHOWN = 12


class LetThrough(Struct, frozen=True):
    """A request of a run: its actor, its request line, the status, whether refused."""

    actor: str
    asked: str
    status: int
    refused: bool


class ExploredSchedule(Struct, frozen=True):
    """One run: its requests in order, the end of the program, and its changes.

    ``left`` are the changes. ``broken`` are the violated invariants. ``in_turn`` is whether the run is
    equivalent to one in which the workers run one after the other. ``advice`` is the advice about money.
    """

    requests: tuple[LetThrough, ...]
    ended: Ended
    left: Counter[str]
    broken: tuple[str, ...] = ()
    in_turn: bool = True
    advice: tuple[str, ...] = ()

    @property
    def schedule(self) -> str:
        """The actors in the order of their requests, as ``--schedule`` takes them."""
        return " ".join(one.actor for one in self.requests)

    @property
    def simplicity(self) -> tuple[int, int, str]:
        """The sort key of this order: the easiest to follow comes first.

        An order is easier with fewer changes of workers, then with fewer requests.
        """
        actors = [one.actor for one in self.requests]
        switches = sum(one != other for one, other in pairwise(actors))
        return switches, len(actors), self.schedule


class OrderFinding(Struct, frozen=True):
    """A problem in ``count`` orders, of which ``order`` is the easiest to follow.

    ``words`` describe the problem. ``recording`` is the file that replays the run, empty if none was written.
    """

    kind: str
    order: ExploredSchedule
    count: int
    words: tuple[str, ...]
    recording: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the finding as text."""
        yield f"{self.kind}: {_ABOUT[self.kind]} ({plural(self.count, 'order')})"
        yield f'  --schedule "{self.order.schedule}"'
        width = max((len(one.actor) for one in self.order.requests), default=0)
        yield from (f"    {one.actor:<{width}}  {one.asked} → {one.status}" for one in self.order.requests)
        yield from (f"  {line}" for line in self.words)
        if self.recording:
            yield f"  reseller-sandbox recording open {self.recording}"


class Exploration(Struct, frozen=True):
    """The orders that were tried, and the findings.

    ``untried`` is the least number of orders left. ``unmatched`` is the number of orders given up because the
    program took another way in each try.
    """

    orders: Sequence[ExploredSchedule]
    findings: Sequence[OrderFinding]
    untried: int = 0
    unmatched: int = 0

    @property
    def actors(self) -> list[str]:
        """Every worker that sent a request."""
        return sorted({request.actor for order in self.orders for request in order.requests})

    @property
    def never_passes(self) -> bool:
        """Whether the program fails in every order, so that the order is not the cause."""
        return not any(order.ended.passed for order in self.orders)

    def outcomes(self) -> list[tuple[int, ExploredSchedule]]:
        """Return each distinct outcome: the number of orders, and the easiest of them."""
        return [
            (len(group), group[0])
            for group in _groups(self.orders, lambda one: (one.ended.status, frozenset(one.left.items())))
        ]

    @property
    def always(self) -> list[str]:
        """The advice about money that is the same in every order.

        It does not depend on the order, so serial workers get it too.
        """
        first = self.orders[0].advice if self.orders else ()
        return [line for line in first if all(line in one.advice for one in self.orders)]

    @property
    def refused(self) -> list[str]:
        """The requests that are refused in every order, as lines of the report."""
        asked = [
            {(one.actor, one.asked): one.status for one in order.requests if one.refused}
            for order in self.orders
        ]
        return [
            f"{actor} {what} → {status}"
            for (actor, what), status in (asked[0].items() if asked else ())
            if all((actor, what) in one for one in asked)
        ]

    def check(self) -> Exploration:
        """Return this exploration. Raise AssertionError if it has findings."""
        if self.findings:
            raise AssertionError("\n".join(self.lines()))
        return self

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        tried = plural(len(self.orders), "order")
        yield f"{tried} tried, of requests by {', '.join(self.actors) or 'nobody'}"
        if self.untried:
            yield f"at least {plural(self.untried, 'order')} more left untried (--max-runs)"
        if self.unmatched:
            unmatched = plural(self.unmatched, "order")
            yield f"{unmatched} given up: the program went another way than before each time"
        for finding in self.findings:
            yield ""
            yield from finding.lines()
        yield from self._outcomes()
        if not self.findings:
            yield "nothing found"
        yield from (f"in every order tried, by the advice {line}" for line in self.always)
        if self.refused:
            yield f"refused in every order tried: {', '.join(self.refused)}"

    def _outcomes(self) -> Iterator[str]:
        outcomes = self.outcomes()
        if len(outcomes) < 2:
            return
        common = reduce(and_, (order.left for _, order in outcomes))
        yield ""
        yield "It comes out in more than one way, which have the rest in common:"
        for count, order in outcomes:
            yield f'  {plural(count, "order")}, such as "{order.schedule}": {order.ended}'
            yield from (f"    {line}" for line in sorted((order.left - common).elements()))

    def told(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "actors": self.actors,
            "orders": len(self.orders),
            "untried": self.untried,
            "strayed": self.unmatched,
            "always": self.always,
            "refused": self.refused,
            "findings": [
                {
                    "kind": one.kind,
                    "orders": one.count,
                    **_told(one.order),
                    "words": list(one.words),
                    "recording": one.recording or None,
                }
                for one in self.findings
            ],
            "outcomes": [
                {"orders": count, **_told(order), "left": sorted(order.left.elements())}
                for count, order in self.outcomes()
            ],
        }


def _told(order: ExploredSchedule) -> dict[str, Any]:
    requests = [{"actor": one.actor, "request": one.asked, "status": one.status} for one in order.requests]
    return {"schedule": order.schedule, "ended": str(order.ended), "requests": requests}


def found(orders: Sequence[ExploredSchedule]) -> list[OrderFinding]:
    """Return the findings in ``orders``: failed runs, invariants, not serializable."""
    in_turn = [order.left for order in orders if order.in_turn]
    passed = [order for order in orders if order.ended.passed]
    failed = [order for order in orders if not order.ended.passed]
    broken = [order for order in passed if order.broken]
    mixed = [o for o in passed if not o.broken and not o.in_turn and o.left not in in_turn]
    findings = [
        OrderFinding(FAILED, group[0], len(group), tuple(_last(group[0].ended)))
        for group in _groups(failed, lambda one: (one.ended.status, tuple(_last(one.ended))[-1:]))
    ]
    findings += [
        OrderFinding(BROKEN, group[0], len(group), group[0].broken)
        for group in _groups(broken, lambda one: one.broken)
    ]
    findings += [
        OrderFinding(MIXED, group[0], len(group), tuple(_difference(group[0].left, in_turn)))
        for group in _groups(mixed, lambda one: frozenset(one.left.items()))
    ]
    return findings


def _last(ended: Ended) -> Iterator[str]:
    yield str(ended)
    yield from ended.output.strip().splitlines()[-_SHOWN:]


def _difference(left: Counter[str], others: Iterable[Counter[str]]) -> Iterator[str]:
    """Yield the differences between ``left`` and the most similar serial outcome."""
    nearest = min(others, key=lambda other: ((left - other) + (other - left)).total(), default=Counter[str]())
    yield from (f"+ {line}" for line in sorted((left - nearest).elements()))
    yield from (f"- {line}" for line in sorted((nearest - left).elements()))


def _groups(
    orders: Iterable[ExploredSchedule], alike: Callable[[ExploredSchedule], Hashable]
) -> list[list[ExploredSchedule]]:
    """Return the ``alike`` orders in groups.

    The easiest order comes first in each group, and the group with the easiest order comes first.
    """
    groups: defaultdict[Hashable, list[ExploredSchedule]] = defaultdict(list)
    for order in sorted(orders, key=lambda one: one.simplicity):
        groups[alike(order)].append(order)
    return list(groups.values())


class ExplorationReport(Struct, kw_only=True, frozen=True):
    """The report of an exploration of a program, or of one ``test`` of a program.

    ``told`` is the report for programs, ``text`` the report for people. ``problem`` is the reason why nothing
    was explored.
    """

    test: str = ""
    told: Mapping[str, Any] = {}
    text: Sequence[str] = ()
    problem: str = ""

    @classmethod
    def of(cls, found: Exploration, *, test: str = "", problem: str = "") -> ExplorationReport:
        """Return the report of an exploration."""
        return cls(test=test, told=found.told(), text=list(found.lines()), problem=problem)

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """The findings for programs."""
        return list(self.told.get("findings", ()))

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return the tables above the text, of which there are none."""
        return {}

    def lines(self) -> Sequence[str]:
        """Return the report as text."""
        return self.text

    def json(self) -> dict[str, Any]:
        """Return the whole report for programs."""
        test = {"test": self.test} if self.test else {}
        problem = {"problem": self.problem} if self.problem and self.test else {}
        return {**test, **self.told, **problem}
