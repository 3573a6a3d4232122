"""The result of an exploration: the schedules tried, their outcomes, and findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_
from typing import Any

from msgspec import Struct

from reseller_sandbox.reports.findings import Case
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.values.text_checks import plural

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
    ``page`` describes the finding in HTML.
    """

    kind: str
    schedule: ExploredSchedule
    count: int
    words: tuple[str, ...]
    recording: str = ""
    page: str = ""


class Exploration(Struct, frozen=True):
    """The schedules that were tried, and the findings.

    ``untried`` is the estimated number of schedules left, a lower bound unless ``is_counted``. ``unmatched``
    is the number of schedules given up because the program sent other requests in each try.
    ``held_too_long`` is the number given up because holding a request made the program fail, and ``patience``
    the seconds for which a request is held at most since. ``overlapped`` is whether two workers waited at the
    same time, and ``longest`` the longest hold in seconds.
    """

    schedules: Sequence[ExploredSchedule]
    findings: Sequence[ScheduleFinding]
    untried: int = 0
    is_counted: bool = True
    unmatched: int = 0
    held_too_long: int = 0
    patience: float | None = None
    overlapped: bool = True
    longest: float = 0.0

    @property
    def actors(self) -> list[str]:
        """Every worker that sent a request."""
        return sorted({request.actor for schedule in self.schedules for request in schedule.requests})

    @property
    def never_passes(self) -> bool:
        """Whether the program fails in every schedule, so that the schedule is not the cause."""
        return not any(schedule.ended.passed for schedule in self.schedules)

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
        if self.overlapped:
            return ""
        if len(self.actors) < 2:
            return (
                f"all requests came from one worker, {', '.join(self.actors)}; name each worker in the "
                "header X-Sandbox-Actor, or let each open its own connection"
            )
        return (
            f"no two workers waited at the same time, although a request was held for {self.longest:.1f} s; "
            "the program sends the requests one after the other, for example under a lock, or its workers "
            "start further apart (raise --quiet)"
        )

    def check(self) -> Exploration:
        """Return this exploration. Raise AssertionError if it has findings."""
        if self.findings:
            raise AssertionError("\n".join(self.lines()))
        return self

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        return lines(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        outcomes = _groups(self.schedules, lambda run: (run.ended.status, frozenset(run.changes.items())))
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
            "findings": [
                {
                    "kind": finding.kind,
                    "schedules": finding.count,
                    **_schedule_json(finding.schedule),
                    "words": list(finding.words),
                    "recording": finding.recording or None,
                    "page": finding.page or None,
                }
                for finding in self.findings
            ],
            "outcomes": [
                {
                    "schedules": len(group),
                    **_schedule_json(group[0]),
                    "changes": sorted(group[0].changes.elements()),
                }
                for group in outcomes
            ],
        }


def _schedule_json(schedule: ExploredSchedule) -> dict[str, Any]:
    requests = [
        {"actor": request.actor, "request": request.asked, "status": request.status}
        for request in schedule.requests
    ]
    return {"schedule": schedule.text, "ended": str(schedule.ended), "requests": requests}


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a report in JSON as text."""
    tried = plural(data["schedules"], "schedule")
    yield f"{tried} tried, with requests by {', '.join(data['actors']) or 'no worker'}"
    if data["untried"]:
        about = "about" if data["counted"] else "at least"
        yield f"{about} {plural(data['untried'], 'schedule')} not tried (--max-runs)"
    if data["unmatched"]:
        unmatched = plural(data["unmatched"], "schedule")
        yield f"{unmatched} given up: the program sent other requests in each try"
    if data["patience"] is not None:
        seconds = f"{data['patience']:.1f} s"
        yield f"a request was held too long for the program, so none was held for over {seconds} after that"
    if data["held_too_long"]:
        given_up = plural(data["held_too_long"], "schedule")
        yield f"{given_up} given up, because it would hold a request longer than the program waits"
    for finding in data["findings"]:
        yield ""
        yield f"{finding['kind']}: {_ABOUT[finding['kind']]} ({plural(finding['schedules'], 'schedule')})"
        yield f'  --schedule "{finding["schedule"]}"'
        width = max((len(request["actor"]) for request in finding["requests"]), default=0)
        for request in finding["requests"]:
            yield f"    {request['actor']:<{width}}  {request['request']} → {request['status']}"
        yield from (f"  {line}" for line in finding["words"])
        if finding["recording"]:
            yield f"  reseller-sandbox recording open {finding['recording']}"
        if finding["page"]:
            yield f"  page: {finding['page']}"
    yield from _outcomes(data["outcomes"])
    if data["unexplored"]:
        yield f"nothing was explored: {data['unexplored']}"
    elif not data["findings"]:
        yield "nothing found"
    yield from (f"advice in every schedule tried: {line}" for line in data["always"])
    if data["refused"]:
        yield f"refused in every schedule tried: {', '.join(data['refused'])}"


def _outcomes(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(outcomes) < 2:
        return
    changes = [Counter(outcome["changes"]) for outcome in outcomes]
    common = reduce(and_, changes)
    yield ""
    yield "There is more than one outcome. Only these changes differ:"
    for outcome, own in zip(outcomes, changes, strict=True):
        schedules = plural(outcome["schedules"], "schedule")
        yield f'  {schedules}, such as "{outcome["schedule"]}": {outcome["ended"]}'
        yield from (f"    {line}" for line in sorted((own - common).elements()))


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

    ``data`` is the report for programs. ``problem`` is the reason why nothing was explored.
    """

    test: str = ""
    data: Mapping[str, Any] = {}
    problem: str = ""

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """The findings for programs."""
        return list(self.data.get("findings", ()))

    def cases(self, program: str) -> list[Case]:
        """Return the findings for JUnit and SARIF. ``program`` is their group if there is no test."""
        group = self.test or program
        cases = [
            Case(
                group=group,
                name=f"{finding['kind']}: {finding['schedule']}",
                rule=finding["kind"],
                problem="\n".join(finding["words"]),
                page=finding["page"] or "",
            )
            for finding in self.findings
        ]
        return cases or [Case(group=group, name="every schedule tried", rule="schedule")]

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """Return the tables above the text, of which there are none."""
        return {}

    def lines(self) -> Sequence[str]:
        """Return the report as text."""
        return list(lines(self.data)) if self.data else [f"not explored: {self.problem}"]

    def json(self) -> dict[str, Any]:
        """Return the whole report for programs."""
        test = {"test": self.test} if self.test else {}
        problem = {"problem": self.problem} if self.problem and self.test else {}
        return {**test, **self.data, **problem}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExplorationReport:
        """Return the report that ``json`` wrote."""
        rest = {key: value for key, value in data.items() if key not in ("test", "problem")}
        return cls(test=data.get("test", ""), data=rest, problem=data.get("problem", ""))


#: The numbers that the parts of an exploration add up.
_SUMS = ("schedules", "unmatched", "held_too_long")


def merged(reports: Sequence[ExplorationReport]) -> ExplorationReport:
    """Return the reports on the parts of one exploration as one report."""
    parts = [report.data for report in reports if report.data]
    if len(parts) < 2:
        return next((report for report in reports if report.data), reports[0])
    sums = {key: sum(part[key] for part in parts) for key in _SUMS}
    totals = [part["schedules"] + part["untried"] for part in parts if part["untried"]]
    patience = [part["patience"] for part in parts if part["patience"] is not None]
    data = {
        **parts[0],
        **sums,
        "actors": sorted({actor for part in parts for actor in part["actors"]}),
        "untried": max(1, max(totals) - sums["schedules"]) if totals else 0,
        "counted": all(part["counted"] for part in parts),
        "patience": min(patience, default=None),
        "unexplored": "" if any(not part["unexplored"] for part in parts) else parts[0]["unexplored"],
        **{
            key: [line for line in parts[0][key] if all(line in part[key] for part in parts)]
            for key in ("always", "refused")
        },
        "findings": _added_up([finding for part in parts for finding in part["findings"]], "kind", "words"),
        "outcomes": _added_up(
            [outcome for part in parts for outcome in part["outcomes"]], "ended", "changes"
        ),
    }
    problem = next((report.problem for report in reports if report.problem), "")
    return ExplorationReport(test=reports[0].test, data=data, problem=problem)


def _added_up(entries: Sequence[Mapping[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """Return one entry for those that agree in ``keys``, with the sum of their schedules."""
    alike: dict[str, dict[str, Any]] = {}
    for entry in entries:
        key = repr([entry[name] for name in keys])
        first = alike.setdefault(key, {**entry, "schedules": 0})
        first["schedules"] += entry["schedules"]
    return list(alike.values())
