"""What explains one exchange: the states and values under which the sandbox answers as the service did.

Each explanation names values of those assumptions alone that the answer rests on, so that a few tries stand
for all the ways in which sixty assumptions can be set.
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

#: How often one request is tried at the most, before its exchange is left aside.
MOST_TRIES = 6000

#: What decides in v2.0 whether a request is let in; an answer need not say that it rests on a default there.
_LET_IN = (VERSIONS, TOKEN_HEADERS)


class Met(Struct, frozen=True):
    """An exchange, what it is about, and what earlier ones told of that."""

    exchange: ObservedExchange
    subject: Subject
    known: Known | None

    @property
    def key(self) -> tuple[Any, ...]:
        """What it tells, so that another one tells nothing new."""
        one = self.exchange
        sent = one.method, one.target, one.body, one.headers.get("content-type"), tuple(token_headers(one))
        return *sent, one.status, repr(one.answer), repr(self.known)


class Explained(Struct):
    """What explains an exchange: any of ``ways``; without one, ``nearest`` is how it differs at the least.

    ``cut_short`` is whether the ways so far leave every value possible, so that others were not looked for.
    ``given_up`` is whether there was too much to try. ``beside`` are differences of form that no assumption
    and no state explains, and that are left aside.
    """

    met: Met
    ways: list[dict[str, Any]] = field(default_factory=list)
    cut_short: bool = False
    given_up: bool = False
    nearest: tuple[Unlikeness, ...] = ()
    beside: tuple[Unlikeness, ...] = ()


class _TooMany(Exception):
    """The tries for one exchange are used up."""


class Trying:
    """Tries exchanges on a bench."""

    def __init__(self, zones: Scene | None = None) -> None:
        self._zones = zones
        self._bench = Bench()
        self._belief = KnownState()

    def met(self, one: ObservedExchange) -> Met:
        """Return an exchange with what was known before it; they are to come in their order."""
        first = self._bench.ask(one, self._bench.begin, {})
        subject = subject_of(one, first.operation, first.names)
        known = self._belief.of(one, subject)
        self._belief.learn(one, subject)
        return Met(one, subject, known)

    def explained(self, met: Met, alive: Candidates) -> Explained:
        """Return what explains an exchange under the values that are alive.

        Where nothing does in what is known, that may no longer hold.
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
        """Yield what the sandbox answers in each scene, under each values that can make a difference."""
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
        """Yield each answer that values of the assumptions can make a request have in one state, once."""
        always = _LET_IN if is_about_entry(one) else ()

        def tried(values: Values) -> tuple[TriedAnswer, Iterable[str]]:
            made = self._bench.ask(one, snapshot, values, credentials)
            return made, dict.fromkeys([*always, *made.rests_on])

        for made, values, rests_on in branches(alive, tried):
            yield {name: values[name] for name in rests_on}, made


def is_about_entry(one: ObservedExchange) -> bool:
    """Whether a v2.0 request was let in, or not, by something else than what the contract names."""
    if one.path.startswith("/v3"):
        return False
    default = one.path[:6].upper() == "/V2.0/" and set(token_headers(one)) <= {"X-Auth-Token"}
    return not default or is_locked_out(one) or one.refusal == "no implementation for this version"


def _compared(one: ObservedExchange, made: TriedAnswer, *, prices: bool) -> tuple[Unlikeness, ...]:
    status = () if one.status == made.status else (Unlikeness("HTTP status", one.status, made.status),)
    priced = amounts(one.answer, made.answer) if prices else ()
    return (*status, *differences(one.answer, made.answer), *priced)


def allows_all(ways: Sequence[Values], alive: Candidates) -> bool:
    """Whether the ways leave every value possible."""
    return all(possible(ways, name, values) == list(values) for name, values in alive.items())


def possible(ways: Sequence[Values], name: str, values: Sequence[Any]) -> list[Any]:
    """Return the values of an assumption that one of the ways allows."""
    if any(name not in way for way in ways):
        return list(values)
    return [value for value in values if any(way[name] == value for way in ways)]


def _settle_for(found: Explained, made: list[tuple[dict[str, Any], tuple[Unlikeness, ...]]]) -> None:
    """Say how an exchange that nothing explains differs; learn of it what does not depend on that.

    What the service answers beside, in no state and under no value of the sandbox's, is left aside, and so
    is another form of a text.
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
