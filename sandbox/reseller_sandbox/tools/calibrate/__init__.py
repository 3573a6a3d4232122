"""Calibration: find the values of assumptions from transcripts of a service.

``transcripts`` reads the exchanges. ``subject`` extracts the subject of an exchange, and ``candidate_states``
yields states in which the service can have been. ``search`` finds states and values that explain an exchange
on a ``bench``, by the ``likeness`` of answers. ``following`` does the same for all exchanges after a fixture.
``report`` is the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.tools.calibrate.bench import (
    OTHER_HEADER,
    OTHER_VERSION,
    OTHER_WORD,
    SECONDS,
    SOME_TIME,
    UNSEEN,
    candidates,
    zones_of,
)
from reseller_sandbox.tools.calibrate.following import followed
from reseller_sandbox.tools.calibrate.likeness import Unlikeness
from reseller_sandbox.tools.calibrate.search import Explained, Trying, allows_all, possible
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange


class Determination(Struct, frozen=True):
    """The values of an assumption that agree with the transcripts.

    ``value`` is the only one that agrees, None if there are several. ``likely`` is the one to use: the
    default if it agrees, otherwise an observed value. ``ruled_out`` are the values that disagree, ``left``
    those that agree. ``by`` are the places of the exchanges that rule values out.
    """

    name: str
    value: Any
    likely: Any
    ruled_out: tuple[Any, ...]
    left: tuple[Any, ...]
    by: tuple[str, ...] = ()

    @property
    def is_determined(self) -> bool:
        """Whether at least one value is ruled out."""
        return self.value is not None or bool(self.ruled_out)


class Deviation(Struct, frozen=True):
    """An exchange that no value and no state explains, with the smallest differences."""

    exchange: ObservedExchange
    operation: str
    differences: Sequence[Unlikeness]


class Calibration(Struct, frozen=True):
    """The result for every assumption, and the exchanges that nothing explains.

    ``lost`` is the place of the first exchange that does not follow from the fixture.
    """

    verdicts: Mapping[str, Determination]
    deviations: Sequence[Deviation] = ()
    exchanges: int = 0
    left_aside: Sequence[str] = ()
    lost: str = ""

    @property
    def assume(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, for a profile."""
        defaults = Assumptions().values()
        return {
            name: verdict.likely
            for name, verdict in self.verdicts.items()
            if verdict.is_determined and verdict.likely != defaults[name]
        }


def calibrated(
    exchanges: Iterable[ObservedExchange], only: Assumptions | None = None, *, fixture: str | None = None
) -> Calibration:
    """Return the values of assumptions that agree with all exchanges.

    A value that one exchange rules out is ruled out for all. With ``only``, no other values are tried. A
    ``fixture`` has the zones and prices of the service, and the accounts and names at the first request.
    Raise ``FixtureError``.
    """
    exchanges = list(exchanges)
    known = [part for exchange in exchanges for part in _parts(exchange)]
    tried = candidates(known) if only is None else _alone(only)
    alive = {name: list(values) for name, values in tried.items()}
    by: dict[str, dict[str, None]] = {name: {} for name in tried}
    trying = Trying(None if fixture is None else zones_of(fixture))
    found: list[Explained] = []
    seen: set[tuple[Any, ...]] = set()
    for met in map(trying.met, known):
        if met.key not in seen:
            seen.add(met.key)
            found.append(trying.explained(met, alive))
            _narrow([found[-1]], alive, by)
    while _narrow(found, alive, by) or _look_again(trying, found, alive):
        pass
    lost, explained = "", frozenset[str]()
    if fixture is not None:
        result = followed(exchanges, fixture, alive)
        lost, explained = result.lost, frozenset(result.explained)
        for name, place in result.by.items():
            alive[name] = list(result.left[name])
            by[name][place] = None
    return Calibration(
        {name: _verdict(name, tried[name], alive[name], tuple(by[name])) for name in tried},
        [
            Deviation(one.met.exchange, one.met.subject.operation, one.nearest or one.beside)
            for one in found
            if (one.nearest or one.beside) and one.met.exchange.place not in explained
        ],
        len(known),
        [one.met.exchange.place for one in found if one.given_up],
        lost,
    )


def _alone(only: Assumptions) -> dict[str, tuple[Any, ...]]:
    return {name: (value,) for name, value in only.values().items() if name not in UNSEEN}


def _look_again(trying: Trying, found: list[Explained], alive: dict[str, list[Any]]) -> bool:
    """Look for more explanations if the known ones no longer allow every value.

    Return whether the explanations of an exchange changed.
    """
    for at, one in enumerate(found):
        if one.cut_short and not allows_all(_still(one.ways, alive), alive):
            found[at] = trying.explained(one.met, alive)
            if not found[at].cut_short:
                return True
    return False


def _still(ways: Sequence[Mapping[str, Any]], alive: Mapping[str, Sequence[Any]]) -> list[Mapping[str, Any]]:
    return [way for way in ways if all(value in alive[name] for name, value in way.items())]


def _narrow(found: Iterable[Explained], alive: dict[str, list[Any]], by: dict[str, dict[str, None]]) -> bool:
    """Rule out the values that no explanation of an exchange allows.

    Return whether any value was ruled out.
    """
    before = sum(map(len, alive.values()))
    for one in found:
        ways = _still(one.ways, alive)
        if one.cut_short or not ways:  # because an exchange without a way would contradict the others
            continue
        for name in {name for way in ways for name in way}:
            left = possible(ways, name, alive[name])
            if left != alive[name]:
                alive[name] = left
                by[name][one.met.exchange.place] = None
    return sum(map(len, alive.values())) < before


def _verdict(name: str, tried: Sequence[Any], left: Sequence[Any], by: tuple[str, ...]) -> Determination:
    made_up = (OTHER_WORD, OTHER_VERSION, OTHER_HEADER)

    def real(value: Any) -> bool:
        if name == SECONDS:
            return bool(value != SOME_TIME)
        return not any(one in made_up for one in (value if isinstance(value, tuple) else (value,)))

    value = left[0] if len(left) == 1 and len(tried) > 1 and real(left[0]) else None
    likely = next(filter(real, left), left[0])
    return Determination(
        name,
        value,
        likely,
        tuple(one for one in tried if one not in left and real(one)),
        tuple(one for one in left if real(one)),
        by,
    )


def _parts(one: ObservedExchange) -> list[ObservedExchange]:
    """Return an exchange, split by name if its request asks for several names."""
    names = one.asked.get("domainNames")
    results = one.answer.get("results") if isinstance(one.answer, dict) else None
    if not (isinstance(names, list) and isinstance(results, list) and 1 < len(names) == len(results)):
        return [one]
    return [
        replace(
            one,
            body=json.dumps({**one.asked, "domainNames": [name]}).encode(),
            answer={**one.answer, "results": [result]},
        )
        for name, result in zip(names, results, strict=True)
    ]
