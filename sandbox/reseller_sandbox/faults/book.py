"""The rules of a world with what they remember: one immutable value, part of the world's moment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from reseller_sandbox.faults.kind import Asked, Luck, Phase, Target, Turn
from reseller_sandbox.faults.rule import FaultRule


@dataclass(frozen=True, slots=True)
class Count:
    """How many requests a rule matched while in force, how many it struck, and what its kind remembers."""

    matched: int = 0
    struck: int = 0
    memory: Any = None


_NONE = Count()


@dataclass(frozen=True, slots=True)
class FaultBook:
    """Rules in their order, their counts, and the requests that wait for a delay to pass.

    What waits is known by an object of its own. When the world goes back to a moment before the
    request came, it is not among those that wait, and so never takes effect.
    """

    rules: tuple[FaultRule, ...] = ()
    counts: HashTrieMap[str, Count] = field(default_factory=HashTrieMap)
    waiting: HashTrieSet[object] = field(default_factory=HashTrieSet)

    def count(self, name: str) -> Count:
        """What a rule has counted."""
        return self.counts.get(name, _NONE)

    def strike(
        self, phase: Phase, asked: Asked, now: datetime, seed: str, target: Target
    ) -> tuple[FaultBook, list[FaultRule]]:
        """Let the rules of a phase have their turn at a request, in their order.

        Those that strike do so on ``target``. Answers them, and the book with the new counts.
        """
        counts, struck = self.counts, []
        for rule in self.rules:
            count = counts.get(rule.name, _NONE)
            if rule.phase != phase or not rule.when.in_force(count.struck, now):
                continue
            if not rule.match(asked) or not rule.kind.applies(asked):
                continue
            matched = count.matched + 1
            turn = Turn(asked, now, Luck(f"{seed}/fault/{rule.name}/{matched}"), count.memory)
            hit = rule.when.strikes(matched, turn.luck) and rule.kind.strike(target, turn)
            counts = counts.insert(rule.name, Count(matched, count.struck + hit, turn.memory))
            if hit:
                struck.append(rule)
                if rule.kind.decides:
                    break
        return (self if counts is self.counts else replace(self, counts=counts)), struck

    def with_rules(self, rules: tuple[FaultRule, ...]) -> FaultBook:
        """Other rules; those that were there already, under the same name, go on counting."""
        kept = {rule.name: rule for rule in self.rules}
        counts: HashTrieMap[str, Count] = HashTrieMap()
        for rule in rules:
            if rule.name in self.counts and kept.get(rule.name) is rule:
                counts = counts.insert(rule.name, self.counts[rule.name])
        return replace(self, rules=rules, counts=counts)

    def holding(self, request: object) -> FaultBook:
        """The book while ``request`` waits."""
        return replace(self, waiting=self.waiting.insert(request))

    def released(self, request: object) -> FaultBook:
        """The book once ``request`` waits no longer; raises KeyError when it does not."""
        return replace(self, waiting=self.waiting.remove(request))
