"""Rules about the pace of requests."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import timedelta
from itertools import groupby

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account, clock_runs, names
from reseller_sandbox.advice.words import listed, span, times
from reseller_sandbox.faults.kinds import Error, RateLimit
from reseller_sandbox.refusals import RATE_LIMITED
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
        for is_visible, run in groupby(
            entries, key=lambda entry: record.is_read(entry) and clock_runs(entry)
        ):
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


TOO_MANY_REQUESTS = 429

#: Minimum run of equal requests that were answered 429 and repeated before Retry-After had passed.
TRIES = 3

#: Minimum run of any requests of an account. A client with several workers gets a few at the same time,
#: and under a frozen clock, waiting leaves no trace.
IN_A_ROW = 10


# The docstring of the rule names these figures for users.
@rule(Severity.RISK)
def rate_limit_ignored(record: Record) -> Iterator[Case]:
    """Requests sent before the Retry-After of the previous 429 response had passed:
    the same request 3 times in a row under a running clock, or any 10 requests in a row.

    A short run of different requests may come from many workers, so the rule compares only equal requests
    in short runs.

    Instead:
        Wait for as many seconds as Retry-After says. Without Retry-After, wait longer each time: a real
        service can block your client permanently. In a test, advance the world's clock instead.
    """
    long = list(_runs(record.entries, lambda entry: entry.account, IN_A_ROW))
    reported = {entry.id for run in long for entry in run}
    running = [entry for entry in record.entries if clock_runs(entry) and entry.id not in reported]
    short = _runs(running, lambda entry: (entry.account, entry.method, entry.target, entry.body), TRIES)
    for run in (*long, *short):
        requests = listed(list(dict.fromkeys(f"{entry.method} {entry.path}" for entry in run)))
        took = span(run[-1].at - run[0].at)
        yield Case(
            run,
            f"{requests}: answered with 429 {times(len(run))} in a row {took}, each time before the previous "
            "Retry-After had passed.",
            names(*run),
        )


def _runs(entries: Iterable[Entry], key: Callable[[Entry], Hashable], least: int) -> Iterator[list[Entry]]:
    """Yield the runs of at least ``least`` early requests with 429, by ``key``."""
    runs: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        run = runs.setdefault(key(entry), [])
        limited = entry.status == TOO_MANY_REQUESTS or entry.outcome == RATE_LIMITED.code
        if run and (not limited or entry.at - run[-1].at >= _retry_after(run[-1])):
            if len(run) >= least:
                yield list(run)
            run.clear()
        if limited:
            run.append(entry)
    yield from (run for run in runs.values() if len(run) >= least)


def _retry_after(entry: Entry) -> timedelta:
    """Return the wait that the response asked for.

    Return one second if the response has no Retry-After, or if its limit uses the machine's time.
    """
    seconds = [1]
    for fault in entry.faults:
        if isinstance(fault.kind, RateLimit) and fault.kind.time == "world":
            memory = entry.before.faults.count(fault.name).memory
            seconds.append(fault.kind.left(memory, entry.account, entry.at))
        elif isinstance(fault.kind, Error):
            seconds.append(fault.kind.retry_after or 0)
    return timedelta(seconds=max(seconds))
