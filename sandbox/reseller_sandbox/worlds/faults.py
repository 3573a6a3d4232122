"""The faults of a world, to be set and looked at, by the control interface and by tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Any, Self

from reseller_sandbox.core.refusals import FAULT_EXISTS, TOO_MANY_FAULTS, UNKNOWN_FAULT, Refused
from reseller_sandbox.core.words import Vocabulary
from reseller_sandbox.faults import BadFaults, Count, FaultRule, reading
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
        """Have these rules instead of those there are.

        They begin to count anew, or go on from what they say themselves to have ``matched`` and ``struck``.
        Refuses with ``too_many_faults``.
        """
        with self._world.lock, self._world.acting("faults.replace") as deed:
            placed = self._put((), self._read(rules, place="rules[{}]"))
            deed.effect["faults"] = list(placed.names)
            return placed

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
        with self._world.lock, self._world.acting("faults.add") as deed:
            there = self._world.moment.faults.rules
            name = given.get("name")
            if any(rule.name == name for rule in there):
                raise Refused(FAULT_EXISTS, fault=name)
            placed = self._put(there, self._read([given], [rule.name for rule in there]))
            deed.effect["faults"] = list(placed.names)
            return placed

    def change(self, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change parts of a rule, which stays where it is and goes on counting; answers it.

        Parts of ``match`` and ``when`` are changed one by one, and a null takes one away; ``paused`` makes
        it strike nothing for now. Refuses with ``unknown_fault``.
        """
        with self._world.lock, self._world.acting("faults.change", name=name):
            book = self._world.moment.faults
            before = next((rule for rule in book.rules if rule.name == name), None)
            if before is None:
                raise self._unknown(name)
            if changes.get("name", name) != name:
                raise BadFaults(["name cannot be changed: what a rule counts goes by it"])
            ((after, given),) = self._read([reading.changed(before, changes)])
            count = book.count(name)
            counted = {key: getattr(given, key) for key in ("matched", "struck") if key in changes}
            count = dataclasses.replace(count, **counted)
            if type(after.kind) is not type(before.kind):
                count = dataclasses.replace(count, memory=None)
            rules = tuple(after if rule is before else rule for rule in book.rules)
            self._set(rules, {name: count})
            return self.get(name)

    def pause(self, name: str) -> dict[str, Any]:
        """Let a rule strike nothing for now; refuses with ``unknown_fault``."""
        return self.change(name, {"paused": True})

    def resume(self, name: str) -> dict[str, Any]:
        """Let a paused rule strike again; refuses with ``unknown_fault``."""
        return self.change(name, {"paused": False})

    def _read(
        self, given: Sequence[Mapping[str, Any]], taken: Sequence[str] = (), place: str = ""
    ) -> tuple[reading.Read, ...]:
        return reading.read_rules(given, self._vocabulary, taken, place, self._world.now())

    def _put(self, there: tuple[FaultRule, ...], rules: tuple[reading.Read, ...]) -> Placed:
        count, limit = len(there) + len(rules), self._world.limits.max_faults
        if count > limit:
            raise Refused(TOO_MANY_FAULTS, count=count, limit=limit, setting="--max-faults")
        self._set((*there, *(one.rule for one in rules)), {one.rule.name: one.counted for one in rules})
        return Placed(self, tuple(one.rule.name for one in rules))

    def remove(self, name: str) -> None:
        """Take one rule away; refuses with ``unknown_fault``."""
        with self._world.lock, self._world.acting("faults.remove", name=name):
            there = self._world.moment.faults.rules
            kept = tuple(rule for rule in there if rule.name != name)
            if kept == there:
                raise self._unknown(name)
            self._set(kept)

    def clear(self) -> None:
        """Take every rule away. Requests that a delay holds up still take effect."""
        with self._world.lock, self._world.acting("faults.clear"):
            self._set(())

    def _set(self, rules: tuple[FaultRule, ...], counts: Mapping[str, Count] = MappingProxyType({})) -> None:
        moment = self._world.moment
        faults = moment.faults.with_rules(rules, counts)
        self._world.moment = dataclasses.replace(moment, faults=faults)

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
