"""Result types in words: each record with its fields and their annotated types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from manual_reference.markdown import code
from reseller_sandbox.manual.pages import slug
from reseller_sandbox.values.parameters import field_names, is_record

_WORDS: Mapping[Any, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    Decimal: "an amount",
    bool: "true or false",
    datetime: "an instant",
}


def records(results: Iterable[Any]) -> list[type]:
    """Return every record type in ``results`` and in the fields of such records, sorted by name."""
    by_name: dict[str, type] = {}
    left = [*results]
    while left:
        sort = left.pop()
        if is_record(sort) and isinstance(sort, type) and sort.__name__ not in by_name:
            by_name[sort.__name__] = sort
            left += _sorts(sort).values()
        left += get_args(sort)
    return [by_name[name] for name in sorted(by_name)]


def parts(record: type) -> Iterator[tuple[str, str]]:
    """Yield the name of each field of a record, and the field's type in words."""
    for name, sort in _sorts(record).items():
        yield name.removesuffix("_"), called(sort)


def called(sort: Any) -> str:
    """Return a type in words, with links to the record types in it."""
    origin, within = get_origin(sort), get_args(sort)
    if is_record(sort) and isinstance(sort, type):
        return f"[{code(sort.__name__)}](#{slug(sort.__name__)})"
    if origin is Annotated:
        return called(within[0])
    if origin is Literal:
        return " or ".join(map(code, within))
    if isinstance(sort, type) and issubclass(sort, Enum):
        return " or ".join(code(member.value) for member in sort)
    if origin in (tuple, list):
        article, _, noun = called(within[0]).partition(" ")
        return f"a list of {noun}s" if article in {"a", "an"} else f"a list of {called(within[0])}"
    if NoneType in within:
        return f"{' or '.join(called(part) for part in within if part is not NoneType)}, if there is one"
    return _WORDS.get(sort, "an object" if origin is not None or sort is dict else "any value")


def _sorts(record: type) -> dict[str, Any]:
    known = get_type_hints(record, include_extras=True)
    return {name: known[name] for name in field_names(record) if not name.startswith("_")}
