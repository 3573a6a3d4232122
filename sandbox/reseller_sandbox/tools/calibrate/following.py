"""Carry out the requests of a transcript in the world of a fixture, with every possible assumption value.

The fixture is the state before the first exchange. The answers of the service and of the sandbox are
compared, including dates, amounts and names. A *guess* is a possible state, with the assumption values that
lead to it. If an answer depends on an assumption, a guess splits into one guess for each value. A guess with
another answer than the service is dropped. Guesses with the same state are merged. So a later answer can
determine an assumption of an earlier request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions, named, watched
from reseller_sandbox.registry.model import Account
from reseller_sandbox.tools.calibrate.bench import (
    Bench,
    Candidates,
    TriedAnswer,
    branches,
    has_bad_credentials,
)
from reseller_sandbox.tools.calibrate.hints import hints, operations
from reseller_sandbox.tools.calibrate.likeness import ABSENT, amount, amounts, differences, pairs
from reseller_sandbox.tools.calibrate.search import possible
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange, instant
from reseller_sandbox.worlds import Snapshot

#: Maximum number of guesses, and maximum number of tries of one request under a guess.
_MOST_GUESSES, _MOST_TRIES = 256, 4000

#: Two dates count as equal if they differ by at most this time.
_SAME = timedelta(days=1)

#: Some values of some assumptions, by name.
_Values = frozenset[tuple[str, Any]]


class Guess(Struct, frozen=True):
    """A possible state of the service, and the assumption ``values`` that lead to it.

    ``owed`` is the balance of the service minus that of the sandbox, None before an answer shows a balance.
    """

    snapshot: Snapshot
    values: _Values = frozenset()
    owed: Decimal | None = None


class _Lost(Exception):
    """No guess explains an answer, or there are too many guesses or tries."""


def follow(exchanges: Iterable[ObservedExchange], fixture: str, alive: Candidates) -> Following:
    """Carry out exchanges in the world of ``fixture``, up to the first exchange that no guess explains."""
    following = Following(Bench(fixture), alive)
    for exchange in exchanges:
        if has_bad_credentials(exchange):
            continue
        try:
            if exchange.lost:
                following.lose(exchange)
            else:
                following.carry_out(exchange)
        except _Lost:
            following.lost = exchange.place
            break
    return following


class Following:
    """The guesses (possible states of the service) that agree with the exchanges so far.

    ``by`` holds the place of the first exchange that rules a value out, by assumption. ``explained`` are the
    places of the explained exchanges. ``lost`` is the place of the first exchange that no guess explains,
    empty if there is none.
    """

    def __init__(self, bench: Bench, alive: Candidates) -> None:
        self.by: dict[str, str] = {}
        self.explained: set[str] = set()
        self.lost = ""
        self._bench = bench
        self._alive = alive
        self._defaults = Assumptions()
        self._guesses = [Guess(bench.begin)]

    def carry_out(self, exchange: ObservedExchange) -> None:
        """Carry out a request in every guess. Keep the guesses that explain the answer. Raise ``_Lost``."""
        tried = [result for guess in self._guesses for result in self._tries(guess, exchange)]
        for strict in (True, False):
            explaining = (_explaining(exchange, answer, after, strict) for answer, after in tried)
            guesses = self._merged([guess for guess in explaining if guess is not None])
            if guesses:
                break
        if not 0 < len(guesses) <= _MOST_GUESSES:
            raise _Lost
        self._guesses = guesses
        self.explained.add(exchange.place)
        for name in {name for guess in guesses for name, _ in guess.values} - self.by.keys():
            if len(self.possible(name)) < len(self._alive[name]):
                self.by[name] = exchange.place

    def lose(self, exchange: ObservedExchange) -> None:
        """Carry out a request without a known answer: in some guesses with its effect, in others without.

        Raise ``_Lost``.
        """
        operation = operations().get(self._bench.ask(exchange, self._bench.begin, {}).operation)
        if operation is not None and operation.reads:
            return
        if not exchange.is_whole:
            raise _Lost
        tried = [after for guess in self._guesses for _, after in self._tries(guess, exchange)]
        guesses = self._merged([*self._guesses, *tried])
        if len(guesses) > _MOST_GUESSES:
            raise _Lost
        self._guesses = guesses

    def possible(self, name: str) -> list[object]:
        """Return the values of an assumption that at least one guess allows."""
        return possible([dict(guess.values) for guess in self._guesses], name, self._alive[name])

    def _tries(self, guess: Guess, exchange: ObservedExchange) -> list[tuple[TriedAnswer, Guess]]:
        """Return the possible answers to a request under ``guess``, each with the updated guess."""
        tries = (
            result
            for sender in self._bench.senders(exchange)
            for result in branches(
                self._alive, partial(self._tried, guess.snapshot, exchange, sender), dict(guess.values)
            )
        )
        results = [
            (answer, Guess(after, frozenset(values.items()), guess.owed))
            for (answer, after), values, _ in islice(tries, _MOST_TRIES + 1)
        ]
        if len(results) > _MOST_TRIES:
            raise _Lost
        return results

    def _tried(
        self, snapshot: Snapshot, exchange: ObservedExchange, sender: Account, values: Mapping[str, object]
    ) -> tuple[tuple[TriedAnswer, Snapshot], list[str]]:
        """Advance the clock to the time of a request, and carry the request out.

        Return the answer with the snapshot after it, and the assumptions that the answer depends on.
        """
        read: set[str] = set()
        assumptions = self._defaults.with_values(values)
        at = max(exchange.at, snapshot.clock.instant)
        settled, _ = replace(snapshot, assumptions=watched(assumptions, read)).settled(at)
        answer = self._bench.ask(exchange, settled.at(at), values, sender=sender)
        timed = [name for name, _ in named(assumptions, read)]
        rests_on = [name for name in dict.fromkeys((*timed, *answer.rests_on)) if name not in hints().unseen]
        return (answer, replace(self._bench.snapshot_now, assumptions=self._defaults)), rests_on

    def _merged(self, guesses: Iterable[Guess]) -> list[Guess]:
        """Merge guesses that have the same state, if together they have every value of an assumption."""
        alike: list[tuple[Guess, set[_Values]]] = []
        for guess in guesses:
            for first, values in alike:
                if (first.owed, first.snapshot) == (guess.owed, guess.snapshot):
                    values.add(guess.values)
                    break
            else:
                alike.append((guess, {guess.values}))
        return [replace(first, values=values) for first, sets in alike for values in self._widest(sets)]

    def _widest(self, sets: set[_Values]) -> list[_Values]:
        """Simplify sets of assumption values: leave out an assumption if each of its values is possible."""
        while (wider := self._wider(sets)) is not None:
            sets = wider
        return sorted(sets, key=repr)

    def _wider(self, sets: set[_Values]) -> set[_Values] | None:
        """Leave out one assumption whose values are all possible. Return None if there is none."""
        for name in sorted({name for values in sets for name, _ in values}):
            rest: dict[_Values, set[object]] = {}
            for values in sets:
                others = dict(values)
                if name in others:
                    value = others.pop(name)
                    rest.setdefault(frozenset(others.items()), set()).add(value)
            for common, seen in rest.items():
                if common in sets or seen >= set(self._alive[name]):
                    return sets - {common | {(name, value)} for value in seen} | {common}
        return None


def _explaining(exchange: ObservedExchange, tried: TriedAnswer, after: Guess, strict: bool) -> Guess | None:
    """Return the guess after a request if the service and the sandbox gave the same answer, otherwise None.

    Unless ``strict``, the answer of the service can have additional keys.
    """
    theirs, ours = exchange.answer, tried.answer
    if exchange.status != tried.status or any(amounts(theirs, ours)):
        return None
    if not all(_is_same(their_value, our_value) for _, their_value, our_value in pairs(theirs, ours)):
        return None
    if any(each.hard and (strict or each.sandbox is not ABSENT) for each in differences(theirs, ours)):
        return None
    their_balance, our_balance = _balance(theirs), _balance(ours)
    if their_balance is None or our_balance is None:
        return after
    owed = their_balance - our_balance
    return replace(after, owed=owed) if after.owed in (None, owed) else None


def _is_same(theirs: object, ours: object) -> bool:
    """Whether two values are equal dates, are both empty or both not empty, or are not both strings."""
    if not isinstance(theirs, str) or not isinstance(ours, str):
        return True
    their_date, our_date = instant(theirs), instant(ours)
    if their_date is not None and our_date is not None:
        return abs(our_date - their_date) <= _SAME
    return bool(theirs) == bool(ours)


def _balance(answer: object) -> Decimal | None:
    """Return the balance that an answer shows, None if it shows none."""
    balances = (amount(value) for key, value, _ in pairs(answer, answer) if key == "balance")
    return next((balance for balance in balances if balance is not None), None)
