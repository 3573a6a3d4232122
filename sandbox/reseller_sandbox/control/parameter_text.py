"""Parameters as text: in a path, a query string or on a command line.

The schema of the parameter decides how the text is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Never

from reseller_sandbox.server.json_text import load_json


def parse_text(shape: Mapping[str, object], word: str) -> object:
    """Return the JSON value of ``word``, or ``word`` itself if it is not JSON.

    If ``shape`` accepts strings but not the type of the JSON value, return ``word`` as well.
    """
    sorts = types_of(shape)
    if sorts == {"string"}:
        return word
    try:
        value = load_json(word, parse_float=Decimal, parse_constant=_refuse_constant)
    except ValueError:
        return word
    return word if "string" in sorts and not _SORTS[type(value)] & sorts else value


def is_compound(shape: Mapping[str, object]) -> bool:
    """Whether ``shape`` accepts arrays or objects. In a command, their option can be repeated."""
    return any(schema.get("type") not in _SINGLE for schema in alternatives(shape))


def alternatives(shape: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the alternative schemas in ``shape``. A value must fit one of them."""
    for schema in shape.get("oneOf", ()):
        yield from alternatives(schema)
    if "oneOf" not in shape:
        yield shape


def types_of(shape: Mapping[str, object]) -> set[object]:
    """Return the JSON types that ``shape`` accepts.

    The set contains None if a schema accepts every type.
    """
    types = (schema.get("type") for schema in alternatives(shape))
    return {sort for each in types for sort in (each if isinstance(each, list) else [each])}


def _refuse_constant(word: str) -> Never:
    raise ValueError(f"{word} is not valid JSON")


_SINGLE = ("string", "integer", "number", "boolean")

#: The types of any number. The kind of the parameter checks later whether the number is an integer.
_NUMBER = {"integer", "number"}

_SORTS: Mapping[type, set[str]] = {
    str: {"string"},
    int: _NUMBER,
    Decimal: _NUMBER,
    bool: {"boolean"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}
