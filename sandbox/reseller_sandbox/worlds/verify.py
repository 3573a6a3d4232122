"""Verification of requests: whether the journal has them, how often, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

from msgspec import Struct

from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.server.secrecy import MASK, is_secret
from reseller_sandbox.values.matching import Match, Miss
from reseller_sandbox.worlds import redact
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.world import World

#: The maximum number of near misses in a verdict.
NEAR = 3

#: The number of characters of each value that are compared to find the most similar requests.
_COMPARED = 60


class NearMiss(Struct, frozen=True):
    """A request that does not match, and the parts that differ."""

    entry: Entry
    misses: tuple[Miss, ...]


class Verdict(Struct, frozen=True):
    """Whether the journal holds the expected requests, and if not, why.

    ``matching`` are the requests that match. ``near`` are the near misses.
    """

    verified: bool
    message: str
    matching: tuple[Entry, ...]
    near: tuple[NearMiss, ...] = ()


def find(world: World, match: Match) -> tuple[Entry, ...]:
    """Return the requests in the journal that match, in the order of their arrival."""
    entries = world.journal.entries
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

    Refuse with ``invalid_parameter`` if the bounds contradict each other.
    """
    if exactly is not None and (least is not None or most is not None):
        raise Refused(INVALID_PARAMETER, problems="times cannot be combined with at_least or at_most")
    low = exactly if exactly is not None else least if least is not None else 0 if most is not None else 1
    high = exactly if exactly is not None else most
    if low < 0 or (high is not None and high < low):
        raise Refused(INVALID_PARAMETER, problems=f"at_least ({low}) is greater than at_most ({high})")
    matching = find(world, match)
    verified = low <= len(matching) and (high is None or len(matching) <= high)
    message = f"{_times(low, high)} expected, {len(matching)} came{_forgotten(world, verified=verified)}"
    near = nearest(match, world.journal) if len(matching) < low else ()
    return Verdict(verified, message, matching, near)


def in_order(world: World, matches: Sequence[Match]) -> Verdict:
    """Check that the journal has requests that match ``matches``, in this order.

    Other requests may be between them.
    """
    entries = world.journal.entries
    matching: list[Entry] = []
    at = 0
    for number, match in enumerate(matches):
        position = next((place for place in range(at, len(entries)) if match(entries[place])), None)
        if position is None:
            after = f" after {matching[-1].id}" if matching else ""
            message = f"the expected request number {number + 1} did not come{after}"
            message += _forgotten(world, verified=False)
            return Verdict(False, message, tuple(matching), nearest(match, entries[at:]))
        matching.append(entries[position])
        at = position + 1
    return Verdict(True, f"all {len(matching)} came in this order", tuple(matching))


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
        secret = is_secret(miss.what.rpartition(".")[2])
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


def _forgotten(world: World, *, verified: bool) -> str:
    dropped = world.journal.dropped
    return f" (the journal has dropped {dropped} older requests)" if dropped and not verified else ""
