"""The forms of schemas that generators of clients read, and OpenAPI 3.0 in place of 3.1.

Begin with ``name_choices``, ``one_type_each`` and ``as_3_0``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

#: The versions in which a document can be had, with the value of its key ``openapi``.
VERSIONS: Mapping[str, str] = {"3.1": "3.1.0", "3.0": "3.0.3"}

#: The keywords that apply to one type of values only.
_NUMERIC = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
_KEYWORDS: Mapping[str, frozenset[str]] = {
    "string": frozenset(
        ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType")
    ),
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "array": frozenset(("items", "minItems", "maxItems", "uniqueItems", "prefixItems")),
    "object": frozenset(
        (
            *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
            *("minProperties", "maxProperties"),
        )
    ),
}
_OF_ONE_TYPE = frozenset().union(*_KEYWORDS.values())
_PYTHON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **{"string": str, "integer": int, "number": (int, float), "array": list, "object": dict},
    "boolean": bool,
}

#: The keys of a document whose values are data, and the keys whose values are schemas or parts by name.
_DATA = frozenset(("example", "examples", "enum", "const", "default"))
_BY_NAME = frozenset(("properties", "patternProperties", "schemas"))


def name_choices(document: dict[str, Any]) -> None:
    """Make a component of each list of values that a property can have.

    Generators of clients make a type of each list. Without a component, the types of all properties called
    ``status`` get the names ``Status``, ``Status1``, ``Status2`` and so on.
    """
    schemas = document["components"].get("schemas", {})
    for component, schema in list(schemas.items()):
        for key, shape in schema.get("properties", {}).items():
            inner = shape.get("items", {})
            if _is_choice(shape):
                schema["properties"][key] = _named(schemas, component, key, shape)
            elif isinstance(inner, dict) and _is_choice(inner):
                shape["items"] = _named(schemas, component, key, inner)


def _is_choice(shape: Mapping[str, Any]) -> bool:
    values = shape.get("enum", ())
    return bool(values) and all(
        isinstance(value, str | int) and not isinstance(value, bool) for value in values
    )


def _named(
    schemas: dict[str, object], component: str, key: str, shape: Mapping[str, Any]
) -> dict[str, object]:
    """Return a reference to the component for a list of values, which is added to ``schemas``.

    A single value has a component of its own, such as ``Code400``.
    """
    values, word = shape["enum"], titled(key)
    name = f"{word}{titled(str(values[0]))}" if len(values) == 1 else f"{component}{word}"
    choice = {key: value for key, value in shape.items() if key != "description"}
    while schemas.get(name, choice) != choice:
        name += "Value"
    schemas[name] = choice
    about = {"description": shape["description"]} if "description" in shape else {}
    return {**about, "$ref": f"#/components/schemas/{name}"}


def titled(text: str) -> str:
    """Return the words of a text as one name, each with a capital: ``domain_name`` as ``DomainName``."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", text))[:60]


def one_type_each(document: object) -> Any:
    """Return a document in which each schema has one type. Other types are branches of ``anyOf``.

    A type and null stay together, because generators read this pair.
    """
    return _rewritten(document, _branches)


def as_3_0(document: Mapping[str, object]) -> dict[str, object]:
    """Return an OpenAPI 3.1 document as OpenAPI 3.0. Its schemas accept the same values, or a few more."""
    rewritten: dict[str, object] = _rewritten(document, _older)
    return {**rewritten, "openapi": VERSIONS["3.0"]}


def _rewritten(part: object, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return ``part`` with ``change`` applied to each object that can be a schema, the inner ones first."""
    if isinstance(part, list):
        return [_rewritten(item, change) for item in part]
    if not isinstance(part, Mapping):
        return part
    inner = {}
    for key, value in part.items():
        if key in _BY_NAME and isinstance(value, Mapping):
            inner[key] = {name: _rewritten(shape, change) for name, shape in value.items()}
        else:
            inner[key] = value if key in _DATA else _rewritten(value, change)
    return change(inner)


def _branches(schema: dict[str, object]) -> dict[str, object]:
    types = schema.get("type")
    if not isinstance(types, list) or len([name for name in types if name != "null"]) < 2:
        return schema
    common = {key: value for key, value in schema.items() if key not in ("type", "enum", *_OF_ONE_TYPE)}
    return {**common, "anyOf": [_branch(schema, name) for name in types]}


def _branch(schema: Mapping[str, Any], name: str) -> dict[str, object]:
    """Return the branch of a schema for the values of one type."""
    known = _KEYWORDS.get(name, frozenset())
    branch = {"type": name, **{key: schema[key] for key in schema if key in known}}
    if "enum" in schema and name != "null":
        values = [value for value in schema["enum"] if isinstance(value, _PYTHON_TYPES[name])]
        branch["enum"] = [value for value in values if name == "boolean" or not isinstance(value, bool)]
    return branch


#: Keywords of JSON Schema that OpenAPI 3.0 does not have. They only narrow the accepted values.
_NEWER = ("if", "then", "else", "propertyNames", "patternProperties", "contentMediaType", "$schema")


def _older(schema: dict[str, Any]) -> dict[str, object]:
    """Return a JSON Schema with the keywords of OpenAPI 3.0."""
    old = {key: value for key, value in schema.items() if key not in _NEWER}
    if isinstance(old.get("type"), list):
        old["type"] = next(name for name in old["type"] if name != "null")
        old["nullable"] = True
    for key in ("anyOf", "oneOf"):
        branches = old.get(key)
        if isinstance(branches, list) and {"type": "null"} in branches:
            old[key] = [branch for branch in branches if branch != {"type": "null"}]
            old["nullable"] = True
            if len(old[key]) == 1:
                (only,) = old.pop(key)
                old = {**({"allOf": [only]} if "$ref" in only else only), **old}
    if "const" in old:
        old["enum"] = [old.pop("const")]
    if isinstance(old.get("examples"), list) and old["examples"]:
        old["example"] = old.pop("examples")[0]
    for key, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(old.get(key), int | float) and not isinstance(old.get(key), bool):
            old[limit] = old[key]
            old[key] = True
    if old.pop("contentEncoding", None) == "base64":
        old["format"] = "byte"
    if old.get("type") == "array":
        old.setdefault("items", {})
    if old.get("required") == []:
        del old["required"]  # 3.0 accepts no empty list
    # In 3.0, no key beside a reference counts.
    return {"$ref": old["$ref"]} if isinstance(old.get("$ref"), str) else old
