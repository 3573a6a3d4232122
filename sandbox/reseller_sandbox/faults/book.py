"""The book of a world's rules with their counts: an immutable value, part of the world's moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from rpds import HashTrieMap, HashTrieSet

from reseller_sandbox.faults.kind import Asked, Chance, Effects, FaultContext, Phase
from reseller_sandbox.faults.rule import Count, FaultRule

_NONE = Count()


@dataclass(slots=True, eq=False)
class Strike:
    """The rules that struck a request in one phase, and their effects together.

    ``counted`` has the counts of each rule that the request matched, before and after that. If the request
    has to wait, ``request`` is its journal entry so far, and ``arrived`` is when it arrived.
    """

    rules: Sequence[FaultRule]
    effects: Effects
    counted: Mapping[str, tuple[Count, Count]]
    request: Any = None
    arrived: Any = None


class FaultBook(Struct, frozen=True):
    """Rules in their order, their counts, and the requests that wait for a delay to pass.

    Each waiting request is an object in ``waiting``. When the world goes back to a moment before it came, it
    is not there, and so never takes effect.
    """

    rules: tuple[FaultRule, ...] = ()
    counts: HashTrieMap[str, Count] = field(default_factory=HashTrieMap)
    waiting: HashTrieSet[object] = field(default_factory=HashTrieSet)

    def count(self, name: str) -> Count:
        """Return the count of a rule."""
        return self.counts.get(name, _NONE)

    def apply(
        self, phase: Phase, asked: Asked, now: datetime, seed: str, effects: Effects
    ) -> tuple[FaultBook, Strike]:
        """Let the rules of a phase strike a request, in their order.

        Return the book with the new counts, and what they have made of ``effects``.
        """
        counts, applied = self.counts, []
        counted: dict[str, tuple[Count, Count]] = {}
        for rule in self.rules:
            if rule.paused or rule.phase != phase or not rule.matches(asked):
                continue
            count = counts.get(rule.name, _NONE)
            if not rule.when.in_force(count, now):
                continue
            matched = count.matched + 1
            turn = FaultContext(asked, now, Chance(f"{seed}/fault/{rule.name}/{matched}"), count.memory)
            after = rule.kind.apply(effects, turn) if rule.when.strikes(matched, turn.luck) else None
            later = Count(matched, count.applied + (after is not None), turn.memory)
            counts, counted[rule.name] = counts.insert(rule.name, later), (count, later)
            if after is not None:
                effects = after
                applied.append(rule)
                if effects.final:
                    break
        book = self if counts is self.counts else replace(self, counts=counts)
        return book, Strike(applied, effects, counted)

    def with_rules(self, rules: tuple[FaultRule, ...], counts: Mapping[str, Count]) -> FaultBook:
        """Return the book with other rules; those that stay go on counting, new ones begin at ``counts``."""
        kept = {rule.name: rule for rule in self.rules}
        new: HashTrieMap[str, Count] = HashTrieMap()
        for rule in rules:
            count = self.count(rule.name) if kept.get(rule.name) is rule else counts.get(rule.name, _NONE)
            new = new.insert(rule.name, count)
        return replace(self, rules=rules, counts=new)

    def holding(self, request: object) -> FaultBook:
        """Return the book while ``request`` waits."""
        return replace(self, waiting=self.waiting.insert(request))

    def released(self, request: object) -> FaultBook:
        """Return the book once ``request`` waits no longer; raise KeyError when it does not."""
        return replace(self, waiting=self.waiting.remove(request))

    def without(self, apply: Strike) -> FaultBook:
        """Return the book as if the request of ``apply`` had not arrived; the other requests count."""
        counts = self.counts
        for name, (earlier, later) in apply.counted.items():
            count = self.count(name)
            if count.matched < later.matched:  # a new rule of that name, which never saw the request
                continue
            memory = earlier.memory if count.memory is later.memory else count.memory
            applied = count.applied - later.applied + earlier.applied
            counts = counts.insert(name, Count(count.matched - 1, applied, memory))
        return replace(self, counts=counts)
