"""Rules as JSON, read with every mistake and its place, and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from reseller_sandbox.core.complaints import complaint
from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.parts import Problems, keys, parameter, read, shown
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.core.spelling import nearest
from reseller_sandbox.core.values import SWITCH, WHEN, instant, whole
from reseller_sandbox.core.vocabulary import Vocabulary, unknown
from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds import KINDS, Error
from reseller_sandbox.faults.presets import PRESETS, expanded
from reseller_sandbox.faults.rule import MANY, Count, FaultRule, When

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: The paths beside the rules, which a rule of the same name would be hidden behind.
RESERVED = ("kinds", "presets")
_OWN = frozenset({"name", "match", "when", "kind", "paused", "matched", "struck", "spent"})

#: What a rule may match on only once the request has been answered.
_ANSWERED = ("outcome", "carried_out", "changed", "fault")

#: What can be matched of requests of the past alone.
PAST = ("since",)


class BadFaults(Refused):
    """Rules cannot be read; ``problems`` names every mistake with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(INVALID_PARAMETER, problems=complaint(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a rule is shown with beside its parts; ``spent`` follows from those and the counts."""

    paused: bool = parameter(
        SWITCH, "Whether it strikes nothing for now, and keeps what it counted.", default=False
    )
    matched: int = parameter(whole(0, MANY), "How many requests it has matched.", default=0)
    struck: int = parameter(whole(0, MANY), "How many of them it has struck.", default=0)
    spent: bool = parameter(SWITCH, "Whether it will not strike again.", default=False)


class Read(NamedTuple):
    """A rule, and what it has counted already."""

    rule: FaultRule
    counted: Count


def read_rules(
    given: Sequence[Any],
    vocabulary: Vocabulary | None,
    taken: Iterable[str] = (),
    place: str = "rules[{}]",
    now: datetime | None = None,
) -> tuple[Read, ...]:
    """Read the rules that ``given`` describes, presets among them; names in ``taken`` are refused.

    ``place`` is where each of them stands, ``now`` the instant that lengths of time are counted from. What
    the function ``given`` returns for a rule can be read again. Without a vocabulary any word is taken for an
    operation or an error. Raises ``BadFaults``.
    """
    problems = Problems()
    named = dict.fromkeys(taken, "a rule that is there already")
    rules: list[Read] = []
    for number, item in enumerate(given):
        at = place.format(number)
        for one in _each(item, at, problems):
            rule = _rule(one, at, vocabulary, named, now, problems)
            if rule is not None:
                rules.append(rule)
    if problems.found:
        raise BadFaults(list(dict.fromkeys(problems.found)))
    return tuple(rules)


def given(rule: FaultRule) -> dict[str, Any]:
    """Return a rule as JSON that can be read again, without its name."""
    when = replace(rule.when, phase=None) if rule.phase == rule.kind.phases[0] else rule.when
    return {
        "kind": rule.kind.name,
        "match": shown(rule.match),
        "when": shown(when),
        **({"paused": True} if rule.paused else {}),
        **shown(rule.kind),
    }


def changed(rule: FaultRule, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule as JSON with ``changes``: ``match`` and ``when`` part by part, all else whole.

    A null removes a part. With another kind, the parameters of the old one are dropped.
    """
    before = {"name": rule.name, **given(rule)}
    if changes.get("kind") not in (None, rule.kind.name):
        before = {key: value for key, value in before.items() if key in _OWN}
    after = {**before, **changes}
    for section in ("match", "when"):
        if isinstance(changes.get(section), Mapping):
            after[section] = {**before[section], **changes[section]}
    return after


def _each(item: Any, at: str, problems: Problems) -> list[Any]:
    """Return the rules that one item stands for: itself, or a preset's."""
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
        having = [rule for rule in rules if key == "paused" or key in keys(KINDS[rule["kind"]])]
        if not having:
            problems.add(_in(at, str(key)), f"is no parameter of the preset {preset.name}")
        for rule in having if value is not None else ():
            rule[key] = value
    return rules


def _rule(
    given: Any,
    at: str,
    vocabulary: Vocabulary | None,
    named: dict[str, str],
    now: datetime | None,
    problems: Problems,
) -> Read | None:
    if not isinstance(given, Mapping):
        problems.add(at, "must be an object")
        return None
    match = read(Match, {} if given.get("match") is None else given["match"], _in(at, "match"), problems)
    when = _when(given.get("when"), _in(at, "when"), now, problems)
    kind = _kind(given, at, problems)
    name = _name(given, at, named, problems)
    kept = read(Kept, {key: given[key] for key in keys(Kept) if key in given}, at, problems)
    if match is not None:
        for key, problem in unknown(match, vocabulary):
            problems.add(_in(at, f"match.{key}"), problem)
        if vocabulary is not None and isinstance(kind, Error):
            _check_error(kind, match, _in(at, "error"), vocabulary, problems)
    if match is None or when is None or kind is None or kept is None:
        return None
    rule = FaultRule(name, kind, match, replace(when, phase=when.phase or kind.phases[0]), kept.paused)
    _check_phase(rule, at, problems)
    return Read(rule, Count(kept.matched, kept.struck))


def _when(given: Any, at: str, now: datetime | None, problems: Problems) -> When | None:
    given = {} if given is None else given
    if isinstance(given, Mapping) and now is not None:
        given = {
            key: _ahead(value, now) if key in ("from", "until") else value for key, value in given.items()
        }
    when = read(When, given, at, problems)
    for key, problem in when.mistakes() if when is not None else ():
        problems.add(_in(at, key), problem)
    return when


def _ahead(given: Any, now: datetime) -> Any:
    """Return the instant that a length of time leads to; anything else as it is."""
    try:
        return instant(WHEN.read(given), now)
    except (ValueError, OverflowError):
        return given


def _check_phase(rule: FaultRule, at: str, problems: Problems) -> None:
    if rule.phase not in rule.kind.phases:
        problems.add(_in(at, "when.phase"), f"must be {rule.kind.phases[0]} for the kind {rule.kind.name}")
    for part in _ANSWERED:
        if part in rule.match.parts and rule.phase != "after":
            problems.add(_in(at, f"match.{part}"), "goes with the phase after")
    for part in PAST:
        if part in rule.match.parts:
            problems.add(_in(at, f"match.{part}"), "is for requests of the past; use when.from")


def _kind(given: Mapping[str, Any], at: str, problems: Problems) -> FaultKind | None:
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
    """Return the rule's name: its own, or one made from its kind."""
    name = given.get("name")
    if name is None:
        kind = given.get("kind")
        free = kind if isinstance(kind, str) else "rule"
        number = 1
        while free in named:
            number += 1
            free = f"{kind}-{number}"
        name = free
    elif not isinstance(name, str) or not NAME.fullmatch(name):
        problems.add(_in(at, "name"), "must be up to 64 letters, digits, dots, hyphens and underscores")
        return ""
    elif name in RESERVED:
        problems.add(_in(at, "name"), f"cannot be {name}: the {name} to choose from stand under that name")
    elif name in named:
        problems.add(_in(at, "name"), f"is the name of {named[name]}")
    named.setdefault(name, at or "another")
    return name


def _check_error(kind: Error, match: Match, at: str, vocabulary: Vocabulary, problems: Problems) -> None:
    if kind.error is None:
        return
    known = frozenset().union(*vocabulary.errors.values())
    if kind.error not in known:
        problems.add(at, f"is the name of no documented error{nearest(kind.error, sorted(known))}")
        return
    matched = vocabulary.interfaces(match.operation or ())
    if matched and not any(kind.error in vocabulary.errors[interface] for interface in matched):
        problems.add(at, f"is no error of {' or '.join(matched)}, whose operations the rule matches")


def _in(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key
