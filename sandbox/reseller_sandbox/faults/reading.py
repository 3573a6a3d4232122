"""Rules as JSON: read with a word for every mistake and its place, and written again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.core.values import complaint
from reseller_sandbox.faults import answers, connection, effects, limits, timing
from reseller_sandbox.faults.book import Count
from reseller_sandbox.faults.kind import Kind
from reseller_sandbox.faults.parameters import Problems, described, nearest, parameters, read, schema, shown
from reseller_sandbox.faults.presets import PRESETS, expanded
from reseller_sandbox.faults.rule import FaultRule, Match, When

#: Every kind of fault, by name.
KINDS: Mapping[str, type[Kind]] = {
    kind.name: kind
    for kind in (
        answers.Error,
        timing.Latency,
        timing.Drip,
        connection.Hang,
        connection.Reset,
        connection.Close,
        connection.Truncate,
        connection.Garbage,
        answers.Mutate,
        limits.RateLimit,
        effects.Duplicate,
        effects.Stale,
    )
}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OWN = ("name", "match", "when", "kind")


class BadFaults(Refused):
    """What was given are no rules; ``problems`` names every mistake with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(INVALID_PARAMETER, problems=complaint(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that rules may use: ids of operations, and the names of each interface's errors.

    An interface is called as the ids of its operations begin.
    """

    operations: frozenset[str]
    errors: Mapping[str, frozenset[str]]

    def interfaces(self, globs: Iterable[str]) -> list[str]:
        """The interfaces that have an operation which one of ``globs`` matches; all of them without any."""
        globs = tuple(globs)
        matched = {
            operation.partition(".")[0]
            for operation in self.operations
            if not globs or any(fnmatchcase(operation, glob) for glob in globs)
        }
        return sorted(matched)


def read_rules(
    given: Sequence[Any], vocabulary: Vocabulary | None, taken: Iterable[str] = (), place: str = "rules[{}]"
) -> tuple[FaultRule, ...]:
    """The rules that ``given`` describes, presets among them; names in ``taken`` are not free.

    ``place`` is where each of them stands. Without a vocabulary any word will do for an operation or an
    error. Raises ``BadFaults``.
    """
    problems = Problems()
    named = dict.fromkeys(taken, "a rule that is there already")
    rules: list[FaultRule] = []
    for number, item in enumerate(given):
        at = place.format(number)
        for one in _each(item, at, problems):
            rule = _rule(one, at, vocabulary, named, problems)
            if rule is not None:
                rules.append(rule)
    if problems.found:
        raise BadFaults(list(dict.fromkeys(problems.found)))
    return tuple(rules)


def given(rule: FaultRule) -> dict[str, Any]:
    """A rule as JSON, as it can be given again; its name apart."""
    return {
        "kind": rule.kind.name,
        "match": shown(rule.match),
        "when": {"phase": rule.phase, **shown(rule.when)},
        **shown(rule.kind),
    }


def written(rule: FaultRule, count: Count, now: datetime) -> dict[str, Any]:
    """A rule as JSON: as it can be given again, with its counts and whether it is spent."""
    return {
        "name": rule.name,
        **given(rule),
        "matched": count.matched,
        "struck": count.struck,
        "spent": rule.when.spent(count.struck, now),
    }


def kinds() -> list[dict[str, Any]]:
    """Every kind: what it does, in which phases, and its parameters."""
    return [
        {
            "kind": name,
            "about": " ".join(docstring(kind).split()),
            "phases": list(kind.phases),
            "parameters": described(kind),
        }
        for name, kind in KINDS.items()
    ]


def presets() -> list[dict[str, Any]]:
    """Every preset, with its rules."""
    return [
        {"preset": preset.name, "about": preset.about, "rules": expanded(preset, {})}
        for preset in PRESETS.values()
    ]


def parts() -> dict[str, list[dict[str, Any]]]:
    """What every rule may say beside its kind's parameters."""
    return {"match": described(Match), "when": described(When)}


def rule_schema() -> dict[str, Any]:
    """A rule as JSON Schema."""
    common = {
        "name": {"type": "string", "pattern": f"^{_NAME.pattern}$"},
        "match": {"type": "object", "properties": schema(Match), "additionalProperties": False},
        "when": {"type": "object", "properties": schema(When), "additionalProperties": False},
    }
    return {
        "oneOf": [
            {
                "type": "object",
                "title": name,
                "description": " ".join(docstring(kind).split()),
                "properties": {"kind": {"const": name}, **common, **schema(kind)},
                "required": ["kind"],
                "additionalProperties": False,
            }
            for name, kind in KINDS.items()
        ]
        + [
            {
                "type": "object",
                "title": "preset",
                "properties": {"preset": {"enum": list(PRESETS)}, **common},
                "required": ["preset"],
            }
        ]
    }


def _each(item: Any, at: str, problems: Problems) -> list[Any]:
    """The rules that one item stands for: itself, or a preset's."""
    if not isinstance(item, Mapping):
        return [item]
    if item.get("preset") is None:
        return [{key: value for key, value in item.items() if key != "preset"}]
    preset = PRESETS.get(item["preset"]) if isinstance(item["preset"], str) else None
    if preset is None:
        problems.add(_in(at, "preset"), f"must be one of {', '.join(PRESETS)}")
        return []
    rules = expanded(preset, {key: value for key, value in item.items() if value is not None})
    for key, value in item.items():
        if key in ("preset", "name", "match", "when"):
            continue
        having = [rule for rule in rules if key in parameters(KINDS[rule["kind"]])]
        if not having:
            problems.add(_in(at, str(key)), f"is no parameter of the preset {preset.name}")
        for rule in having if value is not None else ():
            rule[key] = value
    return rules


def _rule(
    given: Any, at: str, vocabulary: Vocabulary | None, named: dict[str, str], problems: Problems
) -> FaultRule | None:
    if not isinstance(given, Mapping):
        problems.add(at, "must be an object")
        return None
    match = _section(Match, given.get("match"), _in(at, "match"), problems)
    when = _section(When, given.get("when"), _in(at, "when"), problems)
    kind = _kind(given, at, problems)
    name = _name(given, at, named, problems)
    if vocabulary is not None and match is not None:
        _check_operations(match, _in(at, "match.operation"), vocabulary, problems)
    if vocabulary is not None and match is not None and isinstance(kind, answers.Error):
        _check_error(kind, match, _in(at, "error"), vocabulary, problems)
    if match is None or when is None or kind is None:
        return None
    rule = FaultRule(name, kind, match, when)
    if rule.phase not in kind.phases:
        problems.add(_in(at, "when.phase"), f"must be {kind.phases[0]} for the kind {kind.name}")
    if match.changed is not None and rule.phase != "after":
        problems.add(_in(at, "match.changed"), "goes with the phase after")
    return rule


def _section(of: Any, given: Any, at: str, problems: Problems) -> Any:
    section = read(of, {} if given is None else given, at, problems)
    if isinstance(section, When):
        for key, problem in section.mistakes():
            problems.add(_in(at, key), problem)
    return section


def _kind(given: Mapping[str, Any], at: str, problems: Problems) -> Kind | None:
    name = given.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        known = f"must be one of {', '.join(KINDS)}"
        problems.add(_in(at, "kind"), known if name is not None else f"is missing; it {known}")
        return None
    made = read(kind, {key: value for key, value in given.items() if key not in _OWN}, at, problems)
    if made is not None:
        for key, problem in made.mistakes():
            problems.add(_in(at, key) if key else at, problem)
    return made


def _name(given: Mapping[str, Any], at: str, named: dict[str, str], problems: Problems) -> str:
    """The rule's name: its own, or one made from its kind."""
    name = given.get("name")
    if name is None:
        kind = given.get("kind")
        free = kind if isinstance(kind, str) else "rule"
        number = 1
        while free in named:
            number += 1
            free = f"{kind}-{number}"
        name = free
    elif not isinstance(name, str) or not _NAME.fullmatch(name):
        problems.add(_in(at, "name"), "must be up to 64 letters, digits, dots, hyphens and underscores")
        return ""
    elif name in named:
        problems.add(_in(at, "name"), f"is the name of {named[name]}")
    named.setdefault(name, at or "another")
    return name


def _check_operations(match: Match, at: str, vocabulary: Vocabulary, problems: Problems) -> None:
    for glob in match.operation or ():
        if not any(fnmatchcase(operation, glob) for operation in vocabulary.operations):
            problems.add(at, f"matches no operation{nearest(glob, vocabulary.operations)}")


def _check_error(
    kind: answers.Error, match: Match, at: str, vocabulary: Vocabulary, problems: Problems
) -> None:
    if kind.error is None:
        return
    known = frozenset().union(*vocabulary.errors.values())
    if kind.error not in known:
        problems.add(at, f"is the name of no documented error{nearest(kind.error, known)}")
        return
    matched = vocabulary.interfaces(match.operation or ())
    if matched and not any(kind.error in vocabulary.errors[interface] for interface in matched):
        problems.add(at, f"is no error of {' or '.join(matched)}, whose operations the rule matches")


def _in(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key
