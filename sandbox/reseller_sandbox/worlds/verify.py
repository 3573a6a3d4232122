"""Verification of requests: whether the journal has them, how often, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple, cast

from msgspec import Struct

from reseller_sandbox.refusals import INVALID_PARAMETER, REQUESTS_DROPPED, Refused
from reseller_sandbox.server.secrecy import MASK
from reseller_sandbox.values.matching import Match, Matching, Miss, Request
from reseller_sandbox.worlds import redact
from reseller_sandbox.worlds.journal import DroppedRequest, Entry, Requests
from reseller_sandbox.worlds.world import World

#: The maximum number of near misses in a verdict.
NEAR = 3

#: The number of characters of each value that are compared to find the most similar requests.
_COMPARED = 60

#: The question that ``count`` answers.
NUMBER = "number of matching requests"

#: The conditions that the totals of dropped requests can answer.
_COUNTED = tuple(name for name in DroppedRequest._fields if name in Matching.__annotations__)


class NearMiss(Struct, frozen=True):
    """A request that does not match, and the parts that differ."""

    entry: Entry
    misses: tuple[Miss, ...]


class Verdict(Struct, frozen=True):
    """Whether the world received the expected requests, and if not, why.

    ``matching`` are the requests in the journal that match. ``count`` is their number, with the dropped
    requests that match for certain. ``near`` are the near misses.
    """

    verified: bool
    message: str
    matching: tuple[Entry, ...]
    count: int
    near: tuple[NearMiss, ...] = ()


class DroppedCount(NamedTuple):
    """The least and the largest possible number of dropped requests that match."""

    least: int
    most: int


def find(world: World, match: Match) -> tuple[Entry, ...]:
    """Return the requests in the journal that match, in the order of their arrival."""
    return _matching(world.journal.entries, match)


def _matching(entries: tuple[Entry, ...], match: Match) -> tuple[Entry, ...]:
    return tuple(filter(match, entries)) if match else entries


def count(
    world: World,
    match: Match,
    *,
    exactly: int | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Verdict:
    """Check how many requests match. Without bounds, expect one or more.

    Refuse with ``invalid_parameter`` if the bounds contradict each other, and with ``requests_dropped`` if
    the result depends on dropped requests.
    """
    if exactly is not None and (least is not None or most is not None):
        raise Refused(INVALID_PARAMETER, problems="times cannot be combined with at_least or at_most")
    low = exactly if exactly is not None else least if least is not None else 0 if most is not None else 1
    high = exactly if exactly is not None else most
    if low < 0 or (high is not None and high < low):
        raise Refused(INVALID_PARAMETER, problems=f"at_least ({low}) is greater than at_most ({high})")
    requests = world.journal.requests
    matching, dropped = _matching(requests.entries, match), count_dropped(requests, match)
    count = len(matching) + dropped.least
    possible = len(matching) + dropped.most
    verified = low <= count and (high is None or possible <= high)
    if not verified and low <= possible and (high is None or count <= high):
        raise unanswerable(world.limits.journal, requests.dropped, NUMBER)
    forgotten = "" if verified else _forgotten(requests)
    if not verified and not requests.entries and not requests.dropped:
        forgotten = "; the journal of this world is empty"
    near = nearest(match, requests.entries) if count < low else ()
    return Verdict(verified, f"{_times(low, high)} expected, {count} came{forgotten}", matching, count, near)


def count_dropped(requests: Requests, match: Match) -> DroppedCount:
    """Count the dropped requests that match, as exactly as the totals of the journal allow."""
    first, since = next(iter(requests.entries), None), match.get("since")
    if first is not None and since is not None:
        # Dropped requests arrived before all requests in the journal.
        is_later = since > first.at if isinstance(since, datetime) else since >= first.number - 1
        if is_later:
            return DroppedCount(0, 0)
    known = Match({name: condition for name, condition in match.items() if name in _COUNTED})
    totals = requests.totals.items()
    possible = sum(times for kind, times in totals if known(cast(Request, kind)))
    # A state file of an earlier version has no totals.
    uncounted = requests.dropped - sum(times for _, times in totals)
    return DroppedCount(possible if len(known) == len(match) else 0, possible + uncounted)


def unanswerable(limit: int, dropped: int, question: str) -> Refused:
    """Return the refusal of a question whose answer depends on dropped requests."""
    counted = ", ".join(_COUNTED)
    return Refused(REQUESTS_DROPPED, limit=limit, dropped=dropped, question=question, counted=counted)


def in_order(world: World, matches: Sequence[Match]) -> Verdict:
    """Check that the journal has requests that match ``matches``, in this order.

    Other requests may be between them. Refuse with ``requests_dropped`` if dropped requests could be the
    first of them.
    """
    requests = world.journal.requests
    entries = requests.entries
    matching: list[Entry] = []
    at = 0
    for number, match in enumerate(matches):
        position = next((place for place in range(at, len(entries)) if match(entries[place])), None)
        if position is None:
            if count_dropped(requests, matches[0]).most:
                raise unanswerable(world.limits.journal, requests.dropped, "order of these requests")
            after = f" after {matching[-1].id}" if matching else ""
            message = f"the expected request number {number + 1} did not come{after}"
            message += _forgotten(requests)
            near = nearest(match, entries[at:])
            return Verdict(False, message, tuple(matching), len(matching), near)
        matching.append(entries[position])
        at = position + 1
    count = len(matching)
    return Verdict(True, f"all {count} came in this order", tuple(matching), count)


def nearest(match: Match, entries: Iterable[Entry]) -> tuple[NearMiss, ...]:
    """Return the requests that differ from ``match`` in the fewest parts, at most ``NEAR``.

    Requests with the same operation come first. Among equal numbers of misses, the most similar request comes
    first, and then the latest.
    """
    misses = [NearMiss(entry, tuple(_shown(match, entry))) for entry in entries]
    wrong = [miss for miss in reversed(misses) if miss.misses]
    return tuple(islice(sorted(wrong, key=_distance), NEAR))


def _shown(match: Match, entry: Entry) -> Iterator[Miss]:
    """Yield the parts in which ``entry`` differs from ``match``, with secrets masked."""
    for miss in match.misses(entry):
        if entry.body_size is not None and miss.what.startswith("body."):
            yield Miss("body", "a body that the journal keeps whole", f"{entry.body_size} bytes")
            return
        secret = entry.secrecy.is_secret(miss.what.rpartition(".")[2])
        expected, actual = (MASK, miss.actual and MASK) if secret else (miss.expected, miss.actual)
        yield Miss(miss.what, redact.plain(expected), redact.plain(actual))


def _distance(miss: NearMiss) -> tuple[bool, int, float]:
    other = any(part.what == "operation" for part in miss.misses)
    return other, len(miss.misses), sum(map(_unlikeness, miss.misses))


def _unlikeness(miss: Miss) -> float:
    expected, actual = (str(value)[:_COMPARED] for value in (miss.expected, miss.actual))
    return 1 - SequenceMatcher(None, expected, actual, autojunk=False).ratio()


def _times(low: int, high: int | None) -> str:
    if low == high:
        return f"exactly {low}"
    if high is None:
        return f"at least {low}"
    return f"at most {high}" if low == 0 else f"between {low} and {high}"


def _forgotten(requests: Requests) -> str:
    return f" (the journal has dropped {requests.dropped} older requests)" if requests.dropped else ""
