"""Following: the registry after a fixture, under all assumption values.

The fixture is the registry before the first exchange. Every request is then carried out in order, and the
service's answer is compared with the sandbox's, including dates, money and names. A *guess* is a possible
state with the values that lead to the state. If an answer depends on an assumption, a guess splits into
several. Guesses with another answer are dropped, and guesses with the same state are merged. So a later
answer can determine an assumption that an earlier request depended on.
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

#: The most guesses to follow, and the most tries of one request.
_MOST_GUESSES, _MOST_TRIES = 256, 4000

#: The largest difference between dates that count as equal.
_SAME = timedelta(days=1)

#: Some values of some assumptions, by name.
_Values = frozenset[tuple[str, Any]]


class Guess(Struct, frozen=True):
    """A possible state of the service, under ``values`` of the used assumptions.

    ``owed`` is the service's balance minus the sandbox's, None until the balance was observed.
    """

    snapshot: Snapshot
    values: _Values = frozenset()
    owed: Decimal | None = None


class FollowedTo(Struct, frozen=True):
    """The result of following: the values ``left`` by assumption.

    ``by`` are the exchanges that ruled values out, by assumption. ``explained`` are the places of the
    exchanges that a guess explains. ``lost`` is the place of the first exchange that no guess explains, where
    following stopped. It is empty if there is none.
    """

    left: Mapping[str, Sequence[Any]]
    by: Mapping[str, str]
    explained: AbstractSet[str]
    lost: str = ""


class _Lost(Exception):
    """No guess explains an answer, or there are too many guesses or tries."""


def followed(exchanges: Iterable[ObservedExchange], fixture: str, alive: Candidates) -> FollowedTo:
    """Return the values of ``alive`` that explain exchanges after a fixture."""
    return _Following(Bench(fixture), alive).whole(exchanges)


class _Following:
    def __init__(self, bench: Bench, alive: Candidates) -> None:
        self._bench = bench
        self._alive = alive
        self._defaults = Assumptions()
        self._guesses = [Guess(bench.begin)]
        self._by: dict[str, str] = {}

    def whole(self, exchanges: Iterable[ObservedExchange]) -> FollowedTo:
        """Follow the exchanges up to the first that no guess explains."""
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
        """Carry out a request in every guess. Raise ``_Lost``."""
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
        """Return all results of a request in a guess, each with its assumption values."""
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
        """Advance the clock to a request, and carry out the request.

        Return the result, and the assumptions that it depends on.
        """
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
        """Return the guesses, merged if the state is the same for every value."""
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
        """Return equivalent sets of values, without assumptions that allow every value."""
        while (wider := self._wider(found)) is not None:
            found = wider
        return sorted(found, key=repr)

    def _wider(self, found: set[_Values]) -> set[_Values] | None:
        """Return the sets with several merged into one, None if that is impossible."""
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
    """The result of a request: the answer, the snapshot after it, and the values used."""

    answer: TriedAnswer
    after: Snapshot
    values: _Values


def _explaining(guess: Guess, one: ObservedExchange, made: _CameTo, strict: bool) -> Iterator[Guess]:
    """Yield the next guess if the sandbox's answer equals the service's.

    Unless ``strict``, the service's answer can have additional keys.
    """
    told, answer = one.answer, made.answer.answer
    if one.status != made.answer.status or any(amounts(told, answer)) or not _same_facts(told, answer):
        return
    if any(each.hard and (strict or each.made is not LACKING) for each in differences(told, answer)):
        return
    owed = guess.owed
    ours, theirs = _balance(answer), _balance(told)
    if ours is not None and theirs is not None:
        owed = theirs - ours
        if guess.owed not in (None, owed):
            return
    yield Guess(made.after, made.values, owed)


def _same_facts(told: Any, made: Any) -> bool:
    """Whether two answers agree in dates and in empty strings, in their common keys."""
    return all(_is_same(one, other) for _, one, other in pairs(told, made))


def _is_same(told: Any, made: Any) -> bool:
    if not isinstance(told, str) or not isinstance(made, str):
        return True
    ours, theirs = instant(made), instant(told)
    if ours is not None and theirs is not None:
        return abs(ours - theirs) <= _SAME
    return bool(told) == bool(made)


def _balance(answer: Any) -> Decimal | None:
    """Return the balance that an answer shows, None if it shows none."""
    found = (amount(value) for key, value, _ in pairs(answer, answer) if key == "balance")
    return next((one for one in found if one is not None), None)
