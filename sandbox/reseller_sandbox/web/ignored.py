"""Keys of a request that nothing reads: told, where they would otherwise leave no trace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from marshmallow import Schema, fields

from reseller_sandbox.core.refusals import UNKNOWN_EXTRA, UNKNOWN_KEYS, Refused
from reseller_sandbox.core.spelling import close
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import in_header
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.worlds import World

#: The header that names them, each with the key that is nearest to it, if one is near.
HEADER = "X-Sandbox-Ignored"

#: How many are named, and how much of each.
_MOST = 10
_LONGEST = 60


def tell(
    endpoint: Endpoint,
    incoming: Incoming,
    world: World,
    body: Mapping[str, Any] | None,
    elements: Collection[str] = (),
) -> None:
    """Note the keys that ``endpoint`` does not read, or refuse with ``unknown_keys`` where that is wanted.

    ``body`` is None where the operation reads none, ``elements`` are those of the query that are not the
    operation's. What the path says already may be said again.
    """
    if body is None and not incoming.body and not incoming.query:
        return
    found = chain(_in_body(endpoint, incoming, world, body), _in_query(endpoint, incoming, elements))
    told = tuple(dict.fromkeys(islice(found, _MOST)))
    if not told:
        return
    incoming.ignored = told
    told += ("and more",) if next(found, None) else ()
    if incoming.assumed_in(world).unknown_keys == "refused":
        raise Refused(UNKNOWN_KEYS, keys=", ".join(told))
    incoming.headers_out[HEADER] = in_header(", ".join(told))


def _in_body(
    endpoint: Endpoint, incoming: Incoming, world: World, body: Mapping[str, Any] | None
) -> Iterator[str]:
    if UNKNOWN_EXTRA in endpoint.refuses:  # as the contract has it
        return
    if body is None:
        body = _unread(incoming)
    more: Collection[str] = incoming.arguments
    if isinstance(endpoint.body, Shape):
        more = {*more, *endpoint.body.more(world)}
    yield from _strange(endpoint.body, body, more)


def _unread(incoming: Incoming) -> Mapping[str, Any]:
    """The body that nothing reads, where it is an object."""
    try:
        return incoming.object
    except Refused:
        return {}


def _in_query(endpoint: Endpoint, incoming: Incoming, elements: Iterable[str]) -> Iterator[str]:
    read = endpoint.query.fields if endpoint.query is not None else {}
    known = [one.data_key or name for name, one in read.items()]
    taken = {name.lower() for name in (*known, *elements, *incoming.arguments)}
    return (_named(key, "", known) for key, _ in incoming.query if key.lower() not in taken)


def _strange(
    schema: Schema | None, given: Mapping[str, Any], more: Collection[str] = (), path: str = ""
) -> Iterator[str]:
    """The keys of an object, and of the objects inside it, that its schema does not have."""
    known = {} if schema is None else {one.data_key or name: one for name, one in schema.load_fields.items()}
    for key, value in given.items():
        if key in known:
            yield from _within(known[key], value, f"{path}{key}.")
        elif key not in more:
            yield _named(key, path, known)


def _within(field: fields.Field[Any], value: Any, path: str) -> Iterator[str]:
    if isinstance(field, fields.Nested) and isinstance(value, Mapping):
        yield from _strange(field.schema, value, (), path)
    elif isinstance(field, fields.List) and isinstance(value, list):
        for item in value:
            yield from _within(field.inner, item, path)
    else:
        yield from _shaped(getattr(field, "shape", {}), value, path)


def _shaped(shape: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """The same by the JSON Schema of a field that reads objects by itself."""
    if not isinstance(value, dict | list):
        return
    for one in (shape, *shape.get("oneOf", ())):
        if isinstance(value, list):
            for item in value if "items" in one else ():
                yield from _shaped(one["items"], item, path)
        elif "properties" in one:
            known = one["properties"]
            yield from (_named(key, path, known) for key in value if key not in known)


def _named(key: str, path: str, known: Iterable[str]) -> str:
    """A key where it stands, with the nearest of those that would have been read."""
    near = close(key, known)
    shown = f"{path}{key}" if len(key) <= _LONGEST else f"{path}{key[: _LONGEST - 1]}…"
    return f"{shown}; nearest {near[0]}" if near else shown
