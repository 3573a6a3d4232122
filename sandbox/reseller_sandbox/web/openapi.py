"""OpenAPI documents, drawn from the rows, the schemas and the declared refusals; nothing is said twice."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema

from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import ANY_OPERATION
from reseller_sandbox.web.fields import Digits
from reseller_sandbox.web.interface import Interface


def describe(interface: Interface) -> dict[str, Any]:
    """Return the OpenAPI document of an interface."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(
        title=f"The reseller API, {interface.name}, as the sandbox serves it",
        version=interface.name,
        openapi_version="3.1.0",
        plugins=[plugin],
        security=[{name: [] for name in interface.credentials}],
    )
    for name in interface.credentials:
        spec.components.security_scheme(name, {"type": "apiKey", "in": "header", "name": name})
    plugin.converter.add_attribute_function(_declared_shape)  # type: ignore[union-attr]
    spec.components.schema("Error", dict(interface.error_shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a schema used as one and as many is one schema
        for endpoint in interface.endpoints:
            for path in endpoint.paths:
                operation = _operation(interface, endpoint, path)
                spec.path(path, operations={endpoint.method.lower(): operation})
    return dict(spec.to_dict())


def _operation(interface: Interface, endpoint: Endpoint, path: str) -> dict[str, Any]:
    summary, _, rest = docstring(endpoint.handle).partition("\n")
    suffix = "" if path == endpoint.paths[0] else f".{endpoint.paths.index(path)}"
    operation: dict[str, Any] = {
        "operationId": endpoint.id + suffix,
        "summary": summary,
        "parameters": _parameters(endpoint, path),
        "responses": {str(endpoint.status): _success(endpoint)},
    }
    if rest.strip():
        operation["description"] = rest.strip()
    if endpoint.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": endpoint.body}}}
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for rule in (*interface.common, *endpoint.refuses, *ANY_OPERATION):
        for status, words in interface.described(endpoint, rule):
            by_status[int(status)].append(f"* {words}")
    for status, told in sorted(by_status.items()):
        operation["responses"][str(status)] = {
            "description": "\n".join(dict.fromkeys(told)),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
    return operation


_TEXT = {"type": "string"}
_EVENTS = "Events that go on, each with such data; heartbeats in between."


def _success(endpoint: Endpoint) -> dict[str, Any]:
    """Return what an answer is, and in which form it comes: whole, or as events that go on."""
    if endpoint.streams:
        return {"description": _EVENTS, "content": {"text/event-stream": {"schema": endpoint.answer}}}
    shapes = {form: endpoint.answer if form == "application/json" else _TEXT for form in endpoint.forms}
    return {"description": "Done.", "content": {form: {"schema": shape} for form, shape in shapes.items()}}


def _parameters(endpoint: Endpoint, path: str) -> list[dict[str, Any]]:
    in_path = re.findall(r"\{(\w+)\}", path)
    queried = _on_the_wire(endpoint.query)
    known = queried | _on_the_wire(endpoint.path)
    parameters = [_parameter(name, "path", known.get(name)) for name in in_path]
    return parameters + [
        _parameter(name, "query", field) for name, field in queried.items() if name not in in_path
    ]


def _on_the_wire(schema: Schema | None) -> dict[str, Any]:
    fields = schema.fields if schema is not None else {}
    return {field.data_key or name: field for name, field in fields.items()}


def _parameter(name: str, place: str, field: Any) -> dict[str, Any]:
    shape = {"type": "integer"} if isinstance(field, Digits) else getattr(field, "shape", {"type": "string"})
    told = {"name": name, "in": place, "schema": dict(shape)}
    about = getattr(field, "metadata", {}).get("description")
    return {
        **told,
        **({"description": about} if about else {}),
        **({"required": True} if place == "path" else {}),
    }


def _declared_shape(_: Any, field: Any, **__: Any) -> Mapping[str, Any]:
    shape: Mapping[str, Any] = getattr(field, "shape", {})
    types = shape.get("type", [])
    types = [types] if isinstance(types, str) else types
    return {**shape, "type": [*types, "null"]} if field.allow_none and types else shape


def _name(schema: Any) -> str:
    found = schema if isinstance(schema, type) else type(schema)
    return str(found.__name__)
