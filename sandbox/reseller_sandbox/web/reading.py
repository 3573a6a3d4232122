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
from reseller_sandbox.values import names
from reseller_sandbox.values.text_checks import close, cut
from reseller_sandbox.web.context import NAME_KEYS, RequestContext
from reseller_sandbox.web.fields import Integer, Price, Shape, wire_fields
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
    the additional keys in ``names``. ``numbers`` are the names of numeric arguments.
    """

    body: Set[str]
    query: Set[str]
    inner: Mapping[str, Set[str]]
    objects: Set[str]
    names: Mapping[str, str]
    aliases: Set[str]
    numbers: Set[str]

    def read(self, request: RequestContext, body: Mapping[str, Any]) -> set[str]:
        """Return the keys that the operation reads from a request, and all aliases."""
        keys = request.path_arguments.keys() | self.aliases | (self.body & body.keys())
        keys |= self.query & {key for key, _ in request.query}
        for key, inner_keys in self.inner.items():
            if isinstance(body.get(key), dict):
                keys |= inner_keys & body[key].keys()
        return keys


@cache
def vocabulary(endpoint: Endpoint) -> KnownKeys:
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
        numbers={key for key, field in arguments if isinstance(field, Integer | Price)},
    )


def require_consistent(
    endpoint: Endpoint, request: RequestContext, world: World, body: Mapping[str, Any]
) -> None:
    """Raise ``invalid_parameter`` if a request has two different values for one argument.

    The check applies only if ``endpoint`` declares that rule. The refusal's fact ``field`` is the name
    of the argument, even if the request uses an alias.
    """
    if r.INVALID_PARAMETER not in endpoint.refuses or not (body or request.query):
        return
    known, statements = vocabulary(endpoint), dict[str, list[tuple[str, Any]]]()
    schema = endpoint.schemas.body
    additional = schema.additional_keys(world) if isinstance(schema, Shape) else ()
    for place, key, value in _statements(request, body, known.objects):
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


def _statements(
    request: RequestContext, body: Mapping[str, Any], objects: Set[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield the place, the key and the value of each argument of a request."""
    inner = {key: body[key] for key in sorted(body.keys() & objects) if isinstance(body[key], dict)}
    yield from (("the path", key, value) for key, value in request.path_arguments.items())
    yield from (("the query", key, value) for key, value in request.query)
    yield from (("the body", key, value) for key, value in body.items() if key not in inner)
    yield from ((place, key, value) for place in inner for key, value in inner[place].items())


def _normal_form(name: str, value: Any, known: KnownKeys, request: RequestContext) -> Any:
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
        return text.lower().removesuffix(".").removesuffix(f".{parent.lower()}")
    return text


def _shown(value: Any) -> str:
    return cut(str(value), _LONGEST_VALUE)


def note_ignored(
    endpoint: Endpoint,
    request: RequestContext,
    world: World,
    body: Mapping[str, Any],
    elements: Collection[str] = (),
) -> None:
    """Report the keys of a request that ``endpoint`` does not read.

    Raise ``unknown_keys`` if the assumptions say so. ``elements`` are the keys of the query that
    authenticate the request. A key that is read in one place may be repeated in another.
    """
    if not body and not request.query:
        return
    read_keys, known = vocabulary(endpoint).read(request, body), vocabulary(endpoint).query
    schema = endpoint.schemas.body
    more = schema.additional_keys(world) if isinstance(schema, Shape) else ()
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
    schema: Schema | None, values: Mapping[str, Any], read: Collection[str], path: str = ""
) -> Iterator[str]:
    """Yield the keys in ``values``, and in inner objects, that the operation does not read."""
    known = wire_fields(schema)
    for key, value in values.items():
        if key in known:
            if isinstance(value, dict | list):
                yield from _unread_within(known[key], value, read, f"{path}{key}.")
        elif key not in read:
            yield _with_suggestion(key, path, known)


def _unread_within(field: fields.Field[Any], value: Any, read: Collection[str], path: str) -> Iterator[str]:
    if isinstance(field, fields.Nested) and isinstance(value, dict):
        # An object directly in the body may repeat a key that is read elsewhere. A deeper object may not.
        yield from _unread(field.schema, value, read if path.count(".") == 1 else (), path)
    elif isinstance(field, fields.List) and isinstance(value, list):
        for item in value:
            yield from _unread_within(field.inner, item, read, path)
    else:
        yield from _unread_in_shape(getattr(field, "shape", {}), value, path)


def _unread_in_shape(shape: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
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
