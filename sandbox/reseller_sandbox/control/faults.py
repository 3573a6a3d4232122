"""The faults of a world: rules that make requests fail, their kinds and presets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, cast

from msgspec.structs import replace

from reseller_sandbox.answers import places_of
from reseller_sandbox.control.resource import Resource, read, write
from reseller_sandbox.control.results import Keyed, Result, changed_by, record_of
from reseller_sandbox.faults import KINDS, Count, FaultKind, FaultRule, reading
from reseller_sandbox.faults.reading import PRESETS, preset_rules
from reseller_sandbox.faults.rule import PAST, WHEN_APPLIED, When
from reseller_sandbox.refusals import FAULT_EXISTS, TOO_MANY_FAULTS, UNKNOWN_FAULT, Refused
from reseller_sandbox.registry.contract import Canned
from reseller_sandbox.values.kinds import MAPPING, Key, Kind, Mistake, Within, json_value
from reseller_sandbox.values.matching import CANNED, MATCH, Matching
from reseller_sandbox.values.parameters import (
    Also,
    Group,
    Parameter,
    declared,
    refused,
    unmarked,
    without_arguments,
    written,
)
from reseller_sandbox.values.text_checks import names_phrase
from reseller_sandbox.worlds import World


@changed_by(others="faults.change")
class FaultRecord(Result, frozen=True, kw_only=True):
    """A fault rule with its counts. ``Faults.replace`` accepts records of this type.

    The parameters of the fault kind are keys of the record, too. ``exhausted`` is true if the rule will never
    apply again.
    """

    name: str
    kind: str
    match: Mapping[str, Any]
    when: Mapping[str, Any]
    paused: bool
    matched: int
    applied: int
    exhausted: bool
    parameters: Mapping[str, Any]

    #: In JSON, the record has no key ``parameters``. Its own keys include the keys of ``parameters``. The
    #: function returns all possible keys of ``parameters``.
    among: ClassVar[tuple[str, Callable[[], tuple[Parameter, ...]]]] = ("parameters", reading.kind_parameters)

    @classmethod
    def received(cls, answer: Mapping[str, Any]) -> Self:
        """Return the record of a rule that a server sent as JSON."""
        parameters = {key: answer[key] for key in answer if key not in cls.__struct_fields__}
        return super().received({**answer, "parameters": parameters})

    def keys(self) -> list[str]:
        """Return the keys of the rule in JSON, so that ``replace`` accepts ``dict(rule)``."""
        return [*(name for name in self.__struct_fields__ if name != "parameters"), *self.parameters]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, key: str) -> object:
        return self.parameters[key] if key in self.parameters else getattr(self, key)


class FaultList(Result, frozen=True, kw_only=True):
    """Fault rules in order. The sandbox compares each request with the rules in this order."""

    faults: tuple[FaultRecord, ...]

    @classmethod
    def received(cls, answer: Mapping[str, Any]) -> Self:
        """Return the rules that a server sent as JSON."""
        return cls(faults=tuple(map(FaultRecord.received, answer["faults"])))

    def __iter__(self) -> Iterator[FaultRecord]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)


#: The key in the effect of an event: removed rules that were never applied, with the number of requests that
#: they matched.
NEVER_APPLIED = "never_applied"


class AddedFaults(FaultList, frozen=True, kw_only=True):
    """The fault rules that one call of ``add`` or ``replace`` added.

    Use the record as a context manager to remove the rules at the end of a block.
    """

    hidden = ("_resource",)

    _resource: Any = None

    def of(self, resource: Resource) -> Self:
        """Return a copy that reads and removes the rules through ``resource``."""
        return replace(self, _resource=resource)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the rules."""
        return tuple(rule.name for rule in self.faults)

    @property
    def rules(self) -> tuple[FaultRecord, ...]:
        """Return the current state of the rules that still exist."""
        return tuple(rule for rule in self._resource.list() if rule.name in self.names)

    @property
    def matched(self) -> int:
        """Return the number of requests that have matched the rules until now."""
        return sum(rule.matched for rule in self.rules)

    @property
    def applied(self) -> int:
        """Return the number of requests to which the rules have been applied until now."""
        return sum(rule.applied for rule in self.rules)

    def remove(self) -> None:
        """Remove the rules that still exist."""
        for rule in self.rules:
            self._resource.remove(rule.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class PartRecord(Result, frozen=True, kw_only=True):
    """A key of a fault rule: its accepted values, its default, and whether it is required."""

    name: str
    takes: str
    required: bool
    default: Any
    about: str


class KindRecord(Result, frozen=True, kw_only=True):
    """A kind of fault with its parameters.

    ``phases`` lists the phases in which the fault can be applied. The first phase is the default.
    """

    kind: str
    about: str
    phases: tuple[str, ...]
    parameters: tuple[PartRecord, ...]


class FaultKindList(Result, frozen=True, kw_only=True):
    """Every kind of fault, and the parts that any rule can have.

    ``match`` lists the parts that select requests. ``when`` lists the parts that select some of the matching
    requests. ``kept`` lists the other parts of a rule.
    """

    kinds: tuple[KindRecord, ...]
    match: tuple[PartRecord, ...]
    when: tuple[PartRecord, ...]
    kept: tuple[PartRecord, ...]


class PresetRecord(Result, frozen=True, kw_only=True):
    """A preset and the rules that it adds."""

    preset: str
    about: str
    rules: tuple[Mapping[str, Any], ...]


class PresetList(Result, frozen=True, kw_only=True):
    """All presets of fault rules."""

    presets: tuple[PresetRecord, ...]


def _kind(value: object) -> object:
    """Return a kind of fault as JSON: its name, or an object with its parameters.

    ``reading`` later checks that the kind exists.
    """
    if isinstance(value, FaultKind):
        return {"kind": value.name, **written(declared(type(value)), value)}
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # a status, for which ``reading`` suggests a rule
    return value if isinstance(value, str) else MAPPING.read(value)


def _rules(value: object) -> list[object]:
    if not isinstance(value, list | tuple | FaultList):
        raise ValueError("must be an array")
    return [json_value(_without_counts(rule)) for rule in value]


def _without_counts(rule: object) -> object:
    """Return a rule without the counts that a rule from ``Faults.list`` has."""
    if not isinstance(rule, Mapping | FaultRecord):
        return rule
    return {key: rule[key] for key in rule if key not in ("matched", "applied", "exhausted")}


KindOrFault = Annotated[
    str | FaultKind,
    Kind({"oneOf": [{"type": "string", "enum": list(KINDS)}, {"type": "object"}]}, _kind),
    Also("type fault"),
]
Rules = Annotated[
    Sequence[Mapping[str, Any] | FaultRecord] | FaultList,
    Kind(lambda: {"type": "array", "items": reading.rule_schema()}, _rules),
]
Changes = Annotated[Mapping[str, Any], MAPPING]
RuleName = Annotated[Key, "The rule's name."]
RuleParts = Annotated[Any, Group(reading.rule_parameters)]


class Faults(Keyed[FaultRecord]):
    """Rules that make requests fail, before or after the requests take effect.

    A rule has a ``kind`` with its parameters. Its ``match`` selects requests. Its ``when`` selects the
    matching requests to which the fault is applied. If any part of your rule is invalid, nothing changes.

    >>> with sandbox.faults.add("latency", seconds=0.5, match={"operation": "v3.*"}) as fault:
    ...     assert fault.applied == 0
    """

    @read("GET faults")
    def list(self) -> FaultList:
        """Return every rule in order.

        ``matched`` counts the requests that match a rule. ``applied`` counts the requests to which the fault
        was applied.
        """
        rules = self._world.snapshot.faults.rules
        return FaultList(faults=tuple(_record(self._world, rule) for rule in rules))

    @read("GET faults/{name}", UNKNOWN_FAULT)
    def get(self, name: RuleName, /) -> FaultRecord:
        """Return one rule."""
        return _record(self._world, self._rule(name))

    @write("POST faults", FAULT_EXISTS, TOO_MANY_FAULTS, open_ended=True)
    def add(self, kind: KindOrFault | None = None, **rule: RuleParts) -> AddedFaults:
        """Add a rule, or the rules of a preset, after the existing rules. Return the new rules.

        Args:
            kind: The kind of fault: its name, or the kind with its parameters.
        """
        spec = {**(kind if isinstance(kind, dict) else {"kind": kind} if kind is not None else {}), **rule}
        rules = self._world.snapshot.faults.rules
        if any(existing.name == spec.get("name") for existing in rules):
            raise Refused(FAULT_EXISTS, fault=spec["name"])
        return self._add(rules, [spec])

    def preset(self, preset: str, **changes: Any) -> AddedFaults:
        """Add the rules of a preset.

        ``name`` names the rules. ``match`` and ``when`` are added to those of each rule. Any other
        parameter is set in the rules whose kind has this parameter.
        """
        return self.add(preset=preset, **changes)

    @write("PUT faults", TOO_MANY_FAULTS)
    def replace(self, faults: Rules) -> AddedFaults:
        """Replace all rules by new rules. If one new rule is invalid, nothing changes.

        To restore all rules, pass the result of ``list``. The counters of the new rules begin at 0.

        Args:
            faults: The new rules, in order.
        """
        return self._add((), cast(Any, faults), "faults[{}]")

    @write("PATCH faults/{name}", UNKNOWN_FAULT)
    def change(self, name: RuleName, /, changes: Changes) -> FaultRecord:
        """Change parts of a rule. The rule keeps its position and its counts.

        Args:
            changes: The parts to change, with their new values. ``match`` and ``when`` are merged key by key.
                Every other part is replaced. The value null removes a part.
        """
        before, book = self._rule(name), self._world.snapshot.faults
        if changes.get("name", name) != name:
            problem = "cannot be changed, because the counts of a rule belong to its name"
            raise refused([Mistake(("name",), problem)])
        (after,) = self._read([reading.changed(before, changes)])
        count = book.count(name)
        if type(after.kind) is not type(before.kind):
            count = replace(count, windows=None)
        self._set(tuple(after if rule is before else rule for rule in book.rules), {name: count})
        return _record(self._world, after)

    @write("POST faults/{name}/pause", UNKNOWN_FAULT)
    def pause(self, name: RuleName, /) -> FaultRecord:
        """Pause a rule. A paused rule is applied to no request until you resume the rule."""
        return self.change(name, {"paused": True})

    @write("POST faults/{name}/resume", UNKNOWN_FAULT)
    def resume(self, name: RuleName, /) -> FaultRecord:
        """Resume a paused rule."""
        return self.change(name, {"paused": False})

    @write("DELETE faults/{name}", UNKNOWN_FAULT)
    def remove(self, name: RuleName, /) -> FaultList:
        """Remove one rule. Return the remaining rules."""
        removed = self._rule(name)
        self._set(tuple(rule for rule in self._world.snapshot.faults.rules if rule is not removed))
        return self.list()

    @write("DELETE faults")
    def clear(self) -> FaultList:
        """Remove every rule. Requests that a fault is delaying still take effect."""
        self._set(())
        return self.list()

    @read("GET faults/kinds")
    def kinds(self) -> FaultKindList:
        """Return every kind of fault with its parameters, and the parts that every rule can have."""
        return FaultKindList(
            kinds=tuple(
                KindRecord(
                    kind=name,
                    about=" ".join(unmarked(without_arguments(kind)).split()),
                    phases=tuple(kind.phases),
                    parameters=_parts(kind),
                )
                for name, kind in KINDS.items()
            ),
            match=tuple(part for part in _parts(Matching) if part.name not in PAST),
            when=_parts(When),
            kept=tuple(part for part in _parts(FaultRule) if part.name not in ("match", "when")),
        )

    @read("GET faults/presets")
    def presets(self) -> PresetList:
        """Return every preset with its rules."""
        return PresetList(
            presets=tuple(
                PresetRecord(preset=preset.name, about=preset.about, rules=tuple(preset_rules(preset, {})))
                for preset in PRESETS.values()
            )
        )

    def _rule(self, name: str) -> FaultRule:
        """Return the rule called ``name``. Refuse with ``unknown_fault`` if there is none."""
        by_name = {rule.name: rule for rule in self._world.snapshot.faults.rules}
        if name not in by_name:
            raise Refused(UNKNOWN_FAULT, fault=name[:80], known=names_phrase(by_name, "faults"))
        return by_name[name]

    def _add(self, rules: tuple[FaultRule, ...], specs: Sequence[object], place: str = "") -> AddedFaults:
        """Replace the world's rules with ``rules`` and then ``specs``. Refuse with ``too_many_faults``."""
        answers = self._world.snapshot.answers
        canned = {f"{CANNED}{name}": places_of(answer) for name, answer in answers.items()}
        added = self._read(specs, [rule.name for rule in rules], place, canned)
        self._world.limits.require_room_for_faults(len(rules) + len(added))
        names = [rule.name for rule in added]
        with self._world.acting("faults.add") as action:
            self._set((*rules, *added))
            action.effect["faults"] = names
        return AddedFaults(faults=tuple(rule for rule in self.list() if rule.name in names))

    def _read(
        self, specs: Sequence[object], taken: Sequence[str] = (), place: str = "", canned: Canned = None
    ) -> tuple[FaultRule, ...]:
        """Return ``specs`` as rules. Refuse with ``invalid_parameter``, which names every mistake."""
        try:
            return reading.read_rules(specs, self._local.words, taken, place, self._world.now(), canned)
        except Within as invalid:
            raise refused(invalid.problems) from None

    def _set(self, rules: tuple[FaultRule, ...], counts: Mapping[str, Count] | None = None) -> None:
        """Set the rules of the world. The event of the call names removed rules that were never applied."""
        with self._world.acting("faults.replace") as action:
            book, kept = self._world.snapshot.faults, {rule.name for rule in rules}
            removed = [rule.name for rule in book.rules if rule.name not in kept]
            if idle := {name: book.count(name).matched for name in removed if not book.count(name).applied}:
                action.effect[NEVER_APPLIED] = idle
            self._world.change(faults=book.with_rules(rules, counts or {}))


def _parts(of: type) -> tuple[PartRecord, ...]:
    """Return a record for each field of a class: a fault kind, ``Matching``, ``When`` or ``FaultRule``."""
    return tuple(
        record_of(
            PartRecord,
            part,
            takes=part.kind.says,
            default=None if part.default is None else part.kind.write(part.default),
            about=part.words,
        )
        for part in declared(of)
    )


def _record(world: World, rule: FaultRule) -> FaultRecord:
    count = world.snapshot.faults.count(rule.name)
    return record_of(
        FaultRecord,
        rule,
        kind=rule.kind.name,
        match=MATCH.write(rule.match),
        when={"phase": rule.phase, **WHEN_APPLIED.write(rule.when)},
        matched=count.matched,
        applied=count.applied,
        exhausted=rule.when.exhausted(count, world.now()),
        parameters=written(declared(type(rule.kind)), rule.kind),
    )
