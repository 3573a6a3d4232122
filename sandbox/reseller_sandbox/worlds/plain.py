"""Records, and whatever refusals tell of, as JSON values; the secrets of records are masked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.matching import MATCH, Match
from reseller_sandbox.core.model import Plan
from reseller_sandbox.core.signatures import field_names, is_record
from reseller_sandbox.core.state import Change
from reseller_sandbox.server.secrecy import MASK, is_secret


def plain(value: Any) -> Any:
    """Return ``value`` as JSON: instants and money as on the wire, records as objects, sets sorted.

    Anything else becomes text, so that whatever a refusal speaks of can be shown.
    """
    match value:
        case None | bool() | int():
            return value
        case float() if isfinite(value):
            return value
        case Decimal() if value.is_finite():
            return money.write(value)
        case datetime():
            return wire(value)
        case date():
            return value.isoformat()
        case set() | frozenset():
            return sorted(map(plain, value), key=lambda one: (type(one).__name__, str(one)))
        case Match():
            return MATCH.write(value)
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    if is_record(value):
        return {name: _field(name, getattr(value, name)) for name in field_names(value)}
    return str(value)


def _field(name: str, value: Any) -> Any:
    if name == "given" and value is not None:  # what a plan's action is told, as pairs
        return {key: _field(key, inner) for key, inner in value}
    return MASK if value and is_secret(name) else plain(value)


def secrets_of(record: Any) -> Iterator[str]:
    """Yield the secrets that a record holds; what a plan's action is told is among them."""
    if is_record(record):
        told = record.given if isinstance(record, Plan) else ()
        held = ((name, getattr(record, name)) for name in field_names(record))
        yield from (value for name, value in (*held, *told) if is_secret(name))


def shown(change: Change) -> dict[str, Any]:
    """Return a change of one record as JSON: which, what kind, and each field ``before`` and ``after``.

    ``name`` is what people call the record, where its key is a number.
    """
    before, after = change.before, change.after
    kind = "created" if before is None else "deleted" if after is None else "changed"
    some = after if before is None else before
    altered = {}
    for name in field_names(some):
        old, new = (None if record is None else getattr(record, name) for record in (before, after))
        if kind != "changed" or old != new:
            altered[name] = {"before": _field(name, old), "after": _field(name, new)}
    return {
        "table": change.table,
        "key": plain(change.key),
        "name": getattr(some, "name", None),
        "change": kind,
        "fields": altered,
    }
