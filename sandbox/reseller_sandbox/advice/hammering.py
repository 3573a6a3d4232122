"""Requests that were sent on and on although the service had asked to wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import Record, clock_runs, names
from reseller_sandbox.advice.words import span, times
from reseller_sandbox.core.refusals import RATE_LIMITED
from reseller_sandbox.worlds import Entry

TOO_MANY_REQUESTS = 429

#: So many times the same request was refused for coming too soon, ...
TRIES = 3

#: ... each less than this after the one before: nobody is told to come back in less than a second.
PAUSE = timedelta(seconds=1)


@rule(
    Severity.RISK,
    about=f"The same request {TRIES} times in a row answered 429, with less than a second of a running "
    "clock in between.",
    instead="Wait for as many seconds as Retry-After says, and longer each time where it says nothing: a "
    "real service shuts out for good who does not.",
)
def rate_limit_ignored(record: Record) -> Iterator[Seen]:
    """Yield the requests that were sent again at once each time they were answered 429.

    Each request counts by itself: those of an account may come from many workers.
    """
    running: dict[tuple[str | None, str, str, bytes], list[Entry]] = {}
    for entry in record.entries:
        run = running.setdefault((entry.account, entry.method, entry.target, entry.body), [])
        told = entry.status == TOO_MANY_REQUESTS or entry.outcome == RATE_LIMITED.code
        if run and (not told or entry.at - run[-1].at >= PAUSE):
            yield from _seen(run)
            run.clear()
        if told and clock_runs(entry):  # a clock that stands still shows no pauses
            run.append(entry)
    for run in running.values():
        yield from _seen(run)


def _seen(run: list[Entry]) -> Iterable[Seen]:
    if len(run) < TRIES:
        return
    first, last = run[0], run[-1]
    yield Seen(
        list(run),
        f"{first.method} {first.path} was answered 429 {times(len(run))} in a row "
        f"{span(last.at - first.at)}, and sent again at once each time.",
        names(first),
    )
