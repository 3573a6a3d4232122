"""The places that the JSON of requests and answers can have, from the schemas of an operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from marshmallow import INCLUDE, Schema, fields

from reseller_sandbox.registry.assumptions import Assumptions, alternative_values, public_name, watched
from reseller_sandbox.registry.contract import JsonPlaces
from reseller_sandbox.values.patterns import ITEM, REST, Place
from reseller_sandbox.web.fields import QuickSchema, Shape, is_shape, wire_fields
from reseller_sandbox.web.interface import Endpoint, Interface
from reseller_sandbox.web.reading import vocabulary_of

#: The places in a value that can be any JSON value.
_ANY: frozenset[Place] = frozenset({(), (REST,)})


def places_of(interface: type[Interface], endpoint: Endpoint) -> JsonPlaces:
    """Return the places in requests and answers of an operation, under any assumptions.

    The answers are those of success and those of refusals.
    """
    answer = endpoint.schemas.answer
    return JsonPlaces(
        request=frozenset(_of_request(endpoint)),
        answer=frozenset((*_of_answer(answer), *_of_json_schema(interface.error_shape))),
    )


def _of_request(endpoint: Endpoint) -> Iterator[Place]:
    if endpoint.schemas.body is not None:
        yield from _of_schema(endpoint.schemas.body)
    if endpoint.method != "GET":  # clients repeat the path in bodies, even where no body is expected
        known = vocabulary_of(endpoint)
        for key in known.repeated:
            yield (key,)
            yield from chain.from_iterable(((inner,), (inner, key)) for inner in known.objects)


def _of_answer(schema: Schema) -> Iterator[Place]:
    if not isinstance(schema, QuickSchema):  # other schemas may change what they have written
        yield from _ANY
        return
    yield from _of_schema(schema)
    if is_shape(schema):
        for assumed in _alternatives(schema):
            yield from _of_schema(schema.response_schema(assumed))


def _alternatives(schema: Shape) -> Iterator[Assumptions]:
    """Yield assumptions with each value of those that decide which schema the responses have."""
    read: set[str] = set()
    schema.response_schema(watched(Assumptions(), read))
    for name in sorted(read):
        for value in alternative_values()[public_name(name)]:
            changes: dict[str, Any] = {name: value}
            yield replace(Assumptions(), **changes)


def _of_schema(schema: Schema) -> Iterator[Place]:
    start: Place = (ITEM,) if schema.many else ()
    yield from {(), start}
    has_more = schema.unknown == INCLUDE or bool(getattr(schema, "rest", ""))
    for key, field in wire_fields(schema).items():
        yield from ((*start, key, *below) for below in _of_field(field))
    if has_more:
        yield (*start, REST)


def _of_field(field: fields.Field[Any]) -> Iterator[Place]:
    shape = getattr(field, "shape", None)
    if shape is not None:
        yield from _of_json_schema(shape)
    elif isinstance(field, fields.Nested):
        yield from _of_schema(field.schema)
    elif isinstance(field, fields.List):
        yield ()
        yield from ((ITEM, *below) for below in _of_field(field.inner))
    elif isinstance(field, fields.Dict) or (type(field) is fields.Raw and "type" not in field.metadata):
        yield from _ANY
    else:
        yield ()


def _of_json_schema(shape: Mapping[str, Any]) -> Iterator[Place]:
    yield ()
    for either in (*shape.get("oneOf", ()), *shape.get("anyOf", ())):
        yield from _of_json_schema(either)
    for key, inner in shape.get("properties", {}).items():
        yield from ((key, *below) for below in _of_json_schema(inner))
    if "items" in shape:
        yield from ((ITEM, *below) for below in _of_json_schema(shape["items"]))
    if shape.get("type") == "object" and "properties" not in shape:
        yield (REST,)
