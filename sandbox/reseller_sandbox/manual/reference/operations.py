"""The page of the operations that clients call, made from the OpenAPI documents of both generations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reseller_sandbox.manual.markdown import code, prose, table
from reseller_sandbox.manual.reference import Powers
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import STATUS

#: How deep the objects of a request are shown.
_DEEPEST = 4


def page(_: Powers) -> Iterator[str]:
    """Yield the parts of the page."""
    from reseller_sandbox.sandbox import Sandbox  # its documents are those that a server serves

    yield (
        "A * marks what must be sent. [Errors](errors.md) says what each refusal means and what would do; "
        "what any operation may refuse stands there, too."
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
    yield prose(known.get("summary", "")) + "\n\n" + prose(known.get("description", ""))
    told = [*_parameters(known.get("parameters", ())), *_body(known, document)]
    if told:
        yield table(("name", "in", "type", "what it is"), told)
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
    for told in list(content.values())[:1]:  # other content types take the same
        yield from _properties(told["schema"], document, "")


def _properties(
    shape: Mapping[str, Any], document: Mapping[str, Any], within: str
) -> Iterator[Sequence[str]]:
    shape = _resolved(shape, document)
    for name, own in shape.get("properties", {}).items():
        one = _resolved(own, document)
        needed = " *" if name in shape.get("required", ()) else ""
        yield (
            code(f"{within}{name}") + needed,
            "body",
            _sort(one, document),
            prose(one.get("description", "")),
        )
        inner, mark = (one.get("items", {}), "[].") if "items" in one else (one, ".")
        if within.count(".") < _DEEPEST:
            yield from _properties(inner, document, f"{within}{name}{mark}")


def _resolved(shape: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with what it refers to in place; its own words come before those of its parts."""
    found = dict(shape)
    parts = [found.pop("$ref", None), *(part.get("$ref") for part in found.pop("allOf", ()))]
    for path in filter(None, parts):
        found = {**document["components"]["schemas"][path.rpartition("/")[2]], **found}
    return found


def _sort(shape: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return what a value is, in a word or two."""
    if "enum" in shape:
        return ", ".join(code(one) for one in shape["enum"])
    if "items" in shape:
        return f"list of {_sort(_resolved(shape['items'], document), document)}"
    choices = [*shape.get("oneOf", ()), *shape.get("anyOf", ())]
    sorts = shape.get("type") or [_sort(_resolved(one, document), document) for one in choices]
    return " or ".join([sorts] if isinstance(sorts, str) else dict.fromkeys(sorts)) or "any"
