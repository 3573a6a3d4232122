"""Reads requests: schemas, contradictions and unknown keys.

A request may repeat a value in its path, its query, its body and the objects inside the body. Different
values for one key are refused, because the sandbox must not guess which one the client means.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import chain, islice
from typing import Any

from marshmallow import Schema, fields
from msgspec import Struct

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.hosts import APEX
from reseller_sandbox.values import names
from reseller_sandbox.values.text_checks import close, cut
from reseller_sandbox.web.context import NAME_KEYS, RequestContext
from reseller_sandbox.web.fields import Integer, Price, is_shape, wire_fields
from reseller_sandbox.web.headers import IGNORED, header_value
from reseller_sandbox.web.interface import Endpoint
from reseller_sandbox.worlds import World

_LONGEST_VALUE = 80

#: The path placeholder of the version. All other placeholders are arguments of the operation.
_VERSION = "version"

#: For a path placeholder, another key under which clients repeat its value in the query or the body.
_ALIASES = {"domain_name": "domain", "contact_id": "id"}

#: The body key of the object that describes a domain. Clients send this object even to operations that ignore
#: it.
_NAME_OBJECT = "domain"

#: Keys of a host name. The value is the full name, or only the labels above the domain name.
_HOST_KEYS = ("hostname", "host_name")

#: The maximum number of keys in a message, and the maximum length of each.
_MOST = 10
_LONGEST_KEY = 60


class KnownKeys(Struct, frozen=True):
    """The keys that an operation reads in each part of a request.

    ``inner`` are the keys of each object inside the body. ``objects`` are the keys whose values are
    searched if they are objects. ``names`` maps each key to the name of its argument. ``aliases`` are
    the additional keys in ``names``. ``repeated`` are the keys of the path that clients repeat in the body,
    with their aliases. ``numbers`` are the names of numeric arguments.
    """

    body: Set[str]
    query: Set[str]
    inner: Mapping[str, Set[str]]
    objects: Set[str]
    names: Mapping[str, str]
    aliases: Set[str]
    repeated: Set[str]
    numbers: Set[str]


@cache
def vocabulary_of(endpoint: Endpoint) -> KnownKeys:
    """Return the keys that ``endpoint`` reads."""
    body, query = wire_fields(endpoint.schemas.body), wire_fields(endpoint.schemas.query)
    inner = {key: field.schema for key, field in body.items() if isinstance(field, fields.Nested)}
    nested = {key: wire_fields(schema) for key, schema in inner.items()}
    parts = (body, query, wire_fields(endpoint.schemas.path), *nested.values())
    arguments = [argument for part in parts for argument in part.items()]
    placed = {key for path in endpoint.paths for key in re.findall(r"\{(\w+)\}", path)} - {_VERSION}
    aliases = {alias: key for key, alias in _ALIASES.items() if key in placed}
    return KnownKeys(
        body=body.keys(),
        query=query.keys(),
        inner={key: known.keys() for key, known in nested.items()},
        objects={*nested, _NAME_OBJECT} - aliases.keys(),
        names={key: key for key in {key for key, _ in arguments} | placed} | aliases,
        aliases=aliases.keys(),
        repeated=placed | aliases.keys(),
        numbers={key for key, field in arguments if isinstance(field, Integer | Price)},
    )


def require_consistent(
    endpoint: Endpoint, request: RequestContext, world: World, body: Mapping[str, object]
) -> None:
    """Raise ``invalid_parameter`` if a request has two different values for one argument.

    The check applies only if ``endpoint`` declares that rule. The refusal's fact ``field`` is the name
    of the argument, even if the request uses an alias.
    """
    if r.INVALID_PARAMETER not in endpoint.refuses or not (body or request.query):
        return
    known, statements = vocabulary_of(endpoint), dict[str, list[tuple[str, Any]]]()
    schema = endpoint.schemas.body
    additional = schema.additional_keys(world) if is_shape(schema) else ()
    inner = {key: value for key, value in body.items() if key in known.objects and isinstance(value, dict)}
    places = {
        "the path": request.path_arguments.items(),
        "the query": request.query,
        "the body": [(key, value) for key, value in body.items() if key not in inner],
        **{place: inner[place].items() for place in sorted(inner)},
    }
    for place, key, value in ((place, *entry) for place, entries in places.items() for entry in entries):
        name = known.names.get(key)
        if name is not None and value not in (None, "") and key not in additional:
            alias = f", as {key}" if key in known.aliases else ""
            statements.setdefault(name, []).append((f"{place}{alias}", value))
    for name, ((place, first), *others) in statements.items():
        for other, value in others:
            if _normal_form(name, value, known, request) != _normal_form(name, first, known, request):
                both = f"{_shown(first)} in {place} and {_shown(value)} in {other}"
                problem = f"{name} has two different values: {both}"
                raise Refused(r.INVALID_PARAMETER, problems=problem, field=name, value=_shown(value))


def _normal_form(name: str, value: object, known: KnownKeys, request: RequestContext) -> object:
    """Return ``value`` in a normal form, equal for all spellings of a number or a name."""
    if isinstance(value, bool | list | dict):
        return value
    text = str(value)
    try:
        if name in known.numbers:
            return Decimal(text)
        if name in NAME_KEYS:
            return names.normalise(text)
    except (InvalidOperation, names.BadName):
        return text
    if name in _HOST_KEYS:
        parent = next(filter(None, map(request.path_arguments.get, NAME_KEYS)), "")
        label = text.lower().removesuffix(".").removesuffix(f".{parent.lower()}")
        return APEX if label == parent.lower() else label
    return text


def _shown(value: object) -> str:
    return cut(str(value), _LONGEST_VALUE)


def note_ignored(
    endpoint: Endpoint,
    request: RequestContext,
    world: World,
    body: Mapping[str, object],
    elements: Collection[str] = (),
) -> None:
    """Report the keys of a request that ``endpoint`` does not read.

    Raise ``unknown_keys`` if the assumptions say so. ``elements`` are the keys of the query that
    authenticate the request. A key that is read in one place may be repeated in another. A key of the path
    that has another value elsewhere is reported, too, if ``require_consistent`` does not refuse it.
    """
    if not body and not request.query:
        return
    vocabulary = vocabulary_of(endpoint)
    known = vocabulary.query
    read_keys = request.path_arguments.keys() | vocabulary.aliases | (vocabulary.body & body.keys())
    read_keys |= known & {key for key, _ in request.query}
    for key, inner_keys in vocabulary.inner.items():
        if isinstance(inner := body.get(key), dict):
            read_keys |= inner_keys & inner.keys()
    unchecked = () if r.INVALID_PARAMETER in endpoint.refuses else (*request.query, *body.items())
    for key, value in unchecked:
        placed = request.path_arguments.get(name := vocabulary.names.get(key, key))
        if placed is not None and value not in (None, ""):
            in_path, elsewhere = (_normal_form(name, given, vocabulary, request) for given in (placed, value))
            if in_path != elsewhere:
                read_keys -= {key}
    schema = endpoint.schemas.body
    more = schema.additional_keys(world) if is_shape(schema) else ()
    # Some operations refuse unknown keys in the body themselves, because the contract has an error for that.
    in_body = () if r.UNKNOWN_EXTRA in endpoint.refuses else _unread(schema, body, {*read_keys, *more})
    known_keys = {*known, *read_keys, *elements}
    in_query = (_with_suggestion(key, "", known) for key, _ in request.query if key not in known_keys)
    unread = chain(in_body, in_query)
    listed = tuple(dict.fromkeys(islice(unread, _MOST)))
    if not listed:
        return
    request.ignored = listed
    listed += ("and more",) if next(unread, None) else ()
    if request.assumed_in(world).unknown_keys == "refused":
        raise Refused(r.UNKNOWN_KEYS, keys=", ".join(listed))
    request.headers_out[IGNORED] = header_value(", ".join(listed))


def _unread(
    schema: Schema | None, values: Mapping[str, object], read: Collection[str], path: str = ""
) -> Iterator[str]:
    """Yield the keys in ``values``, and in inner objects, that the operation does not read."""
    known = wire_fields(schema)
    for key, value in values.items():
        if key in known:
            if isinstance(value, dict | list):
                yield from _unread_within(known[key], value, read, f"{path}{key}.")
        elif key not in read:
            yield _with_suggestion(key, path, known)


def _unread_within(
    field: fields.Field[Any], value: object, read: Collection[str], path: str
) -> Iterator[str]:
    if isinstance(field, fields.Nested) and isinstance(value, dict):
        # An object directly in the body may repeat a key that is read elsewhere. A deeper object may not.
        yield from _unread(field.schema, value, read if path.count(".") == 1 else (), path)
    elif isinstance(field, fields.List) and isinstance(value, list):
        for item in value:
            yield from _unread_within(field.inner, item, read, path)
    else:
        yield from _unread_in_shape(getattr(field, "shape", {}), value, path)


def _unread_in_shape(shape: Mapping[str, Any], value: object, path: str) -> Iterator[str]:
    """Yield the unknown keys of a value whose field has a JSON Schema, but no marshmallow schema."""
    if not isinstance(value, dict | list):
        return
    for choice in (shape, *shape.get("oneOf", ())):
        if isinstance(value, list):
            for item in value if "items" in choice else ():
                yield from _unread_in_shape(choice["items"], item, path)
        elif "properties" in choice:
            known = choice["properties"]
            yield from (_with_suggestion(key, path, known) for key in value if key not in known)


def _with_suggestion(key: str, path: str, known: Iterable[str]) -> str:
    """Return a key with its path and the most similar known key."""
    near = close(key, known)
    shown = f"{path}{cut(key, _LONGEST_KEY)}"
    return f"{shown}; nearest {near[0]}" if near else shown
