"""The reference pages of the v3 and v2.0 operations, made from the OpenAPI documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from manual_reference.markdown import block, code, listed, prose, table
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.web.errors import STATUS
from reseller_sandbox.web.interface import Endpoint, Interface

_Shape = Mapping[str, Any]


def page(interface: type[Interface], title: str) -> Iterator[str]:
    """Yield the parts of the page that describes an interface."""
    yield f"# Operations of {title}"
    yield (
        f"Every operation of {title}, with its path, its parameters, its answer, a recorded sample of the "
        "answer, and its refusals in the order of the checks."
    )
    yield (
        "* = required. In a request, a null is the same as a missing key. Amounts are in the currency of the "
        "account. The page [Errors](errors.md) has the message and the remedy of each refusal. It also has "
        "the refusals that all operations have in common."
    )
    document: Any = Sandbox("empty").client().get(f"/_sandbox/openapi/{interface.name}.json").json
    for row in interface.endpoints:
        yield from _operation(row, document)


def _operation(row: Endpoint, document: _Shape) -> Iterator[str]:
    variants = [document["paths"][path][row.method.lower()] for path in row.paths]
    operation = variants[0]
    yield f"## {row.id}"
    yield "\n".join(f"`{row.method} {path}`  " for path in row.paths).rstrip()
    yield from map(prose, dict.fromkeys((operation["summary"], operation["description"])))
    rows = [*_parameters(operation.get("parameters", ())), *_body(operation, document)]
    if rows:
        yield table(("name", "in", "type", "description"), rows)
    yield from _answer(variants, document)
    refusals = [
        f"[`{rule.code}`](errors.md#{rule.code}) ({STATUS[rule.category].value})" for rule in row.refuses
    ]
    if refusals:
        yield f"This operation can refuse with {listed(refusals)}."


def _parameters(parameters: Sequence[_Shape]) -> Iterator[Sequence[str]]:
    for parameter in parameters:
        name = code(parameter["name"]) + (" *" if parameter.get("required") else "")
        about = prose(parameter.get("description", ""))
        yield name, parameter["in"], _type(_without_null(parameter["schema"]), {}), about


def _body(operation: _Shape, document: _Shape) -> Iterator[Sequence[str]]:
    content = operation.get("requestBody", {}).get("content", {})
    for media in list(content.values())[:1]:  # All content types have the same keys.
        for path, is_required, shape, about in _keys(media["schema"], document, _without_null):
            yield code(path) + (" *" if is_required else ""), "body", _type(shape, document), about


def _answer(variants: Sequence[_Shape], document: _Shape) -> Iterator[str]:
    """Yield the fields of an operation's response, and the shortest sample of all its paths."""
    media = [
        content
        for operation in variants
        for status, response in operation["responses"].items()
        if status.startswith("2")
        for content in response["content"].values()
    ]
    fields = _keys(media[0]["schema"], document, lambda shape: shape)
    yield table(
        ("field of the answer", "type", "description"),
        ((code(path), _type(shape, document), about) for path, _, shape, about in fields),
    )
    samples = [json.dumps(content["example"], indent=2) for content in media if "example" in content]
    yield block("json", min(samples, key=len))


def _keys(
    shape: _Shape, document: _Shape, read: Callable[[_Shape], _Shape]
) -> Iterator[tuple[str, bool, _Shape, str]]:
    """Yield the path, the required mark, the schema and the description of each key at any depth.

    ``read`` prepares each schema. A schema that appears again refers to the keys of its first appearance.
    """
    places: dict[str, str] = {}

    def below(shape: _Shape, within: str) -> Iterator[tuple[str, bool, _Shape, str]]:
        whole = _resolved(shape, document)
        if "items" in whole:
            yield from below(whole["items"], f"{within}[]")
        for name, property_shape in whole.get("properties", {}).items():
            prepared = read(property_shape)
            resolved, path = _resolved(prepared, document), f"{within}.{name}" if within else name
            inner = resolved.get("items", prepared)
            is_object = _referred(inner) and "enum" not in _resolved(inner, document)
            first = places.setdefault(_referred(inner), path) if is_object else path
            about = prose(resolved.get("description", ""))
            about += f" Its keys are those of `{first}`." if first != path else ""
            yield path, name in whole.get("required", ()), resolved, about
            if first == path:
                yield from below(prepared, path)

    return below(shape, "")


def _without_null(shape: _Shape) -> _Shape:
    """Return a schema without null. In a request, null has the same meaning as a missing key."""
    if "anyOf" in shape:
        choices = [choice for choice in shape["anyOf"] if choice != {"type": "null"}]
        common = {key: shape[key] for key in shape if key != "anyOf"}
        return {**choices[0], **common} if len(choices) == 1 else {**common, "anyOf": choices}
    lists = {key: shape[key] for key in ("type", "enum") if isinstance(shape.get(key), list)}
    return {
        **shape,
        **{key: [value for value in values if value not in ("null", None)] for key, values in lists.items()},
    }


def _referred(shape: _Shape) -> str:
    """Return the reference in a schema, or an empty string."""
    return str(next((part["$ref"] for part in (shape, *shape.get("allOf", ())) if "$ref" in part), ""))


def _resolved(shape: _Shape, document: _Shape) -> _Shape:
    """Return a schema with its reference resolved. The keys beside the reference take precedence."""
    referred = _referred(shape)
    return {**document["components"]["schemas"][referred.rpartition("/")[2]], **shape} if referred else shape


def _type(shape: _Shape, document: _Shape) -> str:
    """Return the type that a schema describes, in words (``list of string``)."""
    if "enum" in shape:
        values = ", ".join(code(json.dumps(value).strip('"')) for value in shape["enum"])
        return f"string: {values}" if isinstance(shape["enum"][0], str) else values
    if "items" in shape:
        return f"list of {_type(_resolved(shape['items'], document), document)}"
    choices = [*shape.get("oneOf", ()), *shape.get("anyOf", ())]
    types = shape.get("type") or [_type(_resolved(choice, document), document) for choice in choices]
    words = " or ".join([types] if isinstance(types, str) else dict.fromkeys(types)) or "any"
    return f"{words} ({shape['format']})" if "format" in shape else words
