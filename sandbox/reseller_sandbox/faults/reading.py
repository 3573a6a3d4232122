"""Fault rules as JSON: their reading and writing, presets, and the JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.kinds.answers import Error, Mutate
from reseller_sandbox.faults.rule import PAST, WHEN_APPLIED, FaultRule
from reseller_sandbox.registry.contract import Canned, Vocabulary, never_found, never_sent, unknown
from reseller_sandbox.values.kinds import WHEN, Kind, Mistake, Within, choice, instant, json_value, mistakes
from reseller_sandbox.values.matching import ANSWERED, MATCH, Match, is_status
from reseller_sandbox.values.parameters import (
    Parameter,
    by_attribute,
    declared,
    object_shape,
    parent_of,
    read,
    without_arguments,
    written,
)
from reseller_sandbox.values.text_checks import (
    abridged,
    decimals_to_floats,
    did_you_mean,
    nearest,
    shortened,
    unused,
)


class Preset(Struct, frozen=True):
    """A named group of rules. ``synonyms`` are its names in other programs."""

    name: str
    about: str
    rules: tuple[Mapping[str, Any], ...]
    synonyms: tuple[str, ...] = ()


def _sometimes(kind: str, chance: float, **parameters: object) -> Mapping[str, object]:
    return {"name": kind, "kind": kind, "when": {"chance": chance}, **parameters}


_UNAVAILABLE = refusals.SERVICE_UNAVAILABLE.code

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "flaky",
            "About one request in five fails, in different ways, and one in ten is slow.",
            (
                _sometimes("error", 0.05, error=refusals.INTERNAL_ERROR.code),
                _sometimes("error", 0.05, name="unavailable", error=_UNAVAILABLE, retry_after=1),
                _sometimes("reset", 0.05),
                _sometimes("truncate", 0.05),
                _sometimes("latency", 0.1, min=0.2, max=1),
            ),
            ("chaos", "random", "unstable", "unreliable", "sometimes"),
        ),
        Preset(
            "outage",
            "Each connection is closed without a response, and no request takes effect.",
            ({"kind": "close", "when": {"phase": "before"}},),
            ("unavailable", "down", "offline", "unreachable"),
        ),
        Preset(
            "lost-responses",
            "Requests that change something take effect and are charged, but a reset loses their responses.",
            ({"kind": "reset", "match": {"changed": True}, "when": {"phase": "after"}},),
            ("lost", "lost_responses", "lost_response", "response_lost", "paid_twice"),
        ),
        Preset(
            "slow",
            "Responses usually take about two seconds, and sometimes up to ten.",
            ({"kind": "latency", "median": 2, "sigma": 0.6, "max": 30},),
            ("latency", "delay", "delayed", "timeout", "timeouts"),
        ),
        Preset(
            "rate-limited",
            "Each account may send five requests per second of the world's time. Further requests get the "
            "status 429, and a Retry-After header with one second, for which some clients really wait.",
            ({"kind": "rate_limit", "limit": 5, "window": 1},),
            ("rate_limit", "rate_limited", "429", "throttle", "throttled", "too_many_requests"),
        ),
        Preset(
            "maintenance",
            "Each request gets the status 503, and a Retry-After header with one second, for which some "
            "clients really wait.",
            ({"kind": "error", "error": refusals.MAINTENANCE.code, "retry_after": 1},),
            ("unavailable", "503", "service_unavailable", "closed"),
        ),
    )
}


def preset_rules(preset: Preset, changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of a preset, with ``changes`` applied.

    ``name`` names all rules, and ``match`` and ``when`` are added to those of each rule. ``read_rules`` adds
    each other parameter to the rules whose kinds have this parameter.
    """
    name = changes.get("name", preset.name)
    rules = []
    for rule in preset.rules:
        sections = {
            section: {**rule.get(section, {}), **changes[section]}
            if isinstance(changes.get(section), Mapping)
            else changes.get(section, rule.get(section))
            for section in ("match", "when")
        }
        rule_name = name if len(preset.rules) == 1 or not isinstance(name, str) else f"{name}.{rule['name']}"
        rules.append({**rule, **sections, "name": rule_name})
    return rules


#: The maximum number of errors that a message lists.
_MOST_LISTED = 20

_KIND = choice(*KINDS, synonyms={name: kind.synonyms for name, kind in KINDS.items()})
_PRESET_SYNONYMS = {name: preset.synonyms for name, preset in PRESETS.items()}
_PRESET = choice(*PRESETS, synonyms=_PRESET_SYNONYMS)


def read_rules(
    items: Sequence[object],
    vocabulary: Vocabulary | None,
    taken: Iterable[str] = (),
    place: str = "",
    now: datetime | None = None,
    canned: Canned = None,
) -> tuple[FaultRule, ...]:
    """Return the fault rules that ``items`` describe. An item is a rule or a preset.

    Names in ``taken`` are refused. ``place`` is the path of each rule in messages. Durations count from
    ``now``. Without ``now``, only absolute instants are accepted. The result of ``rule_as_json`` can be read
    again. Without a vocabulary, every operation and error counts as known. ``canned`` holds the places in
    calls of the canned answers, if paths into these calls are to be checked. Raise ``Within``, which names
    every mistake.
    """
    named = dict.fromkeys(taken, "an existing rule")
    rules: list[FaultRule] = []
    problems: list[Mistake] = []
    for number, item in enumerate(items):
        at = place.format(number)
        specs, wrong = _rules_of(item)
        for spec in specs:
            rule, rule_mistakes = _rule(spec, vocabulary, named, at, now, canned)
            rules += [rule] if rule is not None else []
            wrong += rule_mistakes
        for mistake in wrong:
            path = (at, *mistake.path) if at else mistake.path or ("the rule",)
            problems.append(Mistake(path, mistake.message, mistake.about_key))
    if problems:
        raise Within(list(dict.fromkeys(problems)))
    return tuple(rules)


def rule_as_json(rule: FaultRule) -> dict[str, Any]:
    """Return a rule, without its name, as JSON that ``read_rules`` can read."""
    when = replace(rule.when, phase=None) if rule.phase == rule.kind.phases[0] else rule.when
    return {
        "kind": rule.kind.name,
        "match": MATCH.write(rule.match),
        "when": WHEN_APPLIED.write(when),
        **({"paused": True} if rule.paused else {}),
        **written(declared(type(rule.kind)), rule.kind),
    }


def changed(rule: FaultRule, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``rule`` as JSON, with ``changes`` applied.

    ``match`` and ``when`` are merged part by part, and all other keys are replaced. A null removes a part. If
    the kind changes, the parameters of the old kind are dropped.
    """
    before = {"name": rule.name, **rule_as_json(rule)}
    if changes.get("kind") not in (None, rule.kind.name):
        before = {key: value for key, value in before.items() if key in names_of(FaultRule)}
    after = {**before, **changes}
    for section in ("match", "when"):
        if isinstance(changes.get(section), Mapping):
            after[section] = {**before[section], **changes[section]}
    return after


def _rules_of(item: object) -> tuple[list[Any], list[Mistake]]:
    """Return the rules that one item (a rule or a preset) describes, and its mistakes."""
    if not isinstance(item, Mapping):
        return [item], []
    if item.get("preset") is None:
        return [{key: value for key, value in item.items() if key != "preset"}], []
    try:
        preset = PRESETS[_PRESET.read(item["preset"])]
    except ValueError as problem:
        return [], mistakes("preset", item["preset"], problem)
    wrong: list[Mistake] = []
    rules = preset_rules(preset, {key: value for key, value in item.items() if value is not None})
    for key, value in item.items():
        if key in ("preset", "name", "match", "when"):
            continue
        having = [rule for rule in rules if key == "paused" or key in names_of(KINDS[rule["kind"]])]
        if not having:
            parent = parent_of(key, declared(FaultRule))
            hint = f"; put it in {parent.name}" if parent else ""
            wrong.append(Mistake((key,), f"is not a parameter of the preset {preset.name}{hint}", True))
        for rule in having if value is not None else ():
            rule[key] = value
    return rules, wrong


def names_of(of: type) -> set[str]:
    """Return the names of the parameters that the class ``of`` declares."""
    return {parameter.name for parameter in declared(of)}


def _rule(
    spec: object,
    vocabulary: Vocabulary | None,
    named: dict[str, str],
    at: str,
    now: datetime | None,
    canned: Canned,
) -> tuple[FaultRule | None, list[Mistake]]:
    """Read one rule. Return the rule, or None if a part is invalid, and all mistakes in the rule.

    Add the rule's name to ``named``. The combination of parts is checked only if each part is valid.
    """
    if not isinstance(spec, Mapping):
        return None, [Mistake((), "must be an object")]
    raw = {str(key): value for key, value in spec.items()}
    word, kind = raw.pop("kind", None), None
    raw["when"], wrong = _with_instants(raw.get("when"), now)
    try:
        kind = KINDS[_KIND.read(word)]
    except ValueError as problem:
        if "did you mean" not in str(problem):
            problem = ValueError(f"{problem}{did_you_mean(_other_uses(word, vocabulary))}")
        is_missing = [Mistake(("kind",), f"is missing; it must be one of {', '.join(KINDS)}")]
        wrong += is_missing if word is None else mistakes("kind", word, problem)
        raw = {key: value for key, value in raw.items() if key in names_of(FaultRule)}
    values, wrong_values = read((*(declared(kind) if kind else ()), *declared(FaultRule)), raw)
    parts = by_attribute(declared(FaultRule), values)
    name = parts.setdefault("name", unused(word if isinstance(word, str) else "rule", named))
    if name in named:
        wrong.append(Mistake(("name",), f"is the name of {named[name]}"))
    named.setdefault(name, at or "another rule")
    wrong += wrong_values
    match = parts.get("match", Match())
    unknown_parts = [*unknown(match, vocabulary)] or [*never_sent(match, vocabulary, canned)]
    wrong += [mistake.under("match") for mistake in unknown_parts]
    if kind is None or wrong_values:
        return None, wrong
    rule = FaultRule(kind=kind(**by_attribute(declared(kind), values)), **parts)
    return rule, [*wrong, *_contradictions(rule, vocabulary, canned)]


def _other_uses(word: object, vocabulary: Vocabulary | None) -> list[str]:
    """Return the rules that the unknown kind ``word`` can mean: a status, an error or a preset."""
    if not isinstance(word, str):
        return []
    plain = re.sub(r"[\s-]+", "_", word.lower())
    errors = [code for code, rule in refusals.RULES.items() if plain in (code, *rule.synonyms)]
    known = None if vocabulary is None else vocabulary.all_errors
    presets = {name: (name.replace("-", "_"), *preset.synonyms) for name, preset in PRESETS.items()}
    return [
        *([f"error with status={plain}"] if plain.isdecimal() and is_status(plain) else ()),
        *(f"error with error={code}" for code in errors if known is None or code in known),
        *(f"the preset {name}" for name, words in presets.items() if plain in words),
    ]


def _with_instants(when: object, now: datetime | None) -> tuple[object, list[Mistake]]:
    """Return ``when`` with ``from`` and ``until`` as instants, and the mistakes in these keys."""
    wrong: list[Mistake] = []
    if isinstance(when, Mapping) and now is not None:
        when = dict(when)
        for key in ("from", "until"):
            try:
                when[key] = None if when.get(key) is None else instant(WHEN.read(when[key]), now)
            except ValueError as problem:
                wrong += [mistake.under("when") for mistake in mistakes(key, when.pop(key), problem)]
    return when, wrong


def _contradictions(rule: FaultRule, vocabulary: Vocabulary | None, canned: Canned) -> Iterator[Mistake]:
    """Yield the mistakes in the combination of a rule's parts, each of which is valid."""
    kind = rule.kind
    yield from kind.mistakes()
    if vocabulary is not None and isinstance(kind, Error) and kind.error is not None:
        matched = vocabulary.interfaces(rule.match.get("operation", ()))
        if kind.error not in vocabulary.all_errors:
            hint = nearest(kind.error, sorted(vocabulary.all_errors), refusals.SYNONYMS)
            names = {name for interface in matched for name in vocabulary.errors[interface]}
            codes_first = sorted(names or vocabulary.all_errors, key=lambda name: (" " in name, name))
            hint = hint or f"; known are {abridged(codes_first, _MOST_LISTED)}"
            yield Mistake(("error",), f"{shortened(kind.error)} is not the name of a documented error{hint}")
        elif matched and not any(kind.error in vocabulary.errors[interface] for interface in matched):
            of_matched = f"is not an error of {' or '.join(matched)}, whose operations the rule matches"
            yield Mistake(("error",), of_matched)
    if isinstance(kind, Mutate):
        beside = kind.add is not None
        if problem := never_found(kind.path, "answer", rule.match, vocabulary, canned, beside=beside):
            yield Mistake(("path",), f"{shortened(kind.path.text)} {problem}")
    if rule.phase not in kind.phases:
        yield Mistake(("when", "phase"), f"must be {kind.phases[0]} for the kind {kind.name}")
    for part in ANSWERED:
        if part in rule.match and rule.phase != "after":
            yield Mistake(("match", part), "requires the phase after")
    for part in PAST:
        if part in rule.match:
            yield Mistake(("match", part), "is only for past requests; use when.from")


def rule_schema() -> dict[str, object]:
    """Return the JSON Schema of a rule."""
    common = declared(FaultRule)
    kinds = [
        {
            "title": name,
            "description": " ".join(without_arguments(kind).split()),
            **object_shape((_named("kind", name), *common, *declared(kind))),
        }
        for name, kind in KINDS.items()
    ]
    preset = object_shape((_named("preset", *PRESETS), *common))
    return {"oneOf": [*kinds, {**preset, "title": "preset", "additionalProperties": True}]}


def rule_parameters() -> tuple[Parameter, ...]:
    """Return all possible parameters of a rule.

    They are read without validation, because a rule is validated as a whole, with all of its mistakes.
    """
    words = "The preset whose rules to add, in place of a kind."
    preset = Parameter("preset", choice(*PRESETS), required=True, words=words)
    return (_unread(preset), *map(_unread, declared(FaultRule)), *kind_parameters())


def kind_parameters() -> tuple[Parameter, ...]:
    """Return the parameters of all fault kinds. Parameters with the same name are merged."""
    own: dict[str, Parameter] = {}
    for name, kind in KINDS.items():
        for parameter in declared(kind):
            before = own.get(parameter.name)
            words = f"{before.words} {name}: {parameter.words}" if before else f"{name}: {parameter.words}"
            own[parameter.name] = replace(before or parameter, words=words)
    return tuple(map(_unread, own.values()))


def _named(key: str, *names: str) -> Parameter:
    return Parameter(key, choice(*names), required=True)


def _unread(parameter: Parameter) -> Parameter:
    kind: Kind[Any] = Kind(parameter.kind.shape, json_value, decimals_to_floats)
    return replace(parameter, kind=kind, required=False, default=None)
