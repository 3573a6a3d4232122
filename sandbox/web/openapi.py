"""OpenAPI documents, drawn from the rows, the schemas and the declared refusals; nothing is said twice."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from sandbox.core.refusals import INTERNAL_ERROR, Rule
from sandbox.web.fields import Digits
from sandbox.web.generation import Endpoint, Generation

_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
    "required": ["error", "message"],
}


def describe(generation: Generation, status_of: Callable[[Rule], int]) -> dict[str, Any]:
    """The OpenAPI document of a generation; ``status_of`` gives the HTTP status of a rule."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title=f"The reseller API, {generation.name}, as the sandbox serves it",
        version=generation.name,
        openapi_version="3.1.0",
        plugins=[plugin],
    )
    plugin.converter.add_attribute_function(_declared_shape)  # type: ignore[union-attr]
    spec.components.schema("Error", _ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a schema used as one and as many is one schema
        for endpoint in generation.endpoints:
            for path in endpoint.paths:
                operation = _operation(generation, endpoint, path, status_of)
                spec.path(path, operations={endpoint.method.lower(): operation})
    return dict(spec.to_dict())


def _operation(
    generation: Generation, endpoint: Endpoint, path: str, status_of: Callable[[Rule], int]
) -> dict[str, Any]:
    summary, _, rest = (endpoint.handle.__doc__ or "").strip().partition("\n")
    suffix = "" if path == endpoint.paths[0] else f".{endpoint.paths.index(path)}"
    operation: dict[str, Any] = {
        "operationId": endpoint.id + suffix,
        "summary": summary,
        "parameters": _parameters(endpoint, path),
        "responses": {str(endpoint.status): _content("Done.", endpoint.answer)},
    }
    if rest.strip():
        operation["description"] = rest.strip()
    if endpoint.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": endpoint.body}}}
    by_status: defaultdict[int, list[Rule]] = defaultdict(list)
    for rule in (*generation.common, *endpoint.refuses, INTERNAL_ERROR):
        by_status[status_of(rule)].append(rule)
    for status, rules in sorted(by_status.items()):
        told = "\n".join(f"* `{rule.name}`: {rule.sentence}" for rule in rules)
        operation["responses"][str(status)] = {
            "description": told,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
    return operation


def _content(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _parameters(endpoint: Endpoint, path: str) -> list[dict[str, Any]]:
    in_path = re.findall(r"\{(\w+)\}", path)
    queried = dict(endpoint.query.fields) if endpoint.query is not None else {}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _plain(queried.get(name))}
        for name in in_path
    ]
    return parameters + [
        {"name": name, "in": "query", "schema": _plain(field)}
        for name, field in queried.items()
        if name not in in_path
    ]


def _plain(field: object) -> dict[str, Any]:
    return {"type": "integer"} if isinstance(field, Digits) else {"type": "string"}


def _declared_shape(_: Any, field: Any, **__: Any) -> Mapping[str, Any]:
    return getattr(field, "shape", {})


def _name(schema: Any) -> str:
    found = schema if isinstance(schema, type) else type(schema)
    return str(found.__name__)
