"""The same reads repeated without a pause."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from datetime import timedelta

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import Record, clock_runs, names, reads
from reseller_sandbox.advice.words import listed, span, times
from reseller_sandbox.worlds import Entry

#: Minimum number of equal reads, with only equally repeated reads in between, ...
READS = 5

#: ... and maximum time from the first to the last, by the world's clock.
WITHIN = timedelta(seconds=2)


# The docstring of the rule names these figures for users.
@rule(Severity.RISK)
def polled_without_pause(record: Record) -> Iterator[Seen]:
    """The same read 5 times in a row, or several in turn, within 2 seconds.
    The rule applies only under a running clock, because a frozen clock shows no pauses.

    Instead:
        Wait between two reads, longer each time. A real service limits the rate of requests, and the expected
        change takes hours or days. In a test, advance the world's clock instead.
    """
    running: dict[str | None, list[Entry]] = {}
    for entry in record.entries:
        run = running.setdefault(entry.account, [])
        if reads(entry) and clock_runs(entry):  # a frozen clock shows no pauses
            if entry.carried_out or entry.refused:  # otherwise a fault stopped it, and the client retries
                run.append(entry)
        else:
            yield from _without_pause(run)
            run.clear()
    for run in running.values():
        yield from _without_pause(run)


def _without_pause(run: list[Entry]) -> Iterable[Seen]:
    """Yield one case with all bursts in a run of reads, if there are any."""
    polls: list[Entry] = []
    end = -1
    for first, last in _bursts(run):
        polls += run[max(first, end + 1) : last + 1]
        end = last
    if not polls:
        return
    took = polls[-1].at - polls[0].at
    asked = list(dict.fromkeys(f"{entry.method} {entry.path}" for entry in polls))
    verb = "were asked in turn" if len(asked) > 1 else "was asked"
    yield Seen(
        polls,
        f"{listed(asked)} {verb} {times(len(polls))} in a row {span(took)}, with nothing else in between.",
        names(*polls),
    )


def _bursts(run: list[Entry]) -> Iterator[tuple[int, int]]:
    """Yield the first and last position of each burst of ``READS`` equal reads.

    All reads in between must belong to such bursts, too. A client that also reads many other things once each
    is not polling.
    """
    latest: dict[tuple[str, str, bytes], deque[int]] = {}
    for at, entry in enumerate(run):
        places = latest.setdefault(_question(entry), deque(maxlen=READS))
        places.append(at)
        if len(places) == READS and entry.at - run[places[0]].at <= WITHIN:
            between = Counter(map(_question, run[places[0] : at + 1]))
            if min(between.values()) >= READS - 1:
                yield places[0], at


def _question(entry: Entry) -> tuple[str, str, bytes]:
    return entry.operation, entry.target, entry.body
