"""The report of an exploration: the schedules that were tried, their outcomes, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from operator import and_
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.reports.findings import Case
from reseller_sandbox.tools.explore.schedules import switches
from reseller_sandbox.tools.report import Report, files_of
from reseller_sandbox.tools.running import NO_REQUEST_SENT
from reseller_sandbox.values.text_checks import plural

#: Kinds of findings, the worst first.
FAILED, VIOLATED, NOT_SERIALIZABLE = "failed", "invariant violated", "not serializable"

_ABOUT = {
    FAILED: "the program fails",
    VIOLATED: "an invariant does not hold",
    NOT_SERIALIZABLE: "the result is not possible if the workers run one after the other",
}


class ReleasedRequest(Struct, frozen=True):
    """A request of a run: its actor, request line and status, and whether the API refused it.

    ``is_named`` is whether the request names its actor in the header ``X-Sandbox-Actor``.
    """

    actor: str
    asked: str
    status: int
    refused: bool
    is_named: bool = True


class ExploredSchedule(Struct, frozen=True, kw_only=True):
    """One run: its requests in order, the end of the program, and the changes that the run made.

    ``order`` is equal for equivalent runs: they have the same requests, and the same order of requests that
    conflict. If the run is a finding, ``kind`` is its kind, ``words`` describe it, and ``recording`` and
    ``page`` are its files. ``advice`` is the advice about money. ``tests`` are the ids of tests that have
    their own worlds, if the program is pytest.
    """

    requests: tuple[ReleasedRequest, ...]
    order: str
    ended: str
    passed: bool
    changes: tuple[str, ...]
    kind: str = ""
    words: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    recording: str | None = None
    page: str | None = None

    @property
    def text(self) -> str:
        """The actors in the order of their requests, as ``--schedule`` takes them."""
        return " ".join(request.actor for request in self.requests)

    @property
    def simplicity(self) -> tuple[int, int, str]:
        """Sort key: schedules with few switches between workers come first, then short schedules."""
        actors = [request.actor for request in self.requests]
        return switches(actors), len(actors), self.text

    @property
    def consequence(self) -> Hashable:
        """A key to group findings: equal for runs with the same problem.

        If the program fails, only the last line of its output counts, because the rest can differ.
        """
        return self.kind, self.ended, self.words[-1:] if self.kind == FAILED else self.words

    def json(self) -> dict[str, Any]:
        """Return the schedule as JSON values."""
        requests = [
            {"actor": request.actor, "request": request.asked, "status": request.status}
            for request in self.requests
        ]
        return {"schedule": self.text, "ended": self.ended, "requests": requests}


class ScheduleFinding(Struct, frozen=True):
    """A problem, the ``count`` of its schedules, and the ``schedule`` with the fewest switches."""

    schedule: ExploredSchedule
    count: int

    @property
    def kind(self) -> str:
        """The kind of the problem: failed, invariant violated, or not serializable."""
        return self.schedule.kind

    @property
    def words(self) -> tuple[str, ...]:
        """The description of the problem, in lines."""
        return self.schedule.words

    def json(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {
            "kind": self.kind,
            "schedules": self.count,
            **self.schedule.json(),
            "words": self.words,
            "recording": self.schedule.recording,
            "page": self.schedule.page,
        }

    def lines(self) -> Iterator[str]:
        """Yield the finding as text."""
        schedule = self.schedule
        yield f"{self.kind}: {_ABOUT[self.kind]} ({plural(self.count, 'schedule')})"
        yield f'  --schedule "{schedule.text}"'
        if guessed := _guessed(schedule.requests):
            yield (
                f"  The names {', '.join(guessed)} are guessed from the connections, and can be wrong. To "
                "name a worker, send X-Sandbox-Actor."
            )
        width = max((len(request.actor) for request in schedule.requests), default=0)
        for request in schedule.requests:
            yield f"    {request.actor:<{width}}  {request.asked} → {request.status}"
        yield from (f"  {line}" for line in (*self.words, *files_of(schedule.recording, schedule.page)))


class Exploration(Report, kw_only=True):
    """The report of an exploration: the schedules that were tried.

    ``untried`` is the estimated number of untried schedules. Unless ``is_counted``, it is a lower bound.
    ``unmatched`` schedules were given up because the program sent other requests in each try.
    ``held_too_long`` schedules were given up because a hold made the program fail. ``patience`` is the limit
    of holds in seconds after such a failure. ``overlapped`` is whether two workers waited at the same time,
    and ``longest`` is the longest hold in seconds. ``senders`` is the number of connections, threads and
    tasks that sent requests. ``locked`` is whether the user expects that the workers act one at a time.
    """

    schedules: list[ExploredSchedule] = field(default_factory=list)
    untried: int = 0
    is_counted: bool = True
    unmatched: int = 0
    held_too_long: int = 0
    patience: float | None = None
    overlapped: bool = True
    longest: float = 0.0
    senders: int = 0
    locked: bool = False

    @property
    def findings(self) -> list[ScheduleFinding]:
        """The problems that were found. The worst kind comes first."""
        groups = _groups((run for run in self.schedules if run.kind), lambda run: run.consequence)
        findings = [ScheduleFinding(group[0], len(group)) for group in groups]
        return sorted(findings, key=lambda finding: [*_ABOUT].index(finding.kind))

    @property
    def actors(self) -> list[str]:
        """The names of the workers that sent a request."""
        return sorted({request.actor for schedule in self.schedules for request in schedule.requests})

    @property
    def never_passes(self) -> bool:
        """Whether the program fails in every schedule. If so, the order of requests is not the cause."""
        return not any(schedule.passed for schedule in self.schedules)

    @property
    def always(self) -> list[str]:
        """The advice about money that appears in every schedule. The order of requests is not its cause."""
        first = self.schedules[0].advice if self.schedules else ()
        return [line for line in first if all(line in schedule.advice for schedule in self.schedules)]

    @property
    def refused(self) -> list[str]:
        """The requests that the API refuses in every schedule, as lines of the report."""
        statuses = [
            {
                (request.actor, request.asked): request.status
                for request in schedule.requests
                if request.refused
            }
            for schedule in self.schedules
        ]
        return [
            f"{actor} {request} → {status}"
            for (actor, request), status in (statuses[0].items() if statuses else ())
            if all((actor, request) in each for each in statuses)
        ]

    @property
    def unexplored(self) -> str:
        """The reason why there is only one order of requests, empty if there are several."""
        if not self.actors:
            return NO_REQUEST_SENT
        if self.overlapped or (self.locked and self.senders > 1):
            return ""
        if self.senders < 2:
            return (
                f"all requests came from one worker, {', '.join(self.actors)}; explore needs several workers "
                "that send requests at the same time, each over its own connection or with its name in the "
                "header X-Sandbox-Actor"
            )
        return (
            "the requests came one at a time, although explore held a request for "
            f"{self.longest:.2g} s; if the workers act under a lock, pass --locked, or if they start apart, "
            "raise --quiet"
        )

    def check(self) -> Exploration:
        """Return this exploration. Raise AssertionError if it has findings, or if nothing was explored."""
        if self.findings or self.unexplored:
            raise AssertionError("\n".join(self.lines()))
        return self

    def with_part(self, other: Exploration) -> Exploration:
        """Return this report joined with ``other``, which has other schedules of the same exploration."""
        parts = self, other
        schedules = {(run.order, run.ended, run.changes): run for part in parts for run in part.schedules}
        left = [len(part.schedules) + part.untried for part in parts if part.untried]
        patience = [part.patience for part in parts if part.patience is not None]
        return replace(
            self,
            problem=self.problem and other.problem,
            schedules=[*schedules.values()],
            untried=max(1, max(left) - len(schedules)) if left else 0,
            is_counted=self.is_counted and other.is_counted,
            unmatched=self.unmatched + other.unmatched,
            held_too_long=self.held_too_long + other.held_too_long,
            patience=min(patience, default=None),
            overlapped=self.overlapped or other.overlapped,
            longest=max(self.longest, other.longest),
            senders=max(self.senders, other.senders),
        )

    def cases(self, program: str) -> list[Case]:
        """Return the findings as cases for JUnit and SARIF."""
        group = self.test or program
        cases = [
            Case(
                group=group,
                name=f"{finding.kind}: {finding.schedule.text}",
                rule=finding.kind,
                problem="\n".join(finding.words),
                page=finding.schedule.page or "",
            )
            for finding in self.findings
        ]
        return cases or [Case(group=group, name="every schedule tried", rule="schedule")]

    def summary(self) -> dict[str, Any]:
        """Return the numbers, findings and outcomes as JSON values."""
        return {
            "actors": self.actors,
            "schedules": len(self.schedules),
            "untried": self.untried,
            "counted": self.is_counted,
            "unmatched": self.unmatched,
            "held_too_long": self.held_too_long,
            "patience": self.patience,
            "unexplored": self.unexplored,
            "always": self.always,
            "refused": self.refused,
            "findings": [finding.json() for finding in self.findings],
            "outcomes": [
                {"schedules": len(group), **group[0].json(), "changes": group[0].changes}
                for group in self._outcomes()
            ],
        }

    def _outcomes(self) -> list[list[ExploredSchedule]]:
        return _groups(self.schedules, lambda run: (run.ended, run.changes))

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        if self.problem and not self.schedules:
            yield f"not explored: {self.problem}"
            return
        tried = plural(len(self.schedules), "schedule")
        yield f"{tried} tried, with requests by {', '.join(self.actors) or 'no worker'}"
        if self.unmatched:
            unmatched = plural(self.unmatched, "schedule")
            yield f"{unmatched} given up: the program sent other requests in each try"
        if self.patience is not None:
            most = f"{self.patience:.2g} s"
            yield f"a request was held too long for the program, so none was held for over {most} after that"
        if self.held_too_long:
            given_up = plural(self.held_too_long, "schedule")
            yield f"{given_up} given up, because it would hold a request longer than the program waits"
        findings = self.findings
        for finding in findings:
            yield ""
            yield from finding.lines()
        yield from self._differences()
        if self.unexplored:
            yield f"nothing was explored: {self.unexplored}"
        elif not findings:
            yield (
                "nothing found"
                if self.overlapped
                else "nothing found: the workers act one at a time (--locked)"
            )
        yield from (f"advice in every schedule tried: {line}" for line in self.always)
        if self.refused:
            yield f"refused in every schedule tried: {', '.join(self.refused)}"
        words = "other orders of the requests" + ("" if self.is_counted else " (at least)")
        yield from self.not_tried([(words, "a larger --max-runs, or --part to share them", self.untried)])

    def _differences(self) -> Iterator[str]:
        """Yield the differences between the outcomes as text. Yield nothing if all outcomes are equal."""
        groups = self._outcomes()
        if len(groups) < 2:
            return
        common = reduce(and_, (Counter(group[0].changes) for group in groups))
        yield ""
        yield "There is more than one outcome. Only these changes differ:"
        for group in groups:
            schedules = plural(len(group), "schedule")
            yield f'  {schedules}, such as "{group[0].text}": {group[0].ended}'
            yield from (f"    {line}" for line in sorted((Counter(group[0].changes) - common).elements()))


def _guessed(requests: Iterable[ReleasedRequest]) -> list[str]:
    """Return the actors with the same name, which only a number such as ``-2`` distinguishes."""
    unnamed = {request.actor for request in requests if not request.is_named}
    bases = {actor.rpartition("-")[0] for actor in unnamed if actor.rpartition("-")[2].isdecimal()}
    return sorted(actor for actor in unnamed if actor in bases or actor.rpartition("-")[0] in bases & unnamed)


#: The beginnings of lines about a result that is not serializable.
_ONLY_HERE, _ONLY_IN_TURNS = "only in this schedule", "only if the workers run one after the other"


def difference(changes: Sequence[str], others: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the differences between ``changes`` and the most similar of ``others``, as lines."""
    mine = Counter(changes)
    nearest = min(
        map(Counter, others), key=lambda other: ((mine - other) + (other - mine)).total(), default=Counter()
    )
    signed = ((_ONLY_HERE, mine - nearest), (_ONLY_IN_TURNS, nearest - mine))
    return tuple(f"{words}: {line}" for words, lines in signed for line in sorted(lines.elements()))


def _groups(
    schedules: Iterable[ExploredSchedule], alike: Callable[[ExploredSchedule], Hashable]
) -> list[list[ExploredSchedule]]:
    """Group schedules by the result of the function ``alike``. In each group, the simplest comes first."""
    groups: dict[Hashable, list[ExploredSchedule]] = {}
    for schedule in sorted(schedules, key=lambda run: run.simplicity):
        groups.setdefault(alike(schedule), []).append(schedule)
    return list(groups.values())
