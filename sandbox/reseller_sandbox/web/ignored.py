"""Keys of a request that have no effect: the header and the journal name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any

from marshmallow import Schema, fields

from reseller_sandbox.core.refusals import UNKNOWN_EXTRA, UNKNOWN_KEYS, Refused
from reseller_sandbox.core.texts import close
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.errors import in_header
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.headers import IGNORED
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.statements import vocabulary
from reseller_sandbox.worlds import World

#: How many are named, and how much of each.
_MOST = 10
_LONGEST = 60


def tell(
    endpoint: Endpoint,
    incoming: Incoming,
    world: World,
    body: Mapping[str, Any],
    elements: Collection[str] = (),
) -> None:
    """Note the keys that ``endpoint`` does not read, or refuse with ``unknown_keys`` where that is wanted.

    ``elements`` are the keys of the query that are not the operation's. What is said where it is read may be
    said again elsewhere.
    """
    if not body and not incoming.query:
        return
    if not incoming.query and next(_strange(endpoint.body, body, ()), None) is None:
        return  # as for most: the schema has them all
    read = vocabulary(endpoint).read(incoming, body)
    found = chain(_in_body(endpoint, world, body, read), _in_query(endpoint, incoming, read.union(elements)))
    told = tuple(dict.fromkeys(islice(found, _MOST)))
    if not told:
        return
    incoming.ignored = told
    told += ("and more",) if next(found, None) else ()
    if incoming.assumed_in(world).unknown_keys == "refused":
        raise Refused(UNKNOWN_KEYS, keys=", ".join(told))
    incoming.headers_out[IGNORED] = in_header(", ".join(told))


def _in_body(
    endpoint: Endpoint, world: World, body: Mapping[str, Any], read: Collection[str]
) -> Iterator[str]:
    if UNKNOWN_EXTRA in endpoint.refuses:  # as the contract has it
        return
    more = endpoint.body.more(world) if isinstance(endpoint.body, Shape) else ()
    yield from _strange(endpoint.body, body, {*read, *more})


def _in_query(endpoint: Endpoint, incoming: Incoming, read: Iterable[str]) -> Iterator[str]:
    known = vocabulary(endpoint).query
    taken = {*known, *read}
    return (_named(key, "", known) for key, _ in incoming.query if key not in taken)


def _strange(
    schema: Schema | None, given: Mapping[str, Any], read: Collection[str], path: str = ""
) -> Iterator[str]:
    """Yield the keys of an object, and of the objects inside it, that its schema lacks and nothing reads."""
    known = {} if schema is None else _fields(schema)
    for key, value in given.items():
        if key in known:
            if isinstance(value, dict | list):
                yield from _within(known[key], value, read, f"{path}{key}.")
        elif key not in read:
            yield _named(key, path, known)


@cache  # a schema is one of a row's
def _fields(schema: Schema) -> Mapping[str, fields.Field[Any]]:
    return {one.data_key or name: one for name, one in schema.load_fields.items()}


def _within(field: fields.Field[Any], value: Any, read: Collection[str], path: str) -> Iterator[str]:
    if isinstance(field, fields.Nested) and isinstance(value, dict):
        # What the request says where it is read is read here too, but for objects of their own kind.
        yield from _strange(field.schema, value, read if path.count(".") == 1 else (), path)
    elif isinstance(field, fields.List) and isinstance(value, list):
        for item in value:
            yield from _within(field.inner, item, read, path)
    else:
        yield from _shaped(getattr(field, "shape", {}), value, path)


def _shaped(shape: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Yield the same by the JSON Schema of a field that reads objects by itself."""
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
    """Return a key where it stands, with the nearest of those that would have been read."""
    near = close(key, known)
    shown = f"{path}{key}" if len(key) <= _LONGEST else f"{path}{key[: _LONGEST - 1]}…"
    return f"{shown}; nearest {near[0]}" if near else shown
