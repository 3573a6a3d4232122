"""The page of the operations that clients call, made from the OpenAPI documents of both generations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from manual_reference.markdown import code, prose, table
from manual_reference.pages import Resources
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.errors import STATUS
from reseller_sandbox.web.interface import Endpoint


def page(_: Resources) -> Iterator[str]:
    """Yield the parts of the page."""
    from reseller_sandbox.sandbox import Sandbox  # its documents are those that a server serves

    yield "# Operations"
    yield (
        "Every operation of the reseller API, in v2.0 and v3: its path, its parameters, and its "
        "refusals in the order of the checks."
    )
    yield (
        "* = required. A null is the same as a missing key. "
        "[Errors](errors.md) has the message and the remedy of each refusal, also of those that any "
        "operation can return."
    )
    client = Sandbox("empty").client()
    for interface, title in ((V3, "v3"), (V2, "v2.0")):
        document: Any = client.get(f"/_sandbox/openapi/{interface.name}.json").json
        yield f"## {title}"
        for row in interface.endpoints:
            yield from _operation(row, document)


def _operation(row: Endpoint, document: Mapping[str, Any]) -> Iterator[str]:
    known = document["paths"][row.paths[0]][row.method.lower()]
    yield f"### {row.id}"
    yield "\n".join(f"`{row.method} {path}`  " for path in row.paths).rstrip()
    yield from map(prose, dict.fromkeys((known["summary"], known["description"])))
    rows = [*_parameters(known.get("parameters", ())), *_body(known, document)]
    if rows:
        yield table(("name", "in", "type", "description"), rows)
    refused = [
        f"[`{rule.code}`](errors.md#{rule.code}) ({STATUS[rule.category].value})" for rule in row.refuses
    ]
    if refused:
        yield f"Refuses: {', '.join(refused)}."


def _parameters(known: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[str]]:
    for one in known:
        name = code(one["name"]) + (" *" if one.get("required") else "")
        yield name, one["in"], _sort(one["schema"], {}), prose(one.get("description", ""))


def _body(known: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    content = known.get("requestBody", {}).get("content", {})
    for media in list(content.values())[:1]:  # other content types take the same
        yield from _properties(media["schema"], document, "", {})


def _properties(
    shape: Mapping[str, Any], document: Mapping[str, Any], within: str, shown: dict[str, str]
) -> Iterator[Sequence[str]]:
    """Yield a row for each key of an object and of those in it; ``shown`` says where a schema's rows are."""
    for name, own in _resolved(shape, document).get("properties", {}).items():
        own = _without_null(own)
        one, path = _resolved(own, document), f"{within}{name}"
        needed = " *" if name in _resolved(shape, document).get("required", ()) else ""
        inner, mark = (one["items"], "[].") if "items" in one else (own, ".")
        known = shown.setdefault(_referred(inner), path) if _referred(inner) else path
        about = prose(one.get("description", "")) + (
            f" Its keys are those of `{known}`." if known != path else ""
        )
        yield code(path) + needed, "body", _sort(one, document), about
        if known == path:
            yield from _properties(inner, document, f"{path}{mark}", shown)


def _without_null(shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without null, which stands for a key that is not sent."""
    if "anyOf" in shape:
        one, _ = shape["anyOf"]
        return {**one, **{key: shape[key] for key in shape if key != "anyOf"}}
    lists = {key: shape[key] for key in ("type", "enum") if isinstance(shape.get(key), list)}
    return {**shape, **{key: [one for one in own if one not in ("null", None)] for key, own in lists.items()}}


def _referred(shape: Mapping[str, Any]) -> str:
    """Return the reference in a schema, or an empty string."""
    return str(next((part["$ref"] for part in (shape, *shape.get("allOf", ())) if "$ref" in part), ""))


def _resolved(shape: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with its reference resolved. Its own keys take precedence."""
    referred = _referred(shape)
    return {**document["components"]["schemas"][referred.rpartition("/")[2]], **shape} if referred else shape


def _sort(shape: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return a value's type in a word or two."""
    if "enum" in shape:
        return ", ".join(code(one) for one in shape["enum"])
    if "items" in shape:
        return f"list of {_sort(_resolved(shape['items'], document), document)}"
    choices = [*shape.get("oneOf", ()), *shape.get("anyOf", ())]
    sorts = shape.get("type") or [_sort(_resolved(one, document), document) for one in choices]
    return " or ".join([sorts] if isinstance(sorts, str) else dict.fromkeys(sorts)) or "any"
