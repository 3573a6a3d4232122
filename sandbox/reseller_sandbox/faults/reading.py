"""Reading and writing of fault rules as JSON, including presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, count
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds import KINDS, Error
from reseller_sandbox.faults.rule import WHEN_APPLIED, FaultRule, When
from reseller_sandbox.registry.contract import Vocabulary, unknown
from reseller_sandbox.values.kinds import KEY, SWITCH, Mistake, Within, choice, mistakes
from reseller_sandbox.values.matching import MATCH, Match, Matching
from reseller_sandbox.values.parameters import by_attribute, declared, object_shape, read, written
from reseller_sandbox.values.text_checks import nearest


class Preset(Struct, frozen=True):
    """A named group of rules."""

    name: str
    about: str
    rules: tuple[Mapping[str, Any], ...]


def _sometimes(kind: str, chance: float, **parameters: Any) -> Mapping[str, Any]:
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
        ),
        Preset(
            "outage",
            "Each connection is closed without a response, and no request takes effect.",
            ({"kind": "close", "when": {"phase": "before"}},),
        ),
        Preset(
            "lost-responses",
            "Requests that change something take effect and are charged, but a reset loses their responses.",
            ({"kind": "reset", "match": {"changed": True}, "when": {"phase": "after"}},),
        ),
        Preset(
            "slow",
            "Responses take two seconds as a rule, and sometimes ten.",
            ({"kind": "latency", "median": 2, "sigma": 0.6, "max": 30},),
        ),
        Preset(
            "rate-limited",
            "Each account may send ten requests per minute of the world's time. Further requests get 429.",
            ({"kind": "rate_limit", "limit": 10, "window": 60},),
        ),
        Preset(
            "maintenance",
            "Each request gets 503, with a Retry-After header of half an hour.",
            ({"kind": "error", "error": refusals.MAINTENANCE.code, "retry_after": 1800},),
        ),
    )
}


def preset_rules(preset: Preset, changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of a preset with the changes in ``changes``.

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


#: Names reserved for other paths. A rule with such a name could not be reached.
RESERVED = ("kinds", "presets")

#: The conditions that are known only after the response.
_ANSWERED = ("outcome", "carried_out", "changed", "fault")

#: The conditions for past requests only.
PAST = ("since",)

_KIND = choice(*KINDS, synonyms={name: kind.synonyms for name, kind in KINDS.items()})
_PRESET = choice(*PRESETS)


def _read_name(value: Any) -> str:
    if value in RESERVED:
        raise ValueError(f"cannot be {value}, because /faults/{value} is the path of another operation")
    return KEY.read(value)


NAME = replace(KEY, read=_read_name)


#: A match of future requests.
_TO_COME = replace(
    MATCH, schema=lambda: object_shape([part for part in declared(Matching) if part.name not in PAST])
)


class Parts(Struct, frozen=True, kw_only=True):
    """The keys of a rule beside its kind and the kind's parameters.

    Args:
        name: The name of the rule. Default: the name of its kind.
        match: The requests that the rule matches. Default: all.
        when: The matches to which the rule applies, and when.
        paused: Whether the rule does not apply for now. A paused rule keeps its counts.
    """

    name: Annotated[str | None, NAME] = None
    match: Annotated[Match, _TO_COME] = Match()
    when: Annotated[When, WHEN_APPLIED] = When()
    paused: Annotated[bool, SWITCH] = False


#: Reads the instant of ``when.from`` or ``when.until``. Raises ValueError.
ReadInstant = Callable[[Any], datetime]


def read_rules(
    items: Sequence[Any],
    vocabulary: Vocabulary | None,
    taken: Iterable[str] = (),
    place: str = "",
    read_instant: ReadInstant | None = None,
) -> tuple[FaultRule, ...]:
    """Return the rules in ``items``, including presets.

    Names in ``taken`` are refused. ``place`` is the path of each rule in messages. By default,
    ``read_instant`` reads only absolute instants. The result of ``rule_as_json`` can be read again. Without a
    vocabulary, every operation and error counts as known. Raise ``Within``, which names every mistake.
    """
    named = dict.fromkeys(taken, "an existing rule")
    rules: list[FaultRule] = []
    problems: list[Mistake] = []
    for number, item in enumerate(items):
        at = place.format(number)
        specs, wrong = _rules_of(item)
        for spec in specs:
            rule, rule_mistakes = _rule(spec, vocabulary, named, at, read_instant)
            rules += [rule] if rule is not None else []
            wrong += rule_mistakes
        for mistake in wrong:
            path = (at, *mistake.path) if at else mistake.path or ("the rule",)
            problems.append(Mistake(path, mistake.message, mistake.about_key))
    if problems:
        raise Within(list(dict.fromkeys(problems)))
    return tuple(rules)


def rule_as_json(rule: FaultRule) -> dict[str, Any]:
    """Return a rule as JSON that ``read_rules`` can read, without its name."""
    when = replace(rule.when, phase=None) if rule.phase == rule.kind.phases[0] else rule.when
    return {
        "kind": rule.kind.name,
        "match": MATCH.write(rule.match),
        "when": WHEN_APPLIED.write(when),
        **({"paused": True} if rule.paused else {}),
        **written(declared(type(rule.kind)), rule.kind),
    }


def changed(rule: FaultRule, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule as JSON with ``changes``.

    ``match`` and ``when`` are merged part by part, and all other keys are replaced. A null removes a part. If
    the kind changes, the parameters of the old kind are dropped.
    """
    before = {"name": rule.name, **rule_as_json(rule)}
    if changes.get("kind") not in (None, rule.kind.name):
        before = {key: value for key, value in before.items() if key in names_of(Parts)}
    after = {**before, **changes}
    for section in ("match", "when"):
        if isinstance(changes.get(section), Mapping):
            after[section] = {**before[section], **changes[section]}
    return after


def _rules_of(item: Any) -> tuple[list[Any], list[Mistake]]:
    """Return the rules of one item, which may be a preset, and its mistakes."""
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
            wrong.append(Mistake((key,), f"is not a parameter of the preset {preset.name}", True))
        for rule in having if value is not None else ():
            rule[key] = value
    return rules, wrong


def names_of(of: type) -> set[str]:
    """Return the names of the parameters that ``of`` declares."""
    return {parameter.name for parameter in declared(of)}


def _rule(
    spec: Any, vocabulary: Vocabulary | None, named: dict[str, str], at: str, read_instant: ReadInstant | None
) -> tuple[FaultRule | None, list[Mistake]]:
    """Return the rule at ``at``, or None, and all mistakes in it.

    Add the rule's name to ``named``.
    """
    if not isinstance(spec, Mapping):
        return None, [Mistake((), "must be an object")]
    values = {str(key): value for key, value in spec.items()}
    word = values.pop("kind", None)
    common = names_of(Parts)
    own = {key: values.pop(key) for key in list(values) if key not in common}
    values["when"], wrong_instants = _with_instants(values.get("when"), read_instant)
    read_parts, wrong = read(declared(Parts), values)
    wrong += wrong_instants
    parts = Parts(**by_attribute(declared(Parts), read_parts))
    name = parts.name or _free(word if isinstance(word, str) else "rule", named)
    if name in named:
        wrong.append(Mistake(("name",), f"is the name of {named[name]}"))
    named.setdefault(name, at or "another rule")
    kind, of_kind = _kind(word, own)
    wrong += [*of_kind, *(mistake.under("match") for mistake in unknown(parts.match, vocabulary))]
    wrong += [mistake.under("when") for mistake in parts.when.mistakes()]
    if kind is None:
        return None, wrong
    when = replace(parts.when, phase=parts.when.phase or kind.phases[0])
    rule = FaultRule(name, kind, parts.match, when, parts.paused)
    wrong += [*_of_error(rule, vocabulary), *_of_phase(rule)]
    return rule, wrong


def _free(name: str, named: Mapping[str, str]) -> str:
    """Return ``name``, with a number added if the name is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in named)


def _with_instants(when: Any, read_instant: ReadInstant | None) -> tuple[Any, list[Mistake]]:
    """Return ``when`` with its times as instants, and the mistakes in them."""
    wrong: list[Mistake] = []
    if isinstance(when, Mapping) and read_instant is not None:
        when = dict(when)
        for key in ("from", "until"):
            try:
                when[key] = None if when.get(key) is None else read_instant(when[key])
            except ValueError as problem:
                wrong += [mistake.under("when") for mistake in mistakes(key, when.pop(key), problem)]
    return when, wrong


def _kind(word: Any, parameters: Mapping[str, Any]) -> tuple[FaultKind | None, list[Mistake]]:
    """Return the kind ``word`` with parameters ``parameters``, or None, and the mistakes."""
    try:
        kind = KINDS[_KIND.read(word)]
    except ValueError as problem:
        if word is None:
            return None, [Mistake(("kind",), f"is missing; it {problem}")]
        return None, mistakes("kind", word, problem)
    values, wrong = read((*declared(kind), *declared(Parts)), parameters)
    if wrong:
        return None, wrong
    fault = kind(**by_attribute(declared(kind), values))
    return fault, list(fault.mistakes())


def _of_phase(rule: FaultRule) -> Iterator[Mistake]:
    if rule.phase not in rule.kind.phases:
        yield Mistake(("when", "phase"), f"must be {rule.kind.phases[0]} for the kind {rule.kind.name}")
    for part in _ANSWERED:
        if part in rule.match.parts and rule.phase != "after":
            yield Mistake(("match", part), "requires the phase after")
    for part in PAST:
        if part in rule.match.parts:
            yield Mistake(("match", part), "is only for past requests; use when.from")


def _of_error(rule: FaultRule, vocabulary: Vocabulary | None) -> Iterator[Mistake]:
    if vocabulary is None or not isinstance(rule.kind, Error) or rule.kind.error is None:
        return
    error = rule.kind.error
    known = frozenset().union(*vocabulary.errors.values())
    if error not in known:
        hint = nearest(error, sorted(known), refusals.SYNONYMS)
        yield Mistake(("error",), f"is not the name of a documented error{hint}")
        return
    matched = vocabulary.interfaces(rule.match.operation or ())
    if matched and not any(error in vocabulary.errors[interface] for interface in matched):
        of_matched = f"is not an error of {' or '.join(matched)}, whose operations the rule matches"
        yield Mistake(("error",), of_matched)
