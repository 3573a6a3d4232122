"""Declarations for the page in JSON: interfaces, operations with parameters, and the lifecycle.

``files/parts/lifecycle.js`` draws the lifecycle of a domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reseller_sandbox.control.resource import Resource, operations_by_id
from reseller_sandbox.registry.lifecycle import STAGES, TIMED, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.parameters import Parameter
from reseller_sandbox.web.interfaces import PublicInterface

#: Maximum depth of nested references that ``_resolved`` replaces. A schema can refer to itself.
_DEPTH = 6


def lifecycle() -> Mapping[str, object]:
    """Return the stages of a domain, and the transitions that requests or time cause."""
    by_request: dict[tuple[Stage | None, Stage | None], list[str]] = {}
    for edge in edges(State()):
        by_request.setdefault((edge.before, edge.after), []).append(edge.words)
    ways: list[Mapping[str, object]] = []
    for (before, after), words in by_request.items():
        label = words[0] if len(words) == 1 else f"{words[0]}, …"
        ways.append({"from": before, "to": after, "label": label, "words": words, "timed": False})
    for row in TIMED:
        after = None if row.target is Stage.RELEASED else row.target
        words = [row.period.words]
        ways.append({"from": row.stage, "to": after, "label": row.event, "words": words, "timed": True})
    return {"stages": STAGES, "ways": ways}


def requests(interface: str, document: Mapping[str, Any]) -> Iterator[Mapping[str, object]]:
    """Yield each request that an OpenAPI document describes, with its fields and an example."""
    schemas = document["components"]["schemas"]
    for path, row in document["paths"].items():
        for method, operation in row.items():
            parameters = operation["parameters"]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            yield {
                "id": f"{interface}.{operation['operationId']}",
                "operation": operation["x-sandbox-operation"],
                "interface": interface,
                "method": method.upper(),
                "path": path,
                "summary": operation["summary"],
                "path_fields": [_field(each) for each in parameters if each["in"] == "path"],
                "query_fields": [_field(each) for each in parameters if each["in"] == "query"],
                "body": body
                and {"shape": _resolved(body["schema"], schemas), "example": body.get("example")},
            }


def _field(parameter: Mapping[str, Any]) -> Mapping[str, object]:
    """Return the form field of a request's parameter. ``example`` is the initial value of the field."""
    shape = parameter["schema"]
    return {
        "name": parameter["name"],
        "required": parameter.get("required", False),
        "shape": shape,
        "about": parameter.get("description"),
        "example": parameter.get("example", shape.get("enum", [None])[0]),
    }


def _resolved(schema: object, schemas: Mapping[str, Any], depth: int = 0) -> object:
    """Return a schema with its references replaced and without null, which a form cannot send."""
    if isinstance(schema, list):
        return [_resolved(item, schemas, depth) for item in schema if item not in ("null", None)]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        others = {key: value for key, value in schema.items() if key != "$ref"}
        target = {**schemas[schema["$ref"].rpartition("/")[2]], **others}
        return _resolved(target, schemas, depth + 1) if depth < _DEPTH else {}
    variants = [variant for variant in schema.get("anyOf", ()) if variant != {"type": "null"}]
    if len(variants) == 1:
        others = {key: value for key, value in schema.items() if key != "anyOf"}
        return _resolved({**variants[0], **others}, schemas, depth)
    return {key: _resolved(value, schemas, depth) for key, value in schema.items()}


def declared(interfaces: Iterable[PublicInterface]) -> list[Mapping[str, Any]]:
    """Return the parts of each interface's declaration that the page shows.

    ``example`` is the first request to try without a body: its operation and its path.
    """
    parts = ("name", "label", "address", "credentials", "name_path")
    return [
        {**{part: getattr(interface, part) for part in parts}, "example": _example(interface)}
        for interface in interfaces
    ]


def _example(interface: PublicInterface) -> Mapping[str, str] | None:
    paths = {path: endpoint.id for endpoint in interface.load().endpoints for path in endpoint.paths}
    requests = (example.path for example in interface.examples if not example.body)
    return next(({"operation": paths[path], "path": path} for path in requests if path in paths), None)


def operations(resources: Iterable[type[Resource]]) -> Mapping[str, object]:
    """Return the declaration of each control operation, by id, for the calls and forms of the page."""
    return {
        name: {
            "method": operation.method,
            "path": operation.path,
            "about": operation.description,
            "parameters": [_parameter(parameter) for parameter in operation.parameters],
        }
        for name, operation in operations_by_id(resources).items()
    }


def _parameter(parameter: Parameter) -> Mapping[str, object]:
    return {
        "name": parameter.name,
        "place": parameter.place,
        "required": parameter.required,
        "default": parameter.default if isinstance(parameter.default, bool) else None,
        "shape": parameter.kind.shape,
        "about": parameter.words,
    }
