"""marshmallow fields that accept exactly the contract's values, and schemas derived from records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache, cached_property, partial
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeGuard,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from marshmallow import EXCLUDE, Schema, ValidationError, fields, missing, pre_load

from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry import customers
from reseller_sandbox.registry.model import LONGEST_TERM
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values import money, text_checks
from reseller_sandbox.values.clock import wire, wire_spaced
from reseller_sandbox.values.parameters import Parameter, docstring, field_names, is_record
from reseller_sandbox.values.text_checks import complaint, shortened, states_expected_value, whole

if TYPE_CHECKING:
    from reseller_sandbox.registry.assumptions import Assumptions
    from reseller_sandbox.worlds import World

#: The type of a field's attribute ``shape``, which is a JSON Schema. If the schema depends on the
#: assumptions, the field has a method ``shape_under`` instead.
Shaped = dict[str, object]

#: The number of records that a field caches.
_REMEMBERED = 2048

#: The maximum number of characters that a refusal uses to list problems.
_LONGEST_PROBLEMS = 2000

#: A function that converts a value to JSON values.
Write = Callable[[Any], Any]


class FunctionField(fields.Field[Any]):
    """A field whose function ``writes`` converts each value except None to JSON."""

    writes: Write

    def _serialize(self, value: object, *_: Any, **__: Any) -> Any:
        return None if value is None else self.writes(value)


@cache
def wire_fields(schema: Schema | None) -> Mapping[str, fields.Field[Any]]:
    """Return the fields of a schema by JSON key. Without a schema, return an empty mapping."""
    return {field.data_key or name: field for name, field in schema.fields.items()} if schema else {}


def writer(schema: Schema) -> Write:
    """Return a function that converts a record to JSON values, as ``schema`` describes.

    A record is a mapping or an object. Fields that the record lacks are omitted, and None is written as
    null. If the schema has ``rest``, the entries of that attribute are written after the fields.
    """
    parts = [
        (field.data_key or name, field.attribute or name, _value_writer(field))
        for name, field in schema.dump_fields.items()
    ]

    rest: str = getattr(schema, "rest", "")

    def write(record: object) -> dict[str, object]:
        # ``isinstance`` with ``Mapping`` is slow
        get = record.get if type(record) is dict or isinstance(record, Mapping) else partial(getattr, record)
        written = {
            key: None if value is None else write_value(value)
            for key, name, write_value in parts
            if (value := get(name, missing)) is not missing
        }
        return {**written, **getattr(record, rest)} if rest else written

    return write


def _value_writer(field: Any) -> Write:
    """Return a function that converts the values of a field, except None, to JSON values."""
    serialize = type(field)._serialize
    if serialize is FunctionField._serialize:
        return cast(FunctionField, field).writes
    if serialize is fields.Nested._serialize:
        return writer(field.schema)
    if serialize is fields.List._serialize:
        write = _value_writer(field.inner)
        return lambda values: [write(value) for value in values]
    return lambda value: field._serialize(value, "", None)


class QuickSchema(Schema):
    """A schema of a JSON object that converts records ten times as fast as marshmallow does.

    Unknown keys are ignored.
    """

    class Meta:
        unknown = EXCLUDE

    #: The attribute of a record that holds further keys and values.
    rest: ClassVar[str] = ""

    @cached_property
    def _write(self) -> Write:
        return writer(self)

    def dump(self, obj: Any, *, many: bool | None = None) -> object:
        """Convert ``obj`` to JSON values. Leave out the fields that ``obj`` lacks."""
        if self.many if many is None else many:
            return [self._write(record) for record in obj]
        return self._write(obj)


class Shape(QuickSchema):
    """A schema of a JSON object. Unknown keys are ignored, and null means that a key is missing."""

    error_messages = {"type": "must be an object", "unknown": "is not known here"}  # noqa: RUF012

    #: Two names of one key, the documented one first. A request must have at least one of these names.
    alternatives: ClassVar[tuple[str, ...]] = ()

    def additional_keys(self, world: World) -> Collection[str]:
        """Return the keys that a request to ``world`` can have in addition to the keys of the fields."""
        return ()

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the required keys of a request, in the order in which they are checked."""
        return tuple(key for key, field in wire_fields(self).items() if field.required)

    def naming_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that name the subject of a request if its path does not."""
        return ()

    def optional_keys(self, assumed: Assumptions) -> Collection[str]:
        """Return the optional keys of a response."""
        return ()

    def absent_keys(self, assumed: Assumptions) -> Collection[str]:
        """Return the keys that no response has under the assumptions."""
        return ()

    def response_schema(self, assumed: Assumptions) -> Schema:
        """Return the schema of the responses under the assumptions."""
        return self

    @pre_load
    def without_nulls(self, value: Any, **_: object) -> object:
        """Drop the keys whose value is null."""
        if isinstance(value, Mapping):
            return {key: item for key, item in value.items() if item is not None}
        return value


def is_shape(schema: object) -> TypeGuard[Shape]:
    """Whether ``schema`` is a ``Shape``.

    For each other class of schemas, ``isinstance`` would make a note in every subclass of ``Shape``: 40,000.
    """
    return Shape in type(schema).__mro__


class Integer(fields.Integer):
    """A JSON integer of any size. Strings, fractions and booleans are invalid."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValidationError("must be an integer")
        return value


class Years(Integer):
    """A term in years."""

    shape: ClassVar[Shaped] = {"minimum": 1, "maximum": LONGEST_TERM}


class Digits(Integer):
    """An integer in a path or a query string."""

    route: ClassVar[str] = "digits"

    def _deserialize(self, value: object, attr: Any, data: object, **kwargs: Any) -> int:
        if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
            return whole(value)
        raise ValidationError("must be an integer")


class Boolean(fields.Boolean):
    """The value true or false of JSON."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> bool:
        if isinstance(value, bool):
            return value
        raise ValidationError("must be true or false")


class String(FunctionField, fields.String):
    """A JSON string. Values of other JSON types are invalid."""

    writes = staticmethod(str)

    default_error_messages = {  # noqa: RUF012
        "invalid": "must be a string",
        "invalid_utf8": "must be a string",
        "required": "is missing",
        "null": "must be a string",
    }


class ContactString(String):
    """A field of contact details.

    ``any_phone`` is whether the assumptions may allow any common form of phone numbers.
    """

    def __init__(self, *, any_phone: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._any_phone = any_phone

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the pattern and the maximum length that the registry requires."""
        loose = self._any_phone and assumed.phone_form == "any"
        pattern = customers.pattern_of(self.attribute or str(self.name), any_phone=loose)
        return {"maxLength": text_checks.LONGEST, **({"pattern": pattern} if pattern else {})}


class StringOrNumber(String):
    """A string, or a number that is converted to a string."""

    default_error_messages = {"invalid": "must be a string or a number"}  # noqa: RUF012
    shape: ClassVar[Shaped] = {"type": ["string", "number"]}

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> str:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            integer = int(value)
            value = str(integer) if integer == value and abs(integer) < 10**40 else str(value)
        return str(super()._deserialize(value, attr, data, **kwargs))


class StringOrInteger(String):
    """A string, or an integer that is converted to a string."""

    default_error_messages = {"invalid": "must be a string or an integer"}  # noqa: RUF012
    shape: ClassVar[Shaped] = {"type": ["string", "integer"], "minimum": 0, "maxLength": text_checks.LONGEST}

    def _deserialize(self, value: object, attr: Any, data: Any, **kwargs: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            value = str(value)
        return str(super()._deserialize(value, attr, data, **kwargs))


class Price(fields.Field[Decimal]):
    """Money in a request: a JSON number or a decimal string of any size."""

    shape: ClassVar[Shaped] = {"type": ["number", "string"], "minimum": 0, **money.PRICE}

    def _deserialize(self, value: object, attr: Any, data: object, **kwargs: Any) -> Decimal:
        try:
            return money.read_price(value, most=None)
        except ValueError as problem:
            raise ValidationError(problem.args[0]) from None


class Amount(FunctionField):
    """Money in a response: a decimal string with two fraction digits or more."""

    shape: ClassVar[Shaped] = {"type": "string", "pattern": rf"^-?\d+\.\d{{{money.USUAL},{money.FINEST}}}$"}

    writes = staticmethod(money.write)


class LongAmount(Amount):
    """Money in a response, with all stored fraction digits."""

    shape: ClassVar[Shaped] = {"type": "string", "pattern": rf"^\d+\.\d{{{money.FINEST}}}$"}

    writes = staticmethod(money.write_in_full)


class MoneyNumber(FunctionField):
    """Money in a response: a JSON number."""

    shape: ClassVar[Shaped] = {"type": "number"}

    writes = staticmethod(float)


class Instant(FunctionField):
    """An instant in a response: ``YYYY-MM-DDTHH:MM:SSZ``."""

    shape: ClassVar[Shaped] = {"type": "string", "format": "date-time"}

    writes = staticmethod(wire)


class SpacedInstant(Instant):
    """An instant in a response: ``YYYY-MM-DD HH:MM:SS``."""

    written: ClassVar[str] = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    shape: ClassVar[Any] = {"type": "string", "pattern": f"^{written}$"}

    writes = staticmethod(wire_spaced)


class Array(fields.List[Any]):
    """A JSON array."""

    default_error_messages = {"invalid": "must be an array", "required": "is missing"}  # noqa: RUF012


def empty_map(value: Any) -> object:
    """Return an empty object for ``[]``, which is how PHP writes an empty map. Return other values as is."""
    return {} if value == [] else value


class InnerObject(fields.Nested):
    """A JSON object inside another JSON object."""

    default_error_messages = {"type": "must be an object", "required": "is missing"}  # noqa: RUF012

    def _deserialize(self, value: object, *arguments: Any, **kwargs: Any) -> object:
        return super()._deserialize(empty_map(value), *arguments, **kwargs)


class CachedObject(FunctionField, InnerObject):  # type: ignore[misc]  # the first base writes, the second reads
    """A JSON object whose converted value is cached. Callers must not change the converted value.

    The value of the field is a tuple that begins with an immutable record. Its method ``values`` returns the
    values to show. Two tuples of the same record are equal if they show the same values.
    """

    def __init__(self, nested: type[Schema], **kwargs: Any) -> None:
        super().__init__(nested, **kwargs)
        self._objects: dict[int, tuple[object, dict[str, object]]] = {}
        self._dump = nested().dump
        self.writes = self._written

    def _written(self, value: Any) -> dict[str, object]:
        place = id(value[0])  # the id is unique, because the cache keeps the record alive
        cached = self._objects.get(place)
        if cached is not None and cached[0] == value:
            return cached[1]
        if len(self._objects) >= _REMEMBERED:
            self._objects.clear()
        written: dict[str, object] = self._dump(value.values())
        self._objects[place] = value, written
        return written


class StringMap(fields.Dict):
    """A JSON object whose values are strings without control characters."""

    default_error_messages = {"invalid": "must be an object"}  # noqa: RUF012

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            keys=String(validate=require_plain_text), values=String(validate=require_plain_text), **kwargs
        )

    def _deserialize(self, value: object, *arguments: Any, **kwargs: object) -> Any:
        try:
            return super()._deserialize(empty_map(value), *arguments, **kwargs)  # type: ignore[no-untyped-call]
        except ValidationError as error:
            # marshmallow separates the problems of a key from the problems of its value.
            if not isinstance(error.messages, dict):
                raise
            messages = {key: parts.get("value", parts.get("key")) for key, parts in error.messages.items()}
            raise ValidationError(messages) from None


def require_plain_text(text: str) -> None:
    """Raise ``ValidationError`` for a text that is too long or has a control character."""
    flaw = text_checks.flaw(text)
    if flaw is not None:
        raise ValidationError(flaw)


def problems(errors: Any, value: Any, secrecy: Secrecy, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield marshmallow's nested messages as pairs of path and problem.

    An example is ``domain.years``, ``must be …``. If the problem states the required form,
    the invalid part of ``value`` is appended, unless that part is a secret.
    """
    if isinstance(errors, Mapping):
        for key in sorted(errors, key=str):
            if key == "_schema":
                yield from problems(errors[key], value, secrecy, path)
            else:
                step = f"[{key}]" if isinstance(key, int) else f".{str(key)[:80]}"
                yield from problems(errors[key], _part(value, key), secrecy, path + step)
        return
    is_shown = value is not None and not secrecy.is_secret(path.rpartition(".")[2])
    for message in errors if isinstance(errors, list) else [errors]:
        text = str(message).rstrip(".")
        if is_shown and states_expected_value(message):
            text += f", not {shortened(value)}"
        yield path.removeprefix(".") or "the body", text[:1].lower() + text[1:]


def load(schema: Schema | None, values: Any, secrecy: Secrecy) -> dict[str, object]:
    """Validate ``values`` with ``schema``, and return the result. Without a schema, it is empty.

    Raise ``invalid_parameter`` with all problems, without the values of secrets.
    """
    if schema is None:
        return {}
    try:
        return dict(schema.load(values))
    except ValidationError as error:
        found = problems(error.messages, values, secrecy)
        sentence = complaint([f"{path} {problem}" for path, problem in found])
        raise Refused(INVALID_PARAMETER, problems=sentence[:_LONGEST_PROBLEMS]) from None


def _part(value: Any, key: Any) -> object:
    """Return the element of an object or an array at ``key``, or None."""
    try:
        return value[key]
    except (TypeError, LookupError):
        return None


class ParameterField(fields.Raw):
    """A key with the JSON Schema and the description of a parameter. It accepts any value."""

    def __init__(self, parameter: Parameter) -> None:
        metadata = {"description": parameter.words} if parameter.words else {}
        super().__init__(data_key=parameter.name, required=parameter.required, metadata=metadata)
        self.shape = dict(parameter.kind.shape)


class Choice(String):
    """One of several fixed strings."""

    def __init__(self, words: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.shape = {"type": "string", "enum": list(words)}


@cache
def schema_of(record: Any) -> type[Schema]:
    """Return the schema of a record class, which is a frozen dataclass or struct.

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


def dumped(record: object) -> dict[str, object]:
    """Convert a record to JSON values."""
    kind: object = type(record)
    return dict(_schema_instance(kind).dump(record))


@cache
def _schema_instance(record: object) -> Schema:
    return schema_of(record)()


_PLAIN: Mapping[object, type[fields.Field[Any]]] = {
    # The class of the standard library, because a test that freezes time may have replaced ``datetime``.
    next(base for base in datetime.__mro__ if base.__module__ == "datetime"): Instant,
    str: String,
    bool: Boolean,
    int: fields.Integer,
    float: fields.Float,
    Decimal: Amount,
    dict: fields.Dict,
    Mapping: fields.Dict,
}


def _field(hint: object, **options: Any) -> fields.Field[Any]:
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
        raise TypeError(f"{kind} cannot be converted to JSON")
    return InnerObject(schema_of(kind), **options)
