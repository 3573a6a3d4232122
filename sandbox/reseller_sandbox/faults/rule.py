"""Fault rules: the requests that a rule matches, the conditions of its use, and its counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace
from rpds import HashTrieMap, HashTrieSet

from reseller_sandbox.faults.kind import (
    MANY,
    Chance,
    Effects,
    FaultContext,
    FaultKind,
    FaultRequest,
    Phase,
    Window,
)
from reseller_sandbox.values.kinds import (
    ANYTHING,
    INSTANT,
    KEY,
    SWITCH,
    Kind,
    Mistake,
    choice,
    listed,
    number,
    table,
    whole,
)
from reseller_sandbox.values.matching import MATCH, Match, Matching
from reseller_sandbox.values.parameters import Also, declared, object_shape, record

#: Reads only instants, because ``reading`` has already converted durations into instants.
MOMENT = replace(
    INSTANT, says="an instant of the world's clock as ISO 8601, or a duration from now such as P1D"
)

#: The parts of a request that are known before its operation and its account.
_ON_THE_WIRE = frozenset({"method", "path", "headers", "query"})


class Count(Struct, frozen=True):
    """The numbers of matches and applications of a rule while the rule was in force.

    ``windows`` holds the windows of a rate limit, by account. If all accounts share one window, its key is
    an empty text.
    """

    matched: Annotated[int, whole(0, MANY)] = 0
    applied: Annotated[int, whole(0, MANY)] = 0
    windows: Annotated[dict[str, Window] | None, table(ANYTHING, record(Window))] = None


COUNT: Kind[Count] = record(Count)
_NO_COUNT = Count()


class When(Struct, frozen=True, kw_only=True):
    """The conditions under which a rule applies to a request that it matches.

    Args:
        phase: Before or after the operation takes effect.
        nth: The numbers of the matches to which the rule applies, counted from 1.
        every: Apply the rule to each match whose number is a multiple of this number.
        times: The rule is exhausted after this many applications.
        chance: The probability that the rule applies to a match. The world's seed decides each case.
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
        """Yield a mistake if ``until`` is not later than ``from``."""
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

#: The keys of a match that are allowed only in a search for past requests.
PAST = ("since",)

#: The name of a rule. It cannot be ``kinds`` or ``presets``, because ``/faults/kinds`` and
#: ``/faults/presets`` are the paths of other operations.
_RESERVED = ("kinds", "presets")


def _name(value: object) -> str:
    name = KEY.read(value)
    if name in _RESERVED:
        raise ValueError(f"must not be {' or '.join(_RESERVED)}")
    return name


NAME = replace(KEY, read=_name, says=f"{KEY.says} (not {' or '.join(_RESERVED)})")

#: A match of future requests.
_TO_COME = replace(
    MATCH, schema=lambda: object_shape([part for part in declared(Matching) if part.name not in PAST])
)


class FaultRule(Struct, frozen=True, kw_only=True):
    """A rule that applies one ``kind`` of fault to the requests that it matches.

    Args:
        name: The name of the rule. Default: the name of its kind.
        match: The requests that the rule matches. Default: all.
        when: The conditions under which the rule applies to a matched request.
        paused: Whether the rule is paused. A paused rule does not apply, and keeps its counts.
    """

    kind: FaultKind
    name: Annotated[str, NAME] = ""
    match: Annotated[Match, _TO_COME] = Match()
    when: Annotated[When, WHEN_APPLIED] = When()
    paused: Annotated[bool, SWITCH] = False

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
            and (request.admitted or self.match.keys() <= _ON_THE_WIRE)
            and self.kind.applies(request)
        )


@dataclass(slots=True, eq=False)
class Strike:
    """The rules applied to a request in one phase, with their combined effects.

    ``counted`` holds the counts of each matching rule before and after the request. If the request has to
    wait, ``request`` is its journal entry so far.
    """

    rules: Sequence[FaultRule]
    effects: Effects
    counted: Mapping[str, tuple[Count, Count]]
    request: Any = None


class FaultBook(Struct, frozen=True):
    """An immutable list of rules, with their counts and the delayed requests.

    Each delayed request is an object in ``waiting``. If the world goes back to an instant before the request
    arrived, the object is absent, and the request never takes effect.
    """

    rules: tuple[FaultRule, ...] = ()
    counts: HashTrieMap[str, Count] = field(default_factory=HashTrieMap)
    waiting: HashTrieSet[object] = field(default_factory=HashTrieSet)

    def count(self, name: str) -> Count:
        """Return how often the rule ``name`` matched and was applied."""
        return self.counts.get(name, _NO_COUNT)

    def apply(
        self, phase: Phase, request: FaultRequest, now: datetime, seed: str, effects: Effects
    ) -> tuple[FaultBook, Strike]:
        """Apply the rules of a phase to a request, in order.

        Return the book with the new counts, and the rules applied with their effects added to ``effects``.
        """
        counts, applied = self.counts, []
        counted: dict[str, tuple[Count, Count]] = {}
        for rule in self.rules:
            if rule.paused or rule.phase != phase or not rule.matches(request):
                continue
            count = counts.get(rule.name, _NO_COUNT)
            if not rule.when.in_force(count, now):
                continue
            matched = count.matched + 1
            context = FaultContext(request, now, Chance(f"{seed}/fault/{rule.name}/{matched}"), count.windows)
            after = rule.kind.apply(effects, context) if rule.when.selects(matched, context.chance) else None
            later = Count(matched, count.applied + (after is not None), context.windows)
            counts, counted[rule.name] = counts.insert(rule.name, later), (count, later)
            if after is not None:
                effects = after
                applied.append(rule)
                if effects.final:
                    break
        book = self if counts is self.counts else replace(self, counts=counts)
        return book, Strike(applied, effects, counted)

    def with_rules(self, rules: tuple[FaultRule, ...], counts: Mapping[str, Count]) -> FaultBook:
        """Return the book with ``rules`` in place of its rules.

        Unchanged rules keep their counts. New rules begin with those in ``counts``.
        """
        earlier = {rule.name: rule for rule in self.rules}
        new: HashTrieMap[str, Count] = HashTrieMap()
        for rule in rules:
            known = self.counts if earlier.get(rule.name) is rule else counts
            new = new.insert(rule.name, known.get(rule.name, _NO_COUNT))
        return replace(self, rules=rules, counts=new)

    def without(self, strike: Strike) -> FaultBook:
        """Return the book without the counts of one request, as if the request had not arrived.

        All other requests still count.
        """
        counts = self.counts
        for name, (earlier, later) in strike.counted.items():
            count = self.count(name)
            # A newer rule may have this name now. The newer rule did not count the request.
            if count.matched < later.matched:
                continue
            windows = earlier.windows if count.windows is later.windows else count.windows
            applied = count.applied - later.applied + earlier.applied
            counts = counts.insert(name, Count(count.matched - 1, applied, windows))
        return replace(self, counts=counts)
