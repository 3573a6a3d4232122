"""Following: what happens to the registry that a recording began with, under each values it could have had.

A fixture says what was there at first. From then on every request is carried out, one after another, and what
the service answered is held against what comes of it: dates, money and names as well, since they are known. A
*guess* is a state that may have been reached, with the values that lead there. Where an answer rests on an
assumption, a guess goes on as several; those that answer otherwise are dropped, and those that have come to
the same are put together. So what one request does tells of the silence that a later answer shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions, named, watched
from reseller_sandbox.tools.calibrate.bench import (
    UNSEEN,
    Bench,
    Candidates,
    TriedAnswer,
    branches,
    is_locked_out,
)
from reseller_sandbox.tools.calibrate.likeness import LACKING, amount, amounts, differences, pairs
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange, instant
from reseller_sandbox.worlds import Snapshot

#: How many guesses are followed at the most, and how often one request is tried.
_MOST_GUESSES, _MOST_TRIES = 256, 4000

#: How far apart two dates may be that are taken for the same.
_SAME = timedelta(days=1)

#: Some values of some assumptions, by name.
_Values = frozenset[tuple[str, Any]]


class Guess(Struct, frozen=True):
    """A state that the service may have come to, under ``values`` of what has made a difference so far.

    ``owed`` is by how much the service's balance is more than the one here, once that was seen.
    """

    snapshot: Snapshot
    values: _Values = frozenset()
    owed: Decimal | None = None


class FollowedTo(Struct, frozen=True):
    """What following has come to: the values ``left`` of each assumption that it tells, and what told that.

    ``explained`` are the places of the exchanges that a guess explains; ``lost`` is that of the first which
    none does, at which it ended, empty if there is none.
    """

    left: Mapping[str, Sequence[Any]]
    by: Mapping[str, str]
    explained: AbstractSet[str]
    lost: str = ""


class _Lost(Exception):
    """No guess explains an answer, or there are too many guesses, or too much to try."""


def followed(exchanges: Iterable[ObservedExchange], fixture: str, alive: Candidates) -> FollowedTo:
    """Return what exchanges tell of a service that began as a fixture says, of the values ``alive``."""
    return _Following(Bench(fixture), alive).whole(exchanges)


class _Following:
    def __init__(self, bench: Bench, alive: Candidates) -> None:
        self._bench = bench
        self._alive = alive
        self._defaults = Assumptions()
        self._guesses = [Guess(bench.begin)]
        self._by: dict[str, str] = {}

    def whole(self, exchanges: Iterable[ObservedExchange]) -> FollowedTo:
        """Follow the exchanges as far as that goes."""
        lost, explained = "", set[str]()
        for one in exchanges:
            if is_locked_out(one):
                continue
            try:
                self._go_on(one)
            except _Lost:
                lost = one.place
                break
            explained.add(one.place)
        left = {name: self._possible(name) for name in self._by}
        return FollowedTo(left, self._by, explained, lost)

    def _go_on(self, one: ObservedExchange) -> None:
        """Carry out a request in every guess; raise ``_Lost``."""
        tried = [(guess, made) for guess in self._guesses for made in self._tries(guess, one)]
        for strict in (True, False):
            found = [after for guess, made in tried for after in _explaining(guess, one, made, strict)]
            if found:
                break
        else:
            raise _Lost
        guesses = self._together(found)
        if len(guesses) > _MOST_GUESSES:
            raise _Lost
        self._guesses = guesses
        for name in {name for guess in guesses for name, _ in guess.values} - self._by.keys():
            if len(self._possible(name)) < len(self._alive[name]):
                self._by[name] = one.place

    def _possible(self, name: str) -> list[Any]:
        """Return the values of an assumption that some guess allows."""
        found = [dict(guess.values).get(name, LACKING) for guess in self._guesses]
        everything = any(one is LACKING for one in found)
        return [value for value in self._alive[name] if everything or value in found]

    def _tries(self, guess: Guess, one: ObservedExchange) -> list[_CameTo]:
        """Return all that a request can come to in a guess, each with the values that make it so."""
        found: list[_CameTo] = []
        for made, values, _ in branches(
            self._alive, partial(self._tried, guess.snapshot, one), dict(guess.values)
        ):
            found.append(_CameTo(*made, frozenset(values.items())))
            if len(found) > _MOST_TRIES:
                raise _Lost
        return found

    def _tried(
        self, snapshot: Snapshot, one: ObservedExchange, values: Mapping[str, Any]
    ) -> tuple[tuple[TriedAnswer, Snapshot], list[str]]:
        """Let time pass until a request, and carry it out; return what that rests on with the result."""
        read: set[str] = set()
        assumed = self._defaults.with_values(values)
        at = max(one.at, snapshot.clock.instant)
        settled, _ = replace(snapshot, assumptions=watched(assumed, read)).settled(at)
        then = replace(settled.at(at), assumptions=self._defaults)
        answer = self._bench.ask(one, then, values)
        time = [name for name, _ in named(assumed, read)]
        rests_on = [name for name in dict.fromkeys((*time, *answer.rests_on)) if name not in UNSEEN]
        return (answer, replace(self._bench.snapshot_now, assumptions=self._defaults)), rests_on

    def _together(self, guesses: Iterable[Guess]) -> list[Guess]:
        """Return the guesses, with those in one that have come to the same under every value of something."""
        alike: list[tuple[Guess, set[_Values]]] = []
        for one in guesses:
            for first, values in alike:
                if (first.owed, first.snapshot) == (one.owed, one.snapshot):
                    values.add(one.values)
                    break
            else:
                alike.append((one, {one.values}))
        return [replace(first, values=values) for first, found in alike for values in self._widest(found)]

    def _widest(self, found: set[_Values]) -> list[_Values]:
        """Return the same sets of values, without those assumptions whose every value is there."""
        while (wider := self._wider(found)) is not None:
            found = wider
        return sorted(found, key=repr)

    def _wider(self, found: set[_Values]) -> set[_Values] | None:
        """Return these sets with one put in place of several; None where that cannot be."""
        for name in sorted({name for values in found for name, _ in values}):
            rest: dict[_Values, set[Any]] = {}
            for values in found:
                given = dict(values)
                if name in given:
                    value = given.pop(name)
                    rest.setdefault(frozenset(given.items()), set()).add(value)
            for others, seen in rest.items():
                if others in found or seen >= set(self._alive[name]):
                    narrower = {others | {(name, value)} for value in seen}
                    return found - narrower | {others}
        return None


class _CameTo(Struct, frozen=True):
    """What a request has come to: the answer, the moment after it, and the values that it rests on."""

    answer: TriedAnswer
    after: Snapshot
    values: _Values


def _explaining(guess: Guess, one: ObservedExchange, made: _CameTo, strict: bool) -> Iterator[Guess]:
    """Yield the guess that goes on with what was made, if that is what the service has answered.

    Unless ``strict``, the service may show more than the sandbox does.
    """
    told, answer = one.answer, made.answer.answer
    if one.status != made.answer.status or any(amounts(told, answer)) or not _same_facts(told, answer):
        return
    if any(each.hard and (strict or each.made is not LACKING) for each in differences(told, answer)):
        return
    owed = guess.owed
    local_transport, there = _balance(answer), _balance(told)
    if local_transport is not None and there is not None:
        owed = there - local_transport
        if guess.owed not in (None, owed):
            return
    yield Guess(made.after, made.values, owed)


def _same_facts(told: Any, made: Any) -> bool:
    """Whether dates are the same, and the same texts are empty, in the values that both answers have."""
    return all(_is_same(one, other) for _, one, other in pairs(told, made))


def _is_same(told: Any, made: Any) -> bool:
    if not isinstance(told, str) or not isinstance(made, str):
        return True
    local_transport, there = instant(made), instant(told)
    if local_transport is not None and there is not None:
        return abs(local_transport - there) <= _SAME
    return bool(told) == bool(made)


def _balance(answer: Any) -> Decimal | None:
    """Return the balance that an answer shows, None if it shows none."""
    found = (amount(value) for key, value, _ in pairs(answer, answer) if key == "balance")
    return next((one for one in found if one is not None), None)
