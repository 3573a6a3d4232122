"""The fault rules of a world and their counts, as part of a world's snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from rpds import HashTrieMap, HashTrieSet

from reseller_sandbox.faults.kind import Chance, Effects, FaultContext, FaultRequest, Phase
from reseller_sandbox.faults.rule import Count, FaultRule

_NONE = Count()


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
        """Return the count of a rule."""
        return self.counts.get(name, _NONE)

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
            count = counts.get(rule.name, _NONE)
            if not rule.when.in_force(count, now):
                continue
            matched = count.matched + 1
            context = FaultContext(request, now, Chance(f"{seed}/fault/{rule.name}/{matched}"), count.memory)
            after = rule.kind.apply(effects, context) if rule.when.selects(matched, context.chance) else None
            later = Count(matched, count.applied + (after is not None), context.memory)
            counts, counted[rule.name] = counts.insert(rule.name, later), (count, later)
            if after is not None:
                effects = after
                applied.append(rule)
                if effects.final:
                    break
        book = self if counts is self.counts else replace(self, counts=counts)
        return book, Strike(applied, effects, counted)

    def with_rules(self, rules: tuple[FaultRule, ...], counts: Mapping[str, Count]) -> FaultBook:
        """Return the book with other rules.

        Unchanged rules keep their counts. New rules begin with those in ``counts``.
        """
        earlier = {rule.name: rule for rule in self.rules}
        new: HashTrieMap[str, Count] = HashTrieMap()
        for rule in rules:
            count = self.count(rule.name) if earlier.get(rule.name) is rule else counts.get(rule.name, _NONE)
            new = new.insert(rule.name, count)
        return replace(self, rules=rules, counts=new)

    def holding(self, request: object) -> FaultBook:
        """Return the book with ``request`` waiting."""
        return replace(self, waiting=self.waiting.insert(request))

    def released(self, request: object) -> FaultBook:
        """Return the book without the waiting ``request``.

        Raise KeyError if the request does not wait.
        """
        return replace(self, waiting=self.waiting.remove(request))

    def without(self, strike: Strike) -> FaultBook:
        """Return the book as if the request of ``strike`` had not arrived.

        All other requests still count.
        """
        counts = self.counts
        for name, (earlier, later) in strike.counted.items():
            count = self.count(name)
            if count.matched < later.matched:  # a new rule with that name, which did not count the request
                continue
            memory = earlier.memory if count.memory is later.memory else count.memory
            applied = count.applied - later.applied + earlier.applied
            counts = counts.insert(name, Count(count.matched - 1, applied, memory))
        return replace(self, counts=counts)
