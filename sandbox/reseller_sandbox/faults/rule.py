"""A rule: the requests that it matches, when it applies, and the kind of fault."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.faults.kind import Chance, FaultKind, FaultRequest, Phase
from reseller_sandbox.values.kinds import INSTANT, Kind, Mistake, choice, listed, number, whole
from reseller_sandbox.values.matching import Match
from reseller_sandbox.values.parameters import Also, record

#: Reads only instants. ``reading`` has already converted durations from now into instants.
MOMENT = replace(
    INSTANT, says="an instant of the world's clock as ISO 8601, or a duration from now such as P1D"
)

#: The largest number in a rule. A thousand matches a second reach this number after three years.
MANY = 10**11

#: The parts of a request that are known before its operation and its account.
_ON_THE_WIRE = frozenset({"method", "path", "headers", "query"})


class Count(Struct, frozen=True):
    """The counters of a rule while in force, and the memory of its kind."""

    matched: int = 0
    applied: int = 0
    memory: Any = None


class When(Struct, frozen=True, kw_only=True):
    """When a rule applies to the requests that it matches, and how long.

    Args:
        phase: Before or after the operation takes effect.
        nth: The matches to which the rule applies, counted from 1.
        every: Apply the rule to each match whose number is a multiple of this.
        times: The rule is exhausted after this many applications.
        chance: The probability for each match, drawn from the world's seed.
        from_: The instant from which the rule is in force.
        until: The instant from which the rule is exhausted.
    """

    phase: Annotated[Phase | None, choice("before", "after")] = None
    nth: Annotated[tuple[int, ...] | None, listed(whole(1, MANY), 1, 1000, alone=True)] = None
    every: Annotated[int | None, whole(1, MANY)] = None
    times: Annotated[int | None, whole(1, MANY), Also("count limit max")] = None
    chance: Annotated[float | None, number(0, 1), Also("probability rate percent")] = None
    from_: Annotated[datetime | None, MOMENT] = None
    until: Annotated[datetime | None, MOMENT] = None

    def mistakes(self) -> Iterator[Mistake]:
        """Yield each invalid combination of parts."""
        if self.from_ is not None and self.until is not None and self.until <= self.from_:
            yield Mistake(("until",), "must be later than from")

    def in_force(self, count: Count, now: datetime) -> bool:
        """Whether the rule is in force at ``now`` with this count."""
        return (self.from_ is None or self.from_ <= now) and not self.exhausted(count, now)

    def exhausted(self, count: Count, now: datetime) -> bool:
        """Whether the rule cannot apply any more."""
        return (
            (self.times is not None and count.applied >= self.times)
            or (self.nth is not None and count.matched >= max(self.nth))
            or (self.until is not None and self.until <= now)
        )

    def selects(self, match: int, chance: Chance) -> bool:
        """Whether the rule applies to match number ``match``."""
        return (
            (self.nth is None or match in self.nth)
            and (self.every is None or match % self.every == 0)
            and (self.chance is None or chance.fraction("strike") < self.chance)
        )


WHEN_APPLIED: Kind[When] = record(When)


class FaultRule(Struct, frozen=True):
    """A named rule. A ``paused`` rule keeps its counts and does not apply."""

    name: str
    kind: FaultKind
    match: Match = field(default_factory=Match)
    when: When = field(default_factory=When)
    paused: bool = False

    @property
    def phase(self) -> Phase:
        """The phase in which the rule applies."""
        return self.when.phase or self.kind.phases[0]

    def matches(self, request: FaultRequest) -> bool:
        """Whether the rule matches the request.

        A request without an operation or without valid credentials can only match by method, path, headers
        and query.
        """
        return (
            self.match(request)
            and (request.admitted or self.match.parts <= _ON_THE_WIRE)
            and self.kind.applies(request)
        )
