"""Writing records as JSON values: the functions that a schema comes to, made once.

They write what marshmallow's own dump would; that decides for each record anew what to do with each field,
which takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from marshmallow import Schema, fields

Write = Callable[[Any], Any]


class PlainlyWritten(fields.Field[Any]):
    """A field whose values, but for None, one function writes."""

    writes: Write

    def _serialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return None if value is None else self.writes(value)


def writer(schema: Schema) -> Write:
    """Return the function that writes one record, a mapping or an object, as ``schema`` has it.

    Fields that the record lacks are left out, and None is written as null. What an attribute that the schema
    calls its ``rest`` holds stands among the fields.
    """
    parts = [
        (field.data_key or name, field.attribute or name, _value_writer(field))
        for name, field in schema.dump_fields.items()
    ]

    rest: str = getattr(schema, "rest", "")

    def write(record: Any) -> dict[str, Any]:
        among = getattr(record, rest) if rest else {}
        if type(record) is not dict and not isinstance(record, Mapping):  # the latter takes a while
            record = {name: getattr(record, name) for _, name, _ in parts if hasattr(record, name)}
        written = {
            key: value if (value := record[name]) is None or write_value is None else write_value(value)
            for key, name, write_value in parts
            if name in record
        }
        return {**written, **among} if among else written

    return write


def _value_writer(field: Any) -> Write | None:
    """Return the function that writes a field's values but for None, or None where they stay as they are."""
    if _writes_as(field, PlainlyWritten):
        return cast(PlainlyWritten, field).writes
    if _writes_as(field, fields.Nested):
        return writer(field.schema)
    if _writes_as(field, fields.List):
        inner = _value_writer(field.inner)
        return list if inner is None else lambda values: [inner(value) for value in values]
    for kind, write in _PLAIN.items():
        if _writes_as(field, kind):
            return write
    return lambda value: field._serialize(value, "", None)


def _writes_as(field: Any, kind: type[fields.Field[Any]]) -> bool:
    return isinstance(field, kind) and type(field)._serialize is kind._serialize


def _text(value: Any) -> str:
    return value if type(value) is str else str(value)


_PLAIN: Mapping[type[fields.Field[Any]], Write | None] = {
    fields.String: _text,
    fields.Integer: int,
    fields.Field: None,
}
