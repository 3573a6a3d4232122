"""What a paid call says in several places: in its path, its query, its body and the object inside that.

The same thing said twice has to be the same, or the account would be charged for what nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from marshmallow import Schema, fields

from reseller_sandbox.core import names
from reseller_sandbox.core.refusals import INSUFFICIENT_FUNDS, INVALID_PARAMETER, Refused
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.incoming import Incoming

_LONGEST = 80

#: The one placeholder of a path that tells nothing of what is asked for.
_VERSION = "version"

_NOTHING: Mapping[str, str] = {}

Statement = tuple[str, Any]


def check(
    endpoint: Endpoint, incoming: Incoming, body: Mapping[str, Any], aliases: Mapping[str, str] = _NOTHING
) -> None:
    """Refuse with ``invalid_parameter`` what is said twice and differently, where ``endpoint`` may charge.

    ``aliases`` maps other keys for a thing to its name, which is the refusal's fact ``field``.
    """
    if INSUFFICIENT_FUNDS not in endpoint.refuses or endpoint.body is None:
        return
    inner = {name: field.schema for name, field in _fields(endpoint.body) if isinstance(field, fields.Nested)}
    known = {
        name for schema in (endpoint.body, endpoint.query, *inner.values()) for name, _ in _fields(schema)
    }
    known |= incoming.arguments.keys() - {_VERSION}
    spelt = {name.lower(): name for name in known} | {key.lower(): name for key, name in aliases.items()}
    said: dict[str, list[Statement]] = {}
    for place, given in _places(incoming, body, inner):
        for key, value in given:
            if key.lower() in spelt and value not in (None, ""):
                said.setdefault(spelt[key.lower()], []).append((place, value))
    for name, statements in said.items():
        (place, first), *others = statements
        for other, value in others:
            if _meaning(value) != _meaning(first):
                told = f"{_cut(first)} in {place} and {_cut(value)} in {other}"
                raise Refused(
                    INVALID_PARAMETER,
                    problems=f"{name} is said twice and differently: {told}",
                    field=name,
                    value=_cut(value),
                )


def _places(
    incoming: Incoming, body: Mapping[str, Any], inner: Iterable[str]
) -> Iterator[tuple[str, Iterable[Statement]]]:
    yield "the path", incoming.arguments.items()
    yield "the query", incoming.query
    yield "the body", ((key, value) for key, value in body.items() if key not in inner)
    yield from ((key, body[key].items()) for key in inner if isinstance(body.get(key), Mapping))


def _fields(schema: Schema | None) -> Iterator[tuple[str, Any]]:
    for name, field in schema.fields.items() if schema is not None else ():
        yield field.data_key or name, field


def _meaning(value: Any) -> Any:
    """Return ``value`` as something equal for all spellings of one number or name."""
    if isinstance(value, bool | list):
        return value
    try:
        number = Decimal(value)
        if number.is_finite():
            return number
    except (InvalidOperation, TypeError, ValueError):
        pass
    try:
        return names.normalise(value)
    except (names.BadName, AttributeError):
        return value


def _cut(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
