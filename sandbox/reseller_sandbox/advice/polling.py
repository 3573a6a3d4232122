"""The same question asked again and again with no pause in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, names, path, reads
from reseller_sandbox.advice.words import span, times
from reseller_sandbox.worlds import Entry

#: So many times the same read, one right after the other, ...
READS = 5

#: ... from the first to the last in no more than this, by the world's clock.
WITHIN = timedelta(seconds=2)


def _polled(record: Record) -> Iterator[Seen]:
    running: dict[str | None, list[Entry]] = {}
    for entry in record.entries:
        run = running.setdefault(entry.account, [])
        if run and not _again(run[-1], entry):
            yield from _without_pause(run)
            run.clear()
        if reads(entry):
            run.append(entry)
    for run in running.values():
        yield from _without_pause(run)


def _again(first: Entry, second: Entry) -> bool:
    return (first.operation, first.target, first.body) == (second.operation, second.target, second.body)


def _without_pause(run: list[Entry]) -> Iterable[Seen]:
    """The part of ``run`` from its first burst to its last."""
    bursts = [
        start for start in range(len(run) - READS + 1) if run[start + READS - 1].at - run[start].at <= WITHIN
    ]
    if not bursts:
        return
    polls = run[bursts[0] : bursts[-1] + READS]
    took = polls[-1].at - polls[0].at
    when = span(took) if took else "while the world's clock did not move"
    yield Seen(
        account=polls[0].account,
        domains=names(polls[0]),
        entries=tuple(entry.id for entry in polls),
        summary=f"{polls[0].method} {path(polls[0])} was asked {times(len(polls))} in a row {when}, "
        "with nothing else in between.",
    )


POLLED_WITHOUT_PAUSE = Rule(
    name="polled_without_pause",
    severity=Severity.RISK,
    about=f"The same read {READS} times in a row "
    f"within {int(WITHIN.total_seconds())} seconds of the world's time.",
    instead="Wait between two looks, longer each time: a real service limits how often it is asked, and what "
    "is waited for takes hours or days. In a test, advance the world's clock in place of waiting.",
    look=_polled,
)
