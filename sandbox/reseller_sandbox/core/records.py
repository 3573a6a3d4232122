"""Records: immutable values with named fields, declared as ``msgspec.Struct``."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from msgspec import NODEFAULT, Struct


class Quiet(Struct, frozen=True):
    """A record whose values are long or secret: its repr is its type alone."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record, a dataclass or a named tuple, or of their type."""
    for attribute in ("__struct_fields__", "_fields"):
        if hasattr(kind, attribute):
            return tuple(getattr(kind, attribute))
    return tuple(field.name for field in fields(kind))


def is_record(value: Any) -> bool:
    """Whether ``value`` is a record or a dataclass, or the type of one."""
    return hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__")


def defaults(kind: Any) -> dict[str, Any]:
    """Return the default of each field that has a constant one, by the names of the fields."""
    if not hasattr(kind, "__struct_fields__"):
        return {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    pairs = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return {name: value for name, value in pairs if value is not NODEFAULT}
