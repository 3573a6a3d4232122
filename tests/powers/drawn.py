"""Calls of powers at random: what they are told follows from the signature, or is wrong on purpose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.powers.power import Operation
from reseller_sandbox.web.routes import takes_slashes

#: Words that mean something somewhere in the tests' registry, or look as if they did.
WORDS = (
    *("active.com", "second.com", "arriving.com", "españa.com", "ACTIVE.com.", "wanted.com", "nobodys.com"),
    *("main", "other", "nobody", "com", "*", "*.com", "v3.*", "v3.balance", "v3.createDomain", "expiry"),
    *("r1", "start", "now", "before:r1", "b1", "here", "slow", "default", "latency", "A1001", "4xx", "ok"),
    *("P1D", "90m", "-P1D", "+30d", "3600", "12.50", "1e3", "2026-03-05T00:00:00Z", "2026-04-01", "soon"),
    *("7", "1.0", "true", "null", "a=b", "k=v,l=w", '["*.com"]', '"text"', "{}", "@file", "-x", "--json"),
)

INSTANTS = ("2026-03-01T12:00:00Z", "2026-03-02", "2026-03-20T10:00:00+02:00", "2020-01-01T00:00:00Z")

texts = st.sampled_from(WORDS) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12
)
whole_numbers = st.integers(-3, 40) | st.integers(-(10**17), 10**17)
numbers = whole_numbers | st.decimals(-100, 100, places=2).map(float)
scalars = texts | whole_numbers | st.booleans()
values: SearchStrategy[Any] = st.recursive(
    scalars, lambda one: st.lists(one, max_size=2) | st.dictionaries(texts, one, max_size=2), max_leaves=4
)


def told(shape: Mapping[str, Any]) -> SearchStrategy[Any]:
    """Return what a JSON Schema describes, roughly: bounds and patterns may be left."""
    if "oneOf" in shape:
        return st.one_of([told(one) for one in shape["oneOf"]])
    if "enum" in shape:
        return st.sampled_from(list(shape["enum"]))
    match shape.get("type"):
        case "string":
            return st.sampled_from(INSTANTS) if shape.get("format") == "date-time" else texts
        case "integer":
            low, high = shape.get("minimum", 0), shape.get("maximum", 100)
            return st.integers(low, min(high, low + 50)) | st.sampled_from([low - 1, high, high + 1])
        case "number":
            return numbers
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(told(shape.get("items", {})), max_size=3)
        case "object":
            return _object(shape)
    return values


def _object(shape: Mapping[str, Any]) -> SearchStrategy[Any]:
    parts: Mapping[str, Any] = shape.get("properties", {})
    if not parts:
        within = shape.get("additionalProperties")
        return st.dictionaries(
            texts, texts | st.none() if isinstance(within, Mapping) else values, max_size=2
        )
    required = shape.get("required", ())
    known = {name: told(one) for name, one in parts.items()}
    return st.fixed_dictionaries(
        {name: one for name, one in known.items() if name in required},
        optional={name: one for name, one in known.items() if name not in required},
    ).filter(lambda drawn: len(drawn) <= len(required) + 3)


def _is_sayable(parameter: Parameter, value: Any) -> bool:
    """Whether a word says just this: JSON where a value of its type is wanted, else a text."""
    shapes: Any = parameter.kind.shape.get("oneOf", [parameter.kind.shape])
    sorts = {sort for one in shapes for sort in [one.get("type", "object" if "oneOf" in one else None)]}
    if "boolean" in sorts or not isinstance(value, str):
        return None in sorts or bool(_SORTS[type(value)] & sorts - {"string"} and "number" not in sorts)
    if sorts <= {"string", "number"}:
        return True
    try:
        found = json.loads(value)
    except ValueError:
        return not value.startswith("@") and ("=" not in value or "object" not in sorts)
    return "string" in sorts and not _SORTS[type(found)] & sorts


_SORTS: dict[type, set[str]] = {
    **{str: {"string"}, bool: {"boolean"}, int: {"integer", "number"}, float: {"number"}},
    **{list: {"array"}, dict: {"object"}, type(None): set()},
}


def fits(operation: Operation, told: Mapping[str, Any], *, in_words: bool) -> bool:
    """Whether each value can be said: in the path as a word, elsewhere as JSON or as words."""
    said = {one.name: one for one in operation.parameters if in_words or one.place == "segment"}
    if any(one.place == "segment" and one.name not in told for one in said.values()):
        return False
    return not _cut(operation, told) and all(
        _is_sayable(said[name], value) for name, value in told.items() if name in said
    )


def _cut(operation: Operation, told: Mapping[str, Any]) -> bool:
    """Whether a slash in a segment makes another path of it, where a verb comes after the segment."""
    return not takes_slashes(operation) and any(
        "/" in str(told.get(one.name)) for one in operation.parameters if one.place == "segment"
    )


@st.composite
def calls(draw: st.DrawFn, operation: Operation) -> dict[str, Any]:
    """Return what an operation might be told: most of it as declared, some of it wrong."""
    given: dict[str, Any] = {}
    chance = st.integers(0, 9)
    often = 5 if len(operation.parameters) < 8 else 1
    for one in operation.parameters:
        if (draw(chance) < 9) if one.required or one.place == "segment" else (draw(chance) < often):
            fitting = told(one.kind.shape)
            given[one.name] = draw(fitting if draw(chance) < 8 else values)
    if draw(chance) == 0:
        given["colour"] = draw(scalars)
    return given
