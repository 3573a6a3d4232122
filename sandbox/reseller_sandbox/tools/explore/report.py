"""The result of an exploration: the schedules tried, their outcomes, and findings."""

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

#: Kinds of findings.
FAILED, VIOLATED, NOT_SERIALIZABLE = "failed", "invariant violated", "not serializable"

_ABOUT = {
    FAILED: "the program fails",
    VIOLATED: "an invariant does not hold",
    NOT_SERIALIZABLE: "the result is not possible if the workers run one after the other",
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

    ``violations`` are the violated invariants. ``is_serial`` is whether the run is equivalent to one in which
    the workers run one after the other. ``advice`` is the advice about money.
    """

    requests: tuple[LetThrough, ...]
    ended: Ended
    changes: Counter[str]
    violations: tuple[str, ...] = ()
    is_serial: bool = True
    advice: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The actors in the order of their requests, as ``--schedule`` takes them."""
        return " ".join(request.actor for request in self.requests)

    @property
    def simplicity(self) -> tuple[int, int, str]:
        """The sort key of this schedule: the easiest to follow comes first.

        A schedule is easier with fewer changes of workers, then with fewer requests.
        """
        actors = [request.actor for request in self.requests]
        switches = sum(first != second for first, second in pairwise(actors))
        return switches, len(actors), self.text


class ScheduleFinding(Struct, frozen=True):
    """A problem in ``count`` schedules, of which ``schedule`` is the easiest to follow.

    ``words`` describe the problem. ``recording`` is the file that replays the run, empty if none was written.
    """

    kind: str
    schedule: ExploredSchedule
    count: int
    words: tuple[str, ...]
    recording: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the finding as text."""
        yield f"{self.kind}: {_ABOUT[self.kind]} ({plural(self.count, 'schedule')})"
        yield f'  --schedule "{self.schedule.text}"'
        requests = self.schedule.requests
        width = max((len(request.actor) for request in requests), default=0)
        yield from (
            f"    {request.actor:<{width}}  {request.asked} → {request.status}" for request in requests
        )
        yield from (f"  {line}" for line in self.words)
        if self.recording:
            yield f"  reseller-sandbox recording open {self.recording}"


class Exploration(Struct, frozen=True):
    """The schedules that were tried, and the findings.

    ``untried`` is the least number of schedules left. ``unmatched`` is the number of schedules given up
    because the program sent other requests in each try.
    """

    schedules: Sequence[ExploredSchedule]
    findings: Sequence[ScheduleFinding]
    untried: int = 0
    unmatched: int = 0

    @property
    def actors(self) -> list[str]:
        """Every worker that sent a request."""
        return sorted({request.actor for schedule in self.schedules for request in schedule.requests})

    @property
    def never_passes(self) -> bool:
        """Whether the program fails in every schedule, so that the schedule is not the cause."""
        return not any(schedule.ended.passed for schedule in self.schedules)

    def outcomes(self) -> list[tuple[int, ExploredSchedule]]:
        """Return each distinct outcome: the number of schedules, and the easiest of them."""
        return [
            (len(group), group[0])
            for group in _groups(
                self.schedules, lambda run: (run.ended.status, frozenset(run.changes.items()))
            )
        ]

    @property
    def always(self) -> list[str]:
        """The advice about money that is the same in every schedule.

        It does not depend on the schedule, so serial workers get it too.
        """
        first = self.schedules[0].advice if self.schedules else ()
        return [line for line in first if all(line in schedule.advice for schedule in self.schedules)]

    @property
    def refused(self) -> list[str]:
        """The requests that are refused in every schedule, as lines of the report."""
        asked = [
            {
                (request.actor, request.asked): request.status
                for request in schedule.requests
                if request.refused
            }
            for schedule in self.schedules
        ]
        return [
            f"{actor} {what} → {status}"
            for (actor, what), status in (asked[0].items() if asked else ())
            if all((actor, what) in statuses for statuses in asked)
        ]

    def check(self) -> Exploration:
        """Return this exploration. Raise AssertionError if it has findings."""
        if self.findings:
            raise AssertionError("\n".join(self.lines()))
        return self

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        tried = plural(len(self.schedules), "schedule")
        yield f"{tried} tried, with requests by {', '.join(self.actors) or 'no worker'}"
        if self.untried:
            yield f"at least {plural(self.untried, 'schedule')} not tried (--max-runs)"
        if self.unmatched:
            unmatched = plural(self.unmatched, "schedule")
            yield f"{unmatched} given up: the program sent other requests in each try"
        for finding in self.findings:
            yield ""
            yield from finding.lines()
        yield from self._outcomes()
        if not self.findings:
            yield "nothing found"
        yield from (f"advice in every schedule tried: {line}" for line in self.always)
        if self.refused:
            yield f"refused in every schedule tried: {', '.join(self.refused)}"

    def _outcomes(self) -> Iterator[str]:
        outcomes = self.outcomes()
        if len(outcomes) < 2:
            return
        common = reduce(and_, (schedule.changes for _, schedule in outcomes))
        yield ""
        yield "There is more than one outcome. Only these changes differ:"
        for count, schedule in outcomes:
            yield f'  {plural(count, "schedule")}, such as "{schedule.text}": {schedule.ended}'
            yield from (f"    {line}" for line in sorted((schedule.changes - common).elements()))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "actors": self.actors,
            "schedules": len(self.schedules),
            "untried": self.untried,
            "unmatched": self.unmatched,
            "always": self.always,
            "refused": self.refused,
            "findings": [
                {
                    "kind": finding.kind,
                    "schedules": finding.count,
                    **_schedule_json(finding.schedule),
                    "words": list(finding.words),
                    "recording": finding.recording or None,
                }
                for finding in self.findings
            ],
            "outcomes": [
                {
                    "schedules": count,
                    **_schedule_json(schedule),
                    "changes": sorted(schedule.changes.elements()),
                }
                for count, schedule in self.outcomes()
            ],
        }


def _schedule_json(schedule: ExploredSchedule) -> dict[str, Any]:
    requests = [
        {"actor": request.actor, "request": request.asked, "status": request.status}
        for request in schedule.requests
    ]
    return {"schedule": schedule.text, "ended": str(schedule.ended), "requests": requests}


def findings_in(schedules: Sequence[ExploredSchedule]) -> list[ScheduleFinding]:
    """Return the findings: failed runs, violated invariants, runs that are not serializable."""
    serial = [run.changes for run in schedules if run.is_serial]
    passed = [run for run in schedules if run.ended.passed]
    failed = [run for run in schedules if not run.ended.passed]
    violated = [run for run in passed if run.violations]
    mixed = [run for run in passed if not (run.violations or run.is_serial or run.changes in serial)]
    findings = [
        ScheduleFinding(FAILED, group[0], len(group), tuple(_last(group[0].ended)))
        for group in _groups(failed, lambda run: (run.ended.status, tuple(_last(run.ended))[-1:]))
    ]
    findings += [
        ScheduleFinding(VIOLATED, group[0], len(group), group[0].violations)
        for group in _groups(violated, lambda run: run.violations)
    ]
    findings += [
        ScheduleFinding(NOT_SERIALIZABLE, group[0], len(group), tuple(_difference(group[0].changes, serial)))
        for group in _groups(mixed, lambda run: frozenset(run.changes.items()))
    ]
    return findings


def _last(ended: Ended) -> Iterator[str]:
    yield str(ended)
    yield from ended.output.strip().splitlines()[-_SHOWN:]


def _difference(changes: Counter[str], others: Iterable[Counter[str]]) -> Iterator[str]:
    """Yield the differences between ``changes`` and the most similar serial outcome."""
    nearest = min(
        others, key=lambda other: ((changes - other) + (other - changes)).total(), default=Counter[str]()
    )
    yield from (f"+ {line}" for line in sorted((changes - nearest).elements()))
    yield from (f"- {line}" for line in sorted((nearest - changes).elements()))


def _groups(
    schedules: Iterable[ExploredSchedule], alike: Callable[[ExploredSchedule], Hashable]
) -> list[list[ExploredSchedule]]:
    """Return the ``alike`` schedules in groups.

    The easiest schedule comes first in each group, and the group with the easiest one comes first.
    """
    groups: defaultdict[Hashable, list[ExploredSchedule]] = defaultdict(list)
    for schedule in sorted(schedules, key=lambda run: run.simplicity):
        groups[alike(schedule)].append(schedule)
    return list(groups.values())


class ExplorationReport(Struct, kw_only=True, frozen=True):
    """The report of an exploration of a program, or of one ``test`` of a program.

    ``data`` is the report for programs, ``text`` the report for people. ``problem`` is the reason why nothing
    was explored.
    """

    test: str = ""
    data: Mapping[str, Any] = {}
    text: Sequence[str] = ()
    problem: str = ""

    @classmethod
    def of(cls, exploration: Exploration, *, test: str = "", problem: str = "") -> ExplorationReport:
        """Return the report of an exploration."""
        return cls(test=test, data=exploration.to_json(), text=list(exploration.lines()), problem=problem)

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """The findings for programs."""
        return list(self.data.get("findings", ()))

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
        return {**test, **self.data, **problem}
