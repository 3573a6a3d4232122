"""Records as JSON: marshmallow schemas derived from frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from marshmallow import Schema, fields

from reseller_sandbox.values.parameters import Parameter, docstring, field_names, is_record
from reseller_sandbox.web.fields import Amount, Array, Boolean, InnerObject, Instant, QuickSchema, String


class ParameterField(fields.Raw):
    """A key that a record may contain, described by a parameter."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(metadata={"description": parameter.words})
        self.shape = dict(parameter.kind.shape)


class Choice(String):
    """One of several fixed strings."""

    def __init__(self, words: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.shape = {"type": "string", "enum": list(words)}


@cache
def schema_of(record: Any) -> type[Schema]:
    """Return the schema of a frozen dataclass.

    Fields that begin with an underscore are left out, and a final underscore is not part of the key. If
    the record has ``among``, a field name and a function that returns parameters, these parameters are
    keys as well.
    """
    hints = get_type_hints(record, include_extras=True)
    rest, parameters = getattr(record, "among", ("", tuple))
    own_fields = {
        name: _field(hints[name], data_key=name.removesuffix("_"))
        for name in field_names(record)
        if name != rest and not name.startswith("_")
    }
    among = {parameter.name: ParameterField(parameter) for parameter in parameters()}
    about = {"__doc__": docstring(record), "rest": rest}
    return type(record.__name__, (QuickSchema,), {**own_fields, **among, **about})


def dumped(record: Any) -> dict[str, Any]:
    """Return a record as JSON values."""
    kind: Any = type(record)
    return dict(_schema_instance(kind).dump(record))


@cache
def _schema_instance(record: Any) -> Schema:
    return schema_of(record)()


_PLAIN: Mapping[Any, type[fields.Field[Any]]] = {
    # the standard library's class, even if a test that freezes time has replaced it
    next(base for base in datetime.__mro__ if base.__module__ == "datetime"): Instant,
    str: String,
    bool: Boolean,
    int: fields.Integer,
    float: fields.Float,
    Decimal: Amount,
    dict: fields.Dict,
    Mapping: fields.Dict,
}


def _field(hint: Any, **options: Any) -> fields.Field[Any]:
    options = {"required": True, **options}
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        words = next((part for part in parts[1:] if isinstance(part, str)), None)
        return _field(parts[0], **({"metadata": {"description": words}} if words else {}), **options)
    if origin in (Union, UnionType):
        (inner,) = (part for part in parts if part is not NoneType)
        return _field(inner, allow_none=True, **options)
    if origin is Literal:
        return Choice(parts, **options)
    if origin in (tuple, list):
        return Array(_field(parts[0]), **options)
    kind: Any = origin or hint
    if kind is Any:
        return fields.Raw(**{**options, "allow_none": True})
    if issubclass(kind, StrEnum):
        return Choice(tuple(member.value for member in kind), **options)
    for base in kind.__mro__:
        if base in _PLAIN:
            return _PLAIN[base](**options)
    if not is_record(kind):
        raise TypeError(f"{kind} has no JSON form")
    return InnerObject(schema_of(kind), **options)
