"""Copies of frozen records: what ``dataclasses.replace`` makes, in a tenth of its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from reseller_sandbox.core.dataclass import compiled

T = TypeVar("T")
Writer = Callable[[Any, Any], None]


def copied(record: T, changes: Mapping[str, Any]) -> T:
    """Return ``record`` with some of its fields changed; raise TypeError for names that are no fields.

    It is for places where many copies are made. Records have slots, and no ``__post_init__``.
    """
    kind: Any = type(record)
    copy, by_name = _ways(kind)
    made: T = copy(record)
    for name, value in changes.items():
        if name not in by_name:
            raise TypeError(f"{kind.__name__} has not all of {', '.join(changes)}")
        by_name[name](made, value)
    return made


def writers(kind: Any) -> Mapping[str, Writer]:
    """Return what writes each field of a record of ``kind`` that nobody but the caller has seen yet."""
    return _ways(kind)[1]


@cache
def _ways(kind: Any) -> tuple[Callable[[Any], Any], Mapping[str, Writer]]:
    """Return what copies a record of ``kind``, and what writes each of its fields.

    A copy is made as one of a class that has the same slots and is not frozen, and only then becomes what it
    is: to set the fields of a frozen record takes five times as long.
    """
    names = [one.name for one in fields(kind)]
    open_to_all = {"__slots__": vars(kind)["__slots__"], "__setattr__": object.__setattr__}
    unfrozen = type(kind.__name__, kind.__bases__, open_to_all)
    known: dict[str, Any] = {"new": object.__new__, "unfrozen": unfrozen, "kind": kind}
    fill = [f"made.{name} = record.{name}" for name in names]
    body = ["made = new(unfrozen)", *fill, "made.__class__ = kind", "return made"]
    copy: Callable[[Any], Any] = compiled(kind, "copy", "record", body, known)
    return copy, {name: getattr(kind, name).__set__ for name in names}
