"""The faults of a world, to be set and looked at, by the control interface and by tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from reseller_sandbox.core.refusals import FAULT_EXISTS, TOO_MANY_FAULTS, UNKNOWN_FAULT, Refused
from reseller_sandbox.faults import FaultRule, Vocabulary, reading
from reseller_sandbox.worlds.world import World


class Faults:
    """The rules of ``world``, which may use the words of ``vocabulary``.

    A rule is a mapping as JSON shows it. What is wrong with one is refused with ``invalid_parameter``
    (``BadFaults``), every mistake with its place, and then nothing has changed.
    """

    def __init__(self, world: World, vocabulary: Vocabulary) -> None:
        self._world = world
        self._vocabulary = vocabulary

    @staticmethod
    def kinds() -> Sequence[Mapping[str, Any]]:
        """Every kind of fault: what it does, in which phases, and its parameters."""
        return reading.kinds()

    @staticmethod
    def presets() -> Sequence[Mapping[str, Any]]:
        """Every preset, with its rules."""
        return reading.presets()

    def list(self) -> list[dict[str, Any]]:
        """Every rule in its order: how often it has ``matched``, ``struck``, and whether it is ``spent``."""
        moment = self._world.moment
        now = self._world.now()
        return [reading.written(rule, moment.faults.count(rule.name), now) for rule in moment.faults.rules]

    def get(self, name: str) -> dict[str, Any]:
        """One rule as ``list`` shows it; refuses with ``unknown_fault``."""
        found = next((rule for rule in self.list() if rule["name"] == name), None)
        if found is None:
            raise self._unknown(name)
        return found

    def replace(self, rules: Sequence[Mapping[str, Any]]) -> Placed:
        """Have these rules instead of those there are; all of them begin to count anew.

        Refuses with ``too_many_faults``.
        """
        with self._world.lock:
            read = reading.read_rules(rules, self._vocabulary)
            return self._put((), read)

    def add(self, kind: str | None = None, **rule: Any) -> Placed:
        """Add one rule after the others; takes what a rule has, ``match`` and ``when`` as mappings.

        Answers the rule that was put in place, which is a context manager: it goes when that ends.
        Refuses with ``fault_exists`` and ``too_many_faults``.
        """
        return self.place({**rule, "kind": kind} if kind is not None else rule)

    def preset(self, preset: str, **changes: Any) -> Placed:
        """Add the rules of a preset: ``flaky``, ``outage``, ``lost-responses``, ``slow``, ``rate-limited``
        or ``maintenance``.

        ``name`` names them, ``match`` and ``when`` are added to each rule's own, and a parameter goes to
        the rules whose kind has it. Answers and refuses as ``add`` does.
        """
        return self.place({**changes, "preset": preset})

    def place(self, given: Mapping[str, Any]) -> Placed:
        """Add what one JSON object describes: a rule, or the rules of a preset. As ``add`` otherwise."""
        with self._world.lock:
            there = self._world.moment.faults.rules
            name = given.get("name")
            if any(rule.name == name for rule in there):
                raise Refused(FAULT_EXISTS, fault=name)
            taken = [rule.name for rule in there]
            return self._put(there, reading.read_rules([given], self._vocabulary, taken, place=""))

    def _put(self, there: tuple[FaultRule, ...], rules: tuple[FaultRule, ...]) -> Placed:
        count, limit = len(there) + len(rules), self._world.limits.faults
        if count > limit:
            raise Refused(TOO_MANY_FAULTS, count=count, limit=limit, setting="--max-faults")
        self._set((*there, *rules))
        return Placed(self, tuple(rule.name for rule in rules))

    def remove(self, name: str) -> None:
        """Take one rule away; refuses with ``unknown_fault``."""
        with self._world.lock:
            there = self._world.moment.faults.rules
            kept = tuple(rule for rule in there if rule.name != name)
            if kept == there:
                raise self._unknown(name)
            self._set(kept)

    def clear(self) -> None:
        """Take every rule away. Requests that a delay holds up still take effect."""
        with self._world.lock:
            self._set(())

    def _set(self, rules: tuple[FaultRule, ...]) -> None:
        moment = self._world.moment
        self._world.moment = replace(moment, faults=moment.faults.with_rules(rules))

    def _unknown(self, name: str) -> Refused:
        known = ", ".join(rule.name for rule in self._world.moment.faults.rules)
        return Refused(UNKNOWN_FAULT, fault=name[:80], known=known[:400] or "none")


@dataclass(frozen=True, slots=True)
class Placed:
    """Rules that have been put in place, by name. As a context manager it takes them away in the end."""

    faults: Faults
    names: tuple[str, ...]

    @property
    def rules(self) -> list[dict[str, Any]]:
        """Those of the rules that are still there, as ``Faults.list`` shows them."""
        return [rule for rule in self.faults.list() if rule["name"] in self.names]

    @property
    def matched(self) -> int:
        """How many requests they have matched."""
        return sum(rule["matched"] for rule in self.rules)

    @property
    def struck(self) -> int:
        """How many requests they have struck."""
        return sum(rule["struck"] for rule in self.rules)

    def remove(self) -> None:
        """Take them away, those that are still there."""
        for rule in self.rules:
            self.faults.remove(rule["name"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()
