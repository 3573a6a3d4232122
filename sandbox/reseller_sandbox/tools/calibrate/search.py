"""Search for states and assumption values under which the sandbox answers like the service.

An explanation contains only the assumptions that the answer depends on. So few tries are enough for all
combinations of sixty assumptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import HEADERS, VERSIONS, Assumptions, kinds
from reseller_sandbox.tools.calibrate.bench import (
    NONE,
    RIGHT,
    VERSION_IN_PATH,
    WRONG,
    Bench,
    Candidates,
    TriedAnswer,
    Values,
    branches,
    has_bad_credentials,
    token_headers,
)
from reseller_sandbox.tools.calibrate.candidate_states import State, candidate_states
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.likeness import ABSENT, Difference, amounts, differences
from reseller_sandbox.tools.calibrate.subject import Known, KnownState, Subject, subject_of
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange
from reseller_sandbox.worlds import Snapshot

#: Maximum number of tries of one request. If these do not explain the exchange, the exchange is ignored.
MOST_TRIES = 6000

#: The assumptions about tokens. If an exchange is about access, count them as used, because an answer does
#: not always list them.
_ACCESS = tuple(name for name, kind in kinds().items() if kind is VERSIONS or kind is HEADERS)

#: Assumption values, and the differences of the answers under these values.
_Tried = tuple[dict[str, Any], tuple[Difference, ...]]


class Case(Struct, frozen=True):
    """An exchange, the values in it (``subject``), and the state that earlier exchanges have shown."""

    exchange: ObservedExchange
    subject: Subject
    known: Known | None

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that equivalent exchanges share. Only the first exchange with a key is searched."""
        exchange = self.exchange
        headers = exchange.headers.get("content-type"), *token_headers(exchange)
        sent = exchange.method, exchange.target, exchange.body, headers
        return *sent, exchange.status, repr(exchange.answer), repr(self.known)


class Explanation(Struct):
    """The combinations of assumption values (``ways``) that explain an exchange.

    A *way* holds values of the assumptions that the answer depends on, under which both answers agree.
    ``cut_short`` is whether the search stopped early, because the ways allow every value. ``given_up`` is
    whether there were too many tries. ``differences`` are the smallest differences if no way was found. With
    ways, they are differences of form that no assumption and no state explains, and that do not count.
    """

    case: Case
    ways: list[dict[str, Any]] = field(default_factory=list)
    cut_short: bool = False
    given_up: bool = False
    differences: tuple[Difference, ...] = ()


class _TooMany(Exception):
    """The search for an exchange needs more than ``MOST_TRIES`` tries."""


class Search:
    """Searches for the assumption values under which a sandbox answers like the service."""

    def __init__(self, registry: State | None = None) -> None:
        self._registry = registry
        self._bench = Bench()
        self._known_state = KnownState()

    def case(self, exchange: ObservedExchange) -> Case:
        """Return the case of an exchange: its values, and the state that earlier exchanges have shown.

        Call this method for each exchange, in the order of the exchanges.
        """
        first = self._bench.ask(exchange, self._bench.begin, {})
        subject = subject_of(exchange, first.operation, first.names, self._bench.placeholders(exchange))
        known = self._known_state.of(exchange, subject)
        self._known_state.learn(exchange, subject)
        return Case(exchange, subject, known)

    def explain(self, case: Case, alive: Candidates) -> Explanation:
        """Return the combinations of values in ``alive`` that explain an exchange.

        If the known state has no explanation, search without it, because the state can have changed.
        """
        explanation = Explanation(case)
        tried: list[_Tried] = []
        try:
            for values, answer in self._tries(case, alive):
                differences = _compared(case.exchange, answer, prices=self._registry is not None)
                tried.append((values, differences))
                if not differences:
                    explanation.ways.append(values)
                    if allows_all(explanation.ways, alive):
                        explanation.cut_short = True
                        return explanation
        except _TooMany:
            explanation.given_up = True
            explanation.ways.append({})
            return explanation
        if not explanation.ways and not _record_differences(explanation, tried) and case.known is not None:
            return self.explain(replace(case, known=None), alive)
        return explanation

    def _tries(self, case: Case, alive: Candidates) -> Iterator[tuple[dict[str, object], TriedAnswer]]:
        """Yield the sandbox's answers in each candidate state, each answer after its assumption values."""
        exchange = case.exchange
        tries = 0
        states = candidate_states(case.subject, case.known, self._registry)
        for credentials in (NONE, WRONG, RIGHT) if has_bad_credentials(exchange) else (RIGHT,):
            seen: set[str] = set()
            for state in states:
                if (written := json.dumps(state, sort_keys=True, default=str)) in seen:
                    continue
                seen.add(written)
                if (snapshot := self._bench.snapshot(state, exchange.at)) is None:
                    continue
                for values, answer in self._under(exchange, snapshot, alive, credentials):
                    yield values, answer
                    tries += 1
                    if tries == MOST_TRIES:
                        raise _TooMany
                if credentials != RIGHT:
                    break

    def _under(
        self, exchange: ObservedExchange, snapshot: Snapshot, alive: Candidates, credentials: str
    ) -> Iterator[tuple[dict[str, object], TriedAnswer]]:
        """Yield the sandbox's possible answers to a request in one state, each with its assumption values."""
        always = _ACCESS if is_about_access(exchange) else ()

        def carry_out(values: Values) -> tuple[TriedAnswer, dict[str, None]]:
            answer = self._bench.ask(exchange, snapshot, values, credentials)
            return answer, dict.fromkeys([*always, *answer.rests_on])

        for answer, values, rests_on in branches(alive, carry_out):
            yield {name: values[name] for name in rests_on}, answer


def is_about_access(exchange: ObservedExchange) -> bool:
    """Whether the answer to a request depends on its version or on its token header.

    This is the case for a version or a header that is not in the contract, and for a refused credential.
    """
    version, default = VERSION_IN_PATH.match(exchange.path), Assumptions()
    if version is None:
        return False
    headers = set(token_headers(exchange))
    is_plain = version[1].upper() in default.versions and headers <= set(default.token_headers)
    is_refused = exchange.refusal in hints().refused_versions or has_bad_credentials(exchange)
    return is_refused or not is_plain


def _compared(exchange: ObservedExchange, tried: TriedAnswer, *, prices: bool) -> tuple[Difference, ...]:
    is_same = exchange.status == tried.status
    status = () if is_same else (Difference("HTTP status", exchange.status, tried.status),)
    priced = amounts(exchange.answer, tried.answer) if prices else ()
    return (*status, *differences(exchange.answer, tried.answer), *priced)


def allows_all(ways: Sequence[Values], alive: Candidates) -> bool:
    """Whether the combinations of values in ``ways`` include every value of every assumption."""
    return all(possible(ways, name, values) == list(values) for name, values in alive.items())


def possible(ways: Sequence[Values], name: str, values: Sequence[object]) -> list[object]:
    """Return the values of an assumption that at least one combination in ``ways`` allows."""
    return [value for value in values if any(way.get(name, value) == value for way in ways)]


def _record_differences(explanation: Explanation, tried: Sequence[_Tried]) -> bool:
    """Record the smallest differences of an exchange without an explanation.

    If they are additional keys or other forms of texts in all states and under all values, ignore them, so
    that the rest of the answer counts. Return whether they are ignored.
    """
    nearest = min((each for _, each in tried), key=len, default=())
    explanation.differences, explanation.ways = nearest, [{}]
    if not nearest:
        return True
    if any(each.hard and each.sandbox is not ABSENT for each in nearest):
        return False
    ignored = {each.where for each in nearest}
    places = [(values, {each.where for each in differences}) for values, differences in tried]
    alike = [values for values, where in places if where <= ignored]
    if not all(ignored <= where for values, where in places if values in alike):
        return False
    explanation.ways = alike
    return True
