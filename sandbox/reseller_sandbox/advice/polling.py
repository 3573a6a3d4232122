"""The same reads repeated without a pause."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account, clock_runs, is_read, names
from reseller_sandbox.advice.words import listed, span, times
from reseller_sandbox.worlds import Entry

#: Minimum number of equal reads, with only equally repeated reads in between, ...
READS = 5

#: ... and maximum time from the first to the last, by the world's clock.
WITHIN = timedelta(seconds=2)


# The docstring of the rule names these figures for users.
@rule(Severity.RISK)
def polled_without_pause(record: Record) -> Iterator[Case]:
    """The same read 5 times in a row, or several in turn, within 2 seconds.
    The rule applies only under a running clock, because a frozen clock shows no pauses.

    Instead:
        Wait between two reads, longer each time. A real service limits the rate of requests, and the expected
        change takes hours or days. In a test, advance the world's clock instead.
    """
    for entries in by_account(record.entries):
        for is_visible, run in groupby(entries, key=lambda entry: is_read(entry) and clock_runs(entry)):
            if is_visible:  # if a fault stopped a request, the client retries, which is not polling
                yield from _without_pause([entry for entry in run if entry.carried_out or entry.refused])


def _without_pause(run: list[Entry]) -> Iterable[Case]:
    """Yield one case with all bursts in a run of reads, if there are any."""
    positions = {at for first, last in _bursts(run) for at in range(first, last + 1)}
    polls = [run[at] for at in sorted(positions)]
    if not polls:
        return
    took = polls[-1].at - polls[0].at
    requests = list(dict.fromkeys(f"{entry.method} {entry.path}" for entry in polls))
    verb = "were sent in turn" if len(requests) > 1 else "was sent"
    yield Case(
        polls,
        f"{listed(requests)} {verb} {times(len(polls))} in a row {span(took)}, without another request in "
        "between.",
        names(*polls),
    )


def _bursts(run: list[Entry]) -> Iterator[tuple[int, int]]:
    """Yield the first and last position of each burst of ``READS`` equal reads.

    All reads in between must belong to such bursts, too. A client that also reads many other things once each
    is not polling.
    """
    latest: dict[tuple[str, str, bytes], deque[int]] = {}
    for at, entry in enumerate(run):
        places = latest.setdefault(_request_key(entry), deque(maxlen=READS))
        places.append(at)
        if len(places) == READS and entry.at - run[places[0]].at <= WITHIN:
            between = Counter(map(_request_key, run[places[0] : at + 1]))
            if min(between.values()) >= READS - 1:
                yield places[0], at


def _request_key(entry: Entry) -> tuple[str, str, bytes]:
    return entry.operation, entry.target, entry.body
