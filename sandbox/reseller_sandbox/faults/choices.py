"""Choices for a rule: kinds, presets and their parameters, in words and as schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.parts import parameters, schema
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.core.values import Kind
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.presets import PRESETS
from reseller_sandbox.faults.reading import NAME, PAST, Kept
from reseller_sandbox.faults.rule import When


def match_schema() -> dict[str, dict[str, object]]:
    """Return what a rule may match on as JSON Schema, by key."""
    return {key: shape for key, shape in schema(Match).items() if key not in PAST}


def rule_schema() -> dict[str, Any]:
    """Return the JSON Schema of a rule."""
    common = {
        "name": _shape(pattern=f"^{NAME.pattern}$"),
        "match": _object(match_schema()),
        "when": _object(schema(When)),
        **schema(Kept),
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


def rule_parts() -> tuple[Parameter, ...]:
    """Return what a rule may say beside its kind, as parameters; rules are read whole, with every mistake."""
    common = {one.name: one for one in parameters(Kept).values()}
    of_kinds: dict[str, list[tuple[str, Parameter]]] = {}
    for name, kind in KINDS.items():
        for one in parameters(kind).values():
            of_kinds.setdefault(one.name, []).append((name, one))
    return (
        _unread("preset", _shape(enum=list(PRESETS)), "The preset whose rules to add, in place of a kind."),
        _unread(
            "name", _shape(pattern=f"^{NAME.pattern}$"), "What it is called; after its kind, unless given."
        ),
        _unread("match", _object(match_schema()), "Which requests it is about; all, unless given.", None),
        _unread("when", _object(schema(When)), "Which of those it strikes, and when.", None),
        *(_unread(one.name, one.kind.shape, one.words, one.kind.spoken) for one in common.values()),
        *(
            _unread(
                name,
                told[0][1].kind.shape,
                " ".join(f"{kind}: {one.words}" for kind, one in told),
                told[0][1].kind.spoken,
            )
            for name, told in of_kinds.items()
        ),
    )


def as_json(given: Any) -> Any:
    """Return what was given for a rule, or for several, as JSON has it."""
    if isinstance(given, Mapping):
        return {key: as_json(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [as_json(one) for one in given]
    if isinstance(given, datetime):
        return given.isoformat()
    return float(given) if isinstance(given, Decimal) else given


def _unread(
    name: str, shape: Mapping[str, object], words: str, spoken: Callable[[str], Any] | None = str
) -> Parameter:
    kind: Kind[Any] = Kind(shape, lambda given: given, as_json, spoken)
    return Parameter(name, kind, required=False, words=words)


def _shape(**more: object) -> dict[str, object]:
    return {"type": "string", **more}


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
