"""Calibration: determine the values of assumptions from transcripts of a service.

``transcripts`` reads the exchanges. ``subject`` reads the names and other values in an exchange.
``candidate_states`` yields possible states of the service. ``search`` sends the request to a sandbox (the
``bench``) in these states, under many assumption values, and compares the answers (``likeness``).
``following`` carries out all requests after a fixture of the initial state. ``report`` prints the results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.tools.calibrate.bench import PLACEHOLDERS, candidates, registry_of
from reseller_sandbox.tools.calibrate.following import follow
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.likeness import Difference
from reseller_sandbox.tools.calibrate.search import Case, Explanation, Search, allows_all, possible
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange


class Determination(Struct, frozen=True):
    """The values of an assumption that agree with the transcripts.

    ``left`` are the values that agree, and ``ruled_out`` those that do not. ``value`` is the only value that
    agrees, None if several agree. ``likely`` is the value for a profile: the default if it agrees, otherwise
    an observed value. ``by`` are the places of the exchanges that rule values out.
    """

    name: str
    value: Any
    likely: Any
    ruled_out: tuple[Any, ...]
    left: tuple[Any, ...]
    by: tuple[str, ...]

    @property
    def is_narrowed(self) -> bool:
        """Whether at least one value of the assumption is ruled out."""
        return self.value is not None or bool(self.ruled_out)


class Deviation(Struct, frozen=True):
    """A recorded exchange that the sandbox cannot reproduce, with the smallest differences."""

    exchange: ObservedExchange
    operation: str
    differences: Sequence[Difference]


class Calibration(Struct, frozen=True):
    """The result for each assumption, and the exchanges that the sandbox cannot explain.

    ``given_up`` are the places of exchanges that need too many tries. ``lost`` is the place of the first
    exchange that the fixture does not explain, empty if there is none.
    """

    determinations: Mapping[str, Determination]
    deviations: Sequence[Deviation]
    exchanges: int
    given_up: Sequence[str]
    lost: str

    @property
    def assume(self) -> dict[str, Any]:
        """The assumption values for a profile: only those that differ from the default."""
        defaults = Assumptions().values()
        return {
            name: determination.likely
            for name, determination in self.determinations.items()
            if determination.is_narrowed and determination.likely != defaults[name]
        }


def calibrated(
    exchanges: Iterable[ObservedExchange], only: Assumptions | None = None, *, fixture: str | None = None
) -> Calibration:
    """Determine which values of each assumption agree with all recorded exchanges.

    If one exchange rules a value out, the value is ruled out. With ``only``, no other values are tried. The
    ``fixture`` has the zones and prices of the service, and its accounts and names before the first request.
    Raise ``FixtureError``.
    """
    exchanges = sorted(exchanges, key=lambda exchange: (exchange.at, exchange.started))
    requests = [part for exchange in exchanges for part in _parts(exchange)]
    parts = [part for part in requests if not part.lost]
    if only is None:
        tried: Mapping[str, Sequence[object]] = candidates(parts)
    else:
        tried = {name: (value,) for name, value in only.values().items() if name not in hints().unseen}
    alive = {name: list(values) for name, values in tried.items()}
    by: dict[str, dict[str, None]] = {name: {} for name in tried}
    search = Search(None if fixture is None else registry_of(fixture))
    cases: dict[tuple[object, ...], Case] = {}
    for case in map(search.case, requests):
        if not case.exchange.lost:
            cases.setdefault(case.key, case)
    explanations: list[Explanation] = []
    for case in cases.values():
        explanations.append(search.explain(case, alive))
        _narrow([explanations[-1]], alive, by)
    while _narrow(explanations, alive, by) or _search_again(search, explanations, alive):
        pass
    lost, explained = "", set[str]()
    if fixture is not None:
        following = follow(exchanges, fixture, alive)
        lost, explained = following.lost, following.explained
        for name, place in following.by.items():
            alive[name] = following.possible(name)
            by[name][place] = None
    return Calibration(
        {name: _determination(name, tried[name], alive[name], tuple(by[name])) for name in tried},
        [
            Deviation(each.case.exchange, each.case.subject.operation, each.differences)
            for each in explanations
            if each.differences and each.case.exchange.place not in explained
        ],
        len(parts),
        [each.case.exchange.place for each in explanations if each.given_up],
        lost,
    )


def _search_again(search: Search, explanations: list[Explanation], alive: dict[str, list[object]]) -> bool:
    """Search for more explanations of an exchange if the known ones do not allow every remaining value.

    Return whether there are new explanations.
    """
    for at, explanation in enumerate(explanations):
        if explanation.cut_short and not allows_all(_alive_ways(explanation, alive), alive):
            explanations[at] = search.explain(explanation.case, alive)
            if not explanations[at].cut_short:
                return True
    return False


def _alive_ways(
    explanation: Explanation, alive: Mapping[str, Sequence[object]]
) -> list[Mapping[str, object]]:
    ways = explanation.ways
    return [way for way in ways if all(value in alive[name] for name, value in way.items())]


def _narrow(
    explanations: Iterable[Explanation], alive: dict[str, list[object]], by: dict[str, dict[str, None]]
) -> bool:
    """Rule out each value that no explanation of an exchange allows. Return whether a value was ruled out."""
    before = sum(map(len, alive.values()))
    for explanation in explanations:
        ways = _alive_ways(explanation, alive)
        # Skip an exchange without an explanation, because it would rule out all values.
        if explanation.cut_short or not ways:
            continue
        for name in {name for way in ways for name in way}:
            allowed = possible(ways, name, alive[name])
            if allowed != alive[name]:
                alive[name] = allowed
                by[name][explanation.case.exchange.place] = None
    return sum(map(len, alive.values())) < before


def _determination(
    name: str, tried: Sequence[object], alive: Sequence[object], by: tuple[str, ...]
) -> Determination:
    def without_placeholders(values: Iterable[object]) -> tuple[object, ...]:
        lists = ((value, value if isinstance(value, tuple) else (value,)) for value in values)
        return tuple(value for value, parts in lists if PLACEHOLDERS.isdisjoint(parts))

    left = without_placeholders(alive)
    return Determination(
        name,
        value=left[0] if left and len(alive) == 1 < len(tried) else None,
        likely=(left or alive)[0],
        ruled_out=without_placeholders(value for value in tried if value not in alive),
        left=left,
        by=by,
    )


def _parts(exchange: ObservedExchange) -> list[ObservedExchange]:
    """Split an exchange about several names into one exchange for each name."""
    for asked, answered in hints().batches.items():
        names, results = exchange.asked.get(asked), exchange.answered.get(answered)
        if isinstance(names, list) and isinstance(results, list) and 1 < len(names) == len(results):
            return [
                replace(
                    exchange,
                    body=json.dumps({**exchange.asked, asked: [name]}).encode(),
                    answer={**exchange.answer, answered: [result]},
                )
                for name, result in zip(names, results, strict=True)
            ]
    return [exchange]
