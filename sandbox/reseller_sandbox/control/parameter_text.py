"""Words: what stands for a value in a path, a query string or a command line, by the schema of the value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Never


def spoken(shape: Mapping[str, Any], word: str) -> Any:
    """Return the JSON value that ``word`` is, or the word itself where it is none.

    Where ``shape`` takes texts, whatever else it does not take is a text as well.
    """
    sorts = sorts_of(shape)
    if sorts == {"string"}:
        return word
    try:
        found = json.loads(word, parse_float=Decimal, parse_constant=_none)
    except (ValueError, RecursionError):
        return word
    return word if "string" in sorts and not _SORTS[type(found)] & sorts else found


def is_compound(shape: Mapping[str, Any]) -> bool:
    """Whether ``shape`` takes lists or objects, whose parts may come as several words."""
    return any(one.get("type") not in _SINGLE for one in alternatives(shape))


def alternatives(shape: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that a value may fit, one of them being enough."""
    for one in shape.get("oneOf", ()):
        yield from alternatives(one)
    if "oneOf" not in shape:
        yield shape


def sorts_of(shape: Mapping[str, Any]) -> set[Any]:
    """Return the types of JSON that ``shape`` takes; None is among them where it takes all."""
    return {sort for one in alternatives(shape) for sort in _listed(one.get("type"))}


def _listed(sort: Any) -> list[Any]:
    return sort if isinstance(sort, list) else [sort]


def _none(word: str) -> Never:
    raise ValueError(f"{word} is no JSON")


_SINGLE = ("string", "integer", "number", "boolean")

_NUMBER = {"integer", "number"}

_SORTS: Mapping[type, set[str]] = {
    str: {"string"},
    int: _NUMBER,
    Decimal: _NUMBER,  # whether it is whole is for its kind to see
    bool: {"boolean"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}
