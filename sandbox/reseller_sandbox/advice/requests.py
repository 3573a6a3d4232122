"""Rules about the parameters, the credentials and the pace of requests."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import timedelta
from itertools import groupby
from urllib.parse import parse_qsl

from reseller_sandbox.advice.finding import (
    Case,
    Record,
    Severity,
    by_account,
    clock_runs,
    listed,
    names,
    renewals,
    rule,
    span,
    times,
)
from reseller_sandbox.refusals import MISSING_PARAMETER, RATE_LIMITED
from reseller_sandbox.values.text_checks import plural
from reseller_sandbox.worlds import UNCHECKED, Entry


@rule(Severity.RISK)
def renewed_without_guard(record: Record) -> Iterator[Case]:
    """A renewal without the parameter that prevents a second renewal, such as current_expiry_date.
    Operations without such a parameter are not checked.

    Instead:
        Read the name's expiry date, and send it in that parameter with the renewal.
    """
    for operation in record.operations.values():
        requests = (entry for entry in record.entries if entry.operation == operation.id and operation.guard)
        for entries in by_account(entry for entry in requests if _is_unguarded(entry, operation.guard)):
            refused = sum(entry.refused is not None for entry in entries)
            outcome = f", {refused} of them refused because of that" if refused else ""
            yield Case(
                entries,
                f"{plural(len(entries), 'renewal')} in {operation.label} without {operation.guard}{outcome} "
                f"({listed(names(*entries))}). If the service accepts such a renewal and the client repeats "
                "the renewal after a lost answer, the service charges twice.",
            )


def _is_unguarded(entry: Entry, guard: str) -> bool:
    body = entry.json
    if body is None:
        body = dict(parse_qsl(entry.body.decode("utf-8", "replace")))
    if isinstance(body, dict) and body.get(guard):
        return False
    return bool(renewals(entry)) or (entry.refused is not None and entry.refused.rule is MISSING_PARAMETER)


#: A query parameter contains credentials if its name is one of these, or ends with one of these. This is true
#: even if the service does not read the parameter.
NAMES = ("APIKEY", "SIGNATURE", "AUTH-TOKEN")


@rule(Severity.RISK)
def credentials_in_query(record: Record) -> Iterator[Case]:
    """Credentials sent in the query string.

    Instead:
        Send the key and the signature, or the token, as headers.
    """
    for entries in by_account(filter(_has_credentials, record.entries)):
        operations = sorted({entry.operation for entry in entries})
        yield Case(
            entries,
            f"{plural(len(entries), 'request')} ({listed(operations)}) had credentials in the "
            "query string. Proxies, servers and browsers log URLs.",
            domains=(),
        )


def _has_credentials(entry: Entry) -> bool:
    return entry.credentials_in_query or any(name.upper().endswith(NAMES) for name, _ in entry.query)


@rule(Severity.RISK)
def keys_ignored(record: Record) -> Iterator[Case]:
    """Keys in a body or a query that have no effect on the operation.

    Instead:
        Remove the key, or spell it as in the contract.
    """
    by_key: dict[tuple[str | None, str, str], list[Entry]] = {}
    for entry in record.entries:
        for key in entry.ignored:
            if f"; {UNCHECKED}" not in key:
                by_key.setdefault((entry.account, entry.operation, key), []).append(entry)
    for (_, operation, key), entries in by_key.items():
        name, _, reason = key.partition("; ")
        near = reason.removeprefix("nearest ")
        hint = f"; did you mean {near}?" if near != reason else f": {reason}." if reason else "."
        about = f" ({listed(names(*entries))})" if names(*entries) else ""
        yield Case(
            entries,
            f"{plural(len(entries), 'request')} of {operation}{about} sent {name}, which had no effect{hint}",
        )


#: Polling is this many equal reads, with only repeated reads in between, within this time of the world's
#: clock. The docstring of the rule names both figures for users.
READS, WITHIN = 5, timedelta(seconds=2)


@rule(Severity.RISK)
def polled_without_pause(record: Record) -> Iterator[Case]:
    """The same read sent 5 times within 2 seconds, alone or in turn with other repeated reads.
    The rule applies only under a running clock, because a frozen clock shows no pauses.

    Instead:
        Wait between two reads, longer each time. A real service limits the rate of requests, and the expected
        change takes hours or days. In a test, advance the world's clock instead.
    """
    for entries in by_account(record.entries):
        for is_visible, run in groupby(
            entries, key=lambda entry: record.is_read(entry) and clock_runs(entry)
        ):
            if is_visible:  # a retry after a fault is not polling
                yield from _without_pause([entry for entry in run if entry.carried_out or entry.refused])


def _without_pause(run: list[Entry]) -> Iterable[Case]:
    """Yield one case with all bursts of equal reads in a run of reads. Yield nothing without a burst."""
    positions = {at for first, last in _bursts(run) for at in range(first, last + 1)}
    polls = [run[at] for at in sorted(positions)]
    if not polls:
        return
    took = polls[-1].at - polls[0].at
    verb = "were sent in turn" if len({(entry.method, entry.path) for entry in polls}) > 1 else "was sent"
    yield Case(
        polls,
        f"{_paths(polls)} {verb} {times(len(polls))} in a row {span(took)}, without another request in "
        "between.",
    )


def _paths(entries: Iterable[Entry]) -> str:
    return listed(f"{entry.method} {entry.path}" for entry in entries)


def _bursts(run: list[Entry]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last position of each burst of equal reads (``READS`` in ``WITHIN``).

    Each read in between must be repeated as often, or once less. A client that reads many different pages in
    between is not polling.
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

#: The shortest run of equal requests that the rule reports. Each got a 429 response and came before the
#: previous Retry-After had passed.
TRIES = 3

#: The shortest run of different requests that the rule reports for an account. It is longer than ``TRIES``: a
#: client with several workers gets a few 429 responses at the same time, and under a frozen clock, waiting
#: leaves no trace. The docstring of the rule names both figures for users.
IN_A_ROW = 10


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
        took = span(run[-1].at - run[0].at)
        yield Case(
            run,
            f"{_paths(run)}: answered with 429 {times(len(run))} in a row {took}, each time before the "
            "previous Retry-After had passed.",
        )


def _runs(entries: Iterable[Entry], key: Callable[[Entry], Hashable], least: int) -> Iterator[list[Entry]]:
    """Yield, for each ``key``, the runs of ``least`` or more requests that got 429 and did not wait."""
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
    """Return the time to wait after a 429 response: its Retry-After, or one second without Retry-After."""
    seconds = entry.answer_headers.get("Retry-After", "")
    return timedelta(seconds=max(int(seconds), 1) if seconds.isdecimal() else 1)
