"""What a request says in several places: in its path, its query, its body and the objects inside that.

The same thing said twice has to be the same, or something would be done, and charged, that nobody asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from marshmallow import Schema, fields
from msgspec import Struct

from reseller_sandbox.core import names
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Price, Shape, Whole
from reseller_sandbox.web.incoming import NAME_KEYS, Incoming
from reseller_sandbox.worlds import World

_LONGEST = 80

#: The one placeholder of a path that tells nothing of what is asked for.
_VERSION = "version"

#: Under which other keys callers repeat what stands in the path, by its placeholder.
_ALIASES = {"domain_name": "domain", "contact_id": "id"}

#: The object that describes a name, which callers send where nothing reads it too.
_NAME_OBJECT = "domain"

#: Keys for a host, which may be named by its label or in full.
_HOST_KEYS = ("hostname", "host_name")

Statement = tuple[str, Any]


class KnownKeys(Struct, frozen=True):
    """What can be said to an operation: the keys that it reads in each place.

    ``inner`` are those of each object inside the body, by the key of that, ``objects`` the keys of what is
    looked into where it is an object. ``names`` are the names of all things by their keys, ``aliases`` the
    further keys among those, ``numbers`` the names of the things that are numbers.
    """

    body: Set[str]
    query: Set[str]
    inner: Mapping[str, Set[str]]
    objects: Set[str]
    names: Mapping[str, str]
    aliases: Set[str]
    numbers: Set[str]

    def read(self, incoming: Incoming, body: Mapping[str, Any]) -> set[str]:
        """Return the keys that a request has where the operation reads them, and those that repeat some."""
        found = incoming.arguments.keys() | self.aliases | (self.body & body.keys())
        found |= self.query & {key for key, _ in incoming.query}
        for key, known in self.inner.items():
            if isinstance(body.get(key), dict):
                found |= known & body[key].keys()
        return found


@cache
def vocabulary(endpoint: Endpoint) -> KnownKeys:
    """Return what can be said to ``endpoint``."""
    nested = {key: one.schema for key, one in _fields(endpoint.body) if isinstance(one, fields.Nested)}
    schemas = (endpoint.body, endpoint.query, endpoint.path, *nested.values())
    every = [found for schema in schemas for found in _fields(schema)]
    placed = {key for path in endpoint.paths for key in re.findall(r"\{(\w+)\}", path)} - {_VERSION}
    aliases = {alias: key for key, alias in _ALIASES.items() if key in placed}
    return KnownKeys(
        body={key for key, _ in _fields(endpoint.body)},
        query={key for key, _ in _fields(endpoint.query)},
        inner={inner: {key for key, _ in _fields(schema)} for inner, schema in nested.items()},
        objects={*nested, _NAME_OBJECT} - aliases.keys(),
        names={key: key for key in {key for key, _ in every} | placed} | aliases,
        aliases=aliases.keys(),
        numbers={key for key, one in every if isinstance(one, Whole | Price)},
    )


def check(endpoint: Endpoint, incoming: Incoming, world: World, body: Mapping[str, Any]) -> None:
    """Refuse with ``invalid_parameter`` what is said twice and differently, if ``endpoint`` refuses by that.

    The refusal's fact ``field`` is the name of the thing, which may have been said under an alias.
    """
    if INVALID_PARAMETER not in endpoint.refuses or not (body or incoming.query):
        return
    known, said = vocabulary(endpoint), dict[str, list[Statement]]()
    places = _places(incoming, body, known.objects)
    told = [known.names.get(key, key) for _, given in places for key, _ in given]
    if len(set(told)) == len(told):
        return  # as for most: all is said once
    means_more = endpoint.body.more(world) if isinstance(endpoint.body, Shape) else ()
    for place, given in places:
        for key, value in given:
            name = known.names.get(key)
            if name is not None and value not in (None, "") and key not in means_more:
                alias = f", as {key}" if key in known.aliases else ""
                said.setdefault(name, []).append((f"{place}{alias}", value))
    for name, ((place, first), *others) in said.items():
        for other, value in others:
            if _meaning(name, value, known, incoming) != _meaning(name, first, known, incoming):
                both = f"{_cut(first)} in {place} and {_cut(value)} in {other}"
                problem = f"{name} is said twice and differently: {both}"
                raise Refused(INVALID_PARAMETER, problems=problem, field=name, value=_cut(value))


def _places(
    incoming: Incoming, body: Mapping[str, Any], inner: Set[str]
) -> list[tuple[str, Iterable[Statement]]]:
    objects = [key for key in sorted(body.keys() & inner) if isinstance(body[key], dict)]
    return [
        ("the path", incoming.arguments.items()),
        ("the query", incoming.query),
        ("the body", [(key, value) for key, value in body.items() if key not in objects]),
        *[(key, body[key].items()) for key in objects],
    ]


def _fields(schema: Schema | None) -> Iterator[tuple[str, Any]]:
    for name, field in schema.fields.items() if schema is not None else ():
        yield field.data_key or name, field


def _meaning(name: str, value: Any, known: KnownKeys, incoming: Incoming) -> Any:
    """Return ``value`` as something equal for all spellings of one number, name or host."""
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
        parent = next(filter(None, map(incoming.arguments.get, NAME_KEYS)), "")
        return text.lower().removesuffix(".").removesuffix(f".{parent.lower()}")
    return text


def _cut(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
