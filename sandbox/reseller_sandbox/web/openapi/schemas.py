"""Conversion of marshmallow schemas to JSON Schema, beyond the features of apispec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from apispec.ext.marshmallow.common import resolve_schema_instance
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields, validate

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.values import text_checks
from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.web.fields import Shape, require_plain_text
from reseller_sandbox.web.interface import Endpoint


class Converter(OpenAPIConverter):
    """Converts the schemas of requests and responses under the assumptions."""

    def assume(self, assumed: Assumptions, in_requests: frozenset[type[Schema]]) -> None:
        """Set the assumptions and the schema classes of requests."""
        self._assumed = assumed
        self._in_requests = in_requests
        self.add_attribute_function(self._own_shape)  # type: ignore[no-untyped-call]

    def schema2jsonschema(self, schema: Any) -> dict[str, Any]:
        """Return the JSON Schema of an object, with description and required keys."""
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        instance = resolve_schema_instance(schema)
        words = _plain(docstring(getattr(instance, "record", type(instance))).partition("\n\n")[0])
        if isinstance(instance, Shape):
            described["required"] = self._required(instance, described)
            described |= _either(instance.alternatives)
            if type(instance) in self._in_requests:
                needed = (*described["required"], *instance.alternatives)
                described["properties"] = {
                    name: shape if name in needed else _or_null(shape)
                    for name, shape in described["properties"].items()
                }
        described = {key: value for key, value in described.items() if key != "required" or value}
        return {**({"description": words} if words else {}), **described}

    def _required(self, schema: Shape, described: Mapping[str, Any]) -> list[str]:
        if type(schema) in self._in_requests:
            needed = list(schema.required_keys(self._assumed))
            for name in needed:
                if "string" in described["properties"][name].get("type", ""):
                    described["properties"][name]["minLength"] = 1  # an empty string counts as missing
            return needed
        optional = schema.optional_keys(self._assumed)
        return [name for name in described["properties"] if name not in optional]

    def _own_shape(self, field: Any, ret: Mapping[str, Any], **__: Any) -> Mapping[str, Any]:
        """Return a field's own schema and the limits from validators that apispec ignores."""
        under = getattr(field, "shape_under", None)
        shape = dict(getattr(field, "shape", {}) if under is None else under(self._assumed))
        types = shape.get("type", [])
        if field.allow_none and types:
            shape["type"] = [*([types] if isinstance(types, str) else types), "null"]
        if require_plain_text in field.validators:
            shape["maxLength"] = text_checks.LONGEST
        for validator in field.validators:
            if isinstance(validator, validate.Regexp):
                # JSON Schema searches, and Python matches the beginning
                shape["pattern"] = f"^(?:{validator.regex.pattern!s})".replace(r"\Z", "$")
        return {**shape, **({"description": _plain(ret["description"])} if "description" in ret else {})}


def _or_null(shape: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also allows null, because null means a missing key."""
    if "type" not in shape:
        words = {key: shape[key] for key in ("description",) if key in shape}
        return {"anyOf": [{key: shape[key] for key in shape if key not in words}, {"type": "null"}], **words}
    types = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
    choices = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
    return {**shape, "type": [*types, "null"], **choices}


def _either(alternatives: tuple[str, ...]) -> dict[str, Any]:
    """Return the condition that an object has one of two names."""
    if not alternatives:
        return {}
    name, alias = alternatives
    return {"if": {"not": {"required": [alias]}}, "then": {"required": [name]}}


def name_of(schema: Any) -> str:
    """Return the name of a schema in documents."""
    return str((schema if isinstance(schema, type) else type(schema)).__name__)


def request_schemas(endpoints: Iterable[Endpoint]) -> frozenset[type[Schema]]:
    """Return the classes of all objects in request bodies."""
    return frozenset(schema for endpoint in endpoints for schema in _within(endpoint.schemas.body))


def _within(schema: Schema | None) -> Iterator[type[Schema]]:
    if schema is None:
        return
    yield type(schema)
    for field in schema.fields.values():
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from _within(inner.schema)


def resource(endpoint: Endpoint) -> str:
    """Return the name of an operation's resource or module."""
    if endpoint.subject is not None:
        return str(endpoint.subject.name)
    *_, package, module = endpoint.handle.__module__.split(".")
    return package if module == "rows" else module


def resources(endpoints: Iterable[Endpoint]) -> dict[str, str]:
    """Return the names and descriptions of the operations' resources."""
    return {
        resource(endpoint): _plain(docstring(_subject(endpoint)).partition("\n\n")[0])
        for endpoint in endpoints
    }


def _subject(endpoint: Endpoint) -> Any:
    # Import again, because pytester removes imported modules while a sandbox is still running.
    return endpoint.subject or import_module(endpoint.handle.__module__)


def _plain(words: str) -> str:
    """Return the text of a docstring as Markdown, in one line."""
    return " ".join(words.replace("``", "`").split())
