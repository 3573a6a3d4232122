"""Search for states and values under which the sandbox answers as the service.

Each explanation contains only the assumptions that the answer rests on. So a few tries cover all combinations
of sixty assumptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.tools.calibrate.bench import (
    NONE,
    RIGHT,
    TOKEN_HEADERS,
    VERSIONS,
    WRONG,
    Bench,
    Candidates,
    TriedAnswer,
    Values,
    branches,
    is_locked_out,
    token_headers,
)
from reseller_sandbox.tools.calibrate.candidate_states import Scene, scenes
from reseller_sandbox.tools.calibrate.likeness import LACKING, Unlikeness, amounts, differences
from reseller_sandbox.tools.calibrate.subject import Known, KnownState, Subject, subject_of
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange
from reseller_sandbox.worlds import Snapshot

#: The most tries of one request. After them, its exchange is skipped.
MOST_TRIES = 6000

#: The assumptions that decide the access in v2.0. An answer does not always name them in its header.
_LET_IN = (VERSIONS, TOKEN_HEADERS)


class Met(Struct, frozen=True):
    """An exchange with its subject and the state known from earlier exchanges."""

    exchange: ObservedExchange
    subject: Subject
    known: Known | None

    @property
    def key(self) -> tuple[Any, ...]:
        """The key of equivalent exchanges, of which only the first is searched."""
        one = self.exchange
        sent = one.method, one.target, one.body, one.headers.get("content-type"), tuple(token_headers(one))
        return *sent, one.status, repr(one.answer), repr(self.known)


class Explained(Struct):
    """The explanations (``ways``) of an exchange.

    Without any, ``nearest`` are the smallest differences. ``cut_short`` is whether the search stopped because
    the ways allow every value. ``given_up`` is whether there were too many tries. ``beside`` are ignored
    differences: differences of form that no assumption and no state explains.
    """

    met: Met
    ways: list[dict[str, Any]] = field(default_factory=list)
    cut_short: bool = False
    given_up: bool = False
    nearest: tuple[Unlikeness, ...] = ()
    beside: tuple[Unlikeness, ...] = ()


class _TooMany(Exception):
    """An exchange needs more than ``MOST_TRIES`` tries."""


class Trying:
    """Tries exchanges on a bench."""

    def __init__(self, zones: Scene | None = None) -> None:
        self._zones = zones
        self._bench = Bench()
        self._belief = KnownState()

    def met(self, one: ObservedExchange) -> Met:
        """Return an exchange with the state known before the exchange.

        Call this in the order of the exchanges.
        """
        first = self._bench.ask(one, self._bench.begin, {})
        subject = subject_of(one, first.operation, first.names)
        known = self._belief.of(one, subject)
        self._belief.learn(one, subject)
        return Met(one, subject, known)

    def explained(self, met: Met, alive: Candidates) -> Explained:
        """Return the explanations of an exchange under the values in ``alive``.

        If there is none under the known state, search without the known state, because the state can have
        changed.
        """
        found = self._explained(met, alive)
        if found.nearest and met.known is not None:
            return self._explained(replace(met, known=None), alive)
        return found

    def _explained(self, met: Met, alive: Candidates) -> Explained:
        one = met.exchange
        found = Explained(met)
        tries = self._tries(one, scenes(met.subject, met.known, self._zones), alive)
        made: list[tuple[dict[str, Any], tuple[Unlikeness, ...]]] = []
        try:
            for values, answer in tries:
                different = _compared(one, answer, prices=self._zones is not None)
                made.append((values, different))
                if not different:
                    found.ways.append(values)
                    if allows_all(found.ways, alive):
                        found.cut_short = True
                        return found
        except _TooMany:
            found.given_up = True
            found.ways.append({})
            return found
        if not found.ways:
            _settle_for(found, made)
        return found

    def _tries(
        self, one: ObservedExchange, states: Iterable[Scene], alive: Candidates
    ) -> Iterator[tuple[dict[str, Any], TriedAnswer]]:
        """Yield the sandbox's answers in each scene, under all relevant values."""
        left = MOST_TRIES
        locked_out = is_locked_out(one)
        for credentials in (NONE, WRONG, RIGHT) if locked_out else (RIGHT,):
            seen: set[str] = set()
            for scene in states:
                if (written := json.dumps(scene, sort_keys=True, default=str)) in seen:
                    continue
                seen.add(written)
                if (snapshot := self._bench.snapshot(scene, one.at)) is None:
                    continue
                for found in self._under(one, snapshot, alive, credentials):
                    yield found
                    left -= 1
                    if not left:
                        raise _TooMany
                if credentials != RIGHT:
                    break

    def _under(
        self, one: ObservedExchange, snapshot: Snapshot, alive: Candidates, credentials: str
    ) -> Iterator[tuple[dict[str, Any], TriedAnswer]]:
        """Yield each answer that a request can have in one state, with its values."""
        always = _LET_IN if is_about_entry(one) else ()

        def tried(values: Values) -> tuple[TriedAnswer, Iterable[str]]:
            made = self._bench.ask(one, snapshot, values, credentials)
            return made, dict.fromkeys([*always, *made.rests_on])

        for made, values, rests_on in branches(alive, tried):
            yield {name: values[name] for name in rests_on}, made


def is_about_entry(one: ObservedExchange) -> bool:
    """Whether version or token headers decided the access of a v2.0 request.

    This means a version or a header that is not in the contract, or a refused credential.
    """
    if one.path.startswith("/v3"):
        return False
    is_plain = one.path[:6].upper() == "/V2.0/" and set(token_headers(one)) <= {"X-Auth-Token"}
    return not is_plain or is_locked_out(one) or one.refusal == "no implementation for this version"


def _compared(one: ObservedExchange, made: TriedAnswer, *, prices: bool) -> tuple[Unlikeness, ...]:
    status = () if one.status == made.status else (Unlikeness("HTTP status", one.status, made.status),)
    priced = amounts(one.answer, made.answer) if prices else ()
    return (*status, *differences(one.answer, made.answer), *priced)


def allows_all(ways: Sequence[Values], alive: Candidates) -> bool:
    """Whether the ways allow every value."""
    return all(possible(ways, name, values) == list(values) for name, values in alive.items())


def possible(ways: Sequence[Values], name: str, values: Sequence[Any]) -> list[Any]:
    """Return the values of an assumption that at least one way allows."""
    if any(name not in way for way in ways):
        return list(values)
    return [value for value in values if any(way[name] == value for way in ways)]


def _settle_for(found: Explained, made: list[tuple[dict[str, Any], tuple[Unlikeness, ...]]]) -> None:
    """Record the smallest differences of an exchange without an explanation.

    If the service has additional keys or another text form in all states and under all values, ignore these
    differences. Then the other parts of the answer still count.
    """
    nearest = min((one for _, one in made), key=len, default=())
    if nearest and all(not one.hard or one.made is LACKING for one in nearest):
        places = {one.where for one in nearest}
        alike = [values for values, one in made if {each.where for each in one} <= places]
        everywhere = all(places <= {each.where for each in one} for values, one in made if values in alike)
        if everywhere:
            found.ways, found.beside = alike, nearest
            return
    found.nearest = nearest
    found.ways.append({})
