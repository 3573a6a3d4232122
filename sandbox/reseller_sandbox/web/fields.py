"""marshmallow fields that take what the contract says and nothing near it, and schemas that use them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load

from reseller_sandbox.registry import customers, money, text_checks
from reseller_sandbox.registry.clock import wire, wire_spaced
from reseller_sandbox.registry.model import LONGEST_TERM
from reseller_sandbox.registry.text_checks import says_what_must_be, shortened, whole
from reseller_sandbox.server.secrecy import is_secret
from reseller_sandbox.web.strict_json import Ready

if TYPE_CHECKING:
    from reseller_sandbox.registry.assumptions import Assumptions
    from reseller_sandbox.worlds import World

#: A field's JSON Schema, as its ``shape``: what the OpenAPI documents show for it. Where that depends on the
#: assumptions, a method ``shape_under`` takes them.
Shaped = dict[str, object]

#: How many records a field remembers, as a rule.
_REMEMBERED = 4096

#: Writes a value as JSON.
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


class QuickSchema(Schema):
    """A JSON object that is written in a tenth of marshmallow's time. Unknown keys are ignored."""

    class Meta:
        unknown = EXCLUDE

    #: The attribute of a record that holds further keys and values.
    rest: ClassVar[str] = ""

    @cached_property
    def _write(self) -> Write:
        return writer(self)

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        """Return ``obj`` as JSON values; an attribute that it lacks is left out."""
        if self.many if many is None else many:
            return [self._write(one) for one in obj]
        return self._write(obj)


class Shape(QuickSchema):
    """A JSON object. Unknown keys are passed over and a null is the same as nothing sent."""

    error_messages = {"type": "must be an object", "unknown": "is not known here"}  # noqa: RUF012

    #: Two names of one thing; a request has it under one of them at least.
    spelt: ClassVar[tuple[str, ...]] = ()

    def more(self, world: World) -> Collection[str]:
        """Return the keys that are read in ``world`` beside those of the fields."""
        return ()

    def needs(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that a request must have, in the order in which they are missed."""
        return tuple(field.data_key or name for name, field in self.fields.items() if field.required)

    def lacks(self, assumed: Assumptions) -> Collection[str]:
        """Return the keys that an answer may be without."""
        return ()

    def shown(self, assumed: Assumptions) -> Schema:
        """Return the schema of the answers there are, where the assumptions choose among several."""
        return self

    @pre_load
    def without_nulls(self, given: Any, **_: Any) -> Any:
        """Drop the keys whose value is null."""
        if isinstance(given, Mapping):
            return {key: value for key, value in given.items() if value is not None}
        return given


class Whole(fields.Integer):
    """A whole number of any size, written as one: not ``"7"``, not ``7.0``, not ``true``."""

    default_error_messages = {"invalid": "must be a whole number"}  # noqa: RUF012

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValidationError("must be a whole number")
        return value


class Years(Whole):
    """A term in years."""

    shape: ClassVar[Shaped] = {"minimum": 1, "maximum": LONGEST_TERM}


class Digits(Whole):
    """A whole number in a path or a query string."""

    route: ClassVar[str] = "digits"

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> int:
        if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
            return whole(value)
        raise ValidationError("must be a whole number")


class Truth(fields.Boolean):
    """``true`` or ``false`` and nothing that resembles them."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:
        if isinstance(value, bool):
            return value
        raise ValidationError("must be true or false")


class Text(fields.String):
    """A string."""

    default_error_messages = {  # noqa: RUF012
        "invalid": "must be a string",
        "invalid_utf8": "must be a string",
        "required": "is missing",
        "null": "must be a string",
    }


class CardText(Text):
    """A field of a card; ``any_phone`` is whether the assumptions may take numbers in any usual form."""

    def __init__(self, *, any_phone: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._any_phone = any_phone

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return what the registry asks of it."""
        loose = self._any_phone and assumed.phone_form == "any"
        pattern = customers.pattern_of(self.attribute or str(self.name), any_phone=loose)
        return {"maxLength": text_checks.LONGEST, **({"pattern": pattern} if pattern else {})}


class TextOrNumber(Text):
    """A string, or a number that stands for its digits."""

    default_error_messages = {"invalid": "must be a string or a number"}  # noqa: RUF012
    shape: ClassVar[Shaped] = {"type": ["string", "number"]}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            whole = int(value)
            value = str(whole) if whole == value and abs(whole) < 10**40 else str(value)
        return str(super()._deserialize(value, attr, data, **kwargs))


class TextOrWhole(Text):
    """A string, or a whole number that stands for its digits."""

    default_error_messages = {"invalid": "must be a string or a whole number"}  # noqa: RUF012
    shape: ClassVar[Shaped] = {"type": ["string", "integer"], "minimum": 0, "maxLength": text_checks.LONGEST}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            value = str(value)
        return str(super()._deserialize(value, attr, data, **kwargs))


class Price(fields.Field[Decimal]):
    """Money on the way in: a JSON number or a decimal string, of any size: it is there to be compared."""

    shape: ClassVar[Shaped] = {"type": ["number", "string"], "minimum": 0, **money.PRICE}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Decimal:
        try:
            return money.read_price(value, most=None)
        except ValueError as problem:
            raise ValidationError(problem.args[0]) from None


class Amount(PlainlyWritten):
    """Money on the way out: a decimal string with two fraction digits, or more where they count."""

    shape: ClassVar[Shaped] = {"type": "string", "pattern": rf"^-?\d+\.\d{{{money.USUAL},{money.FINEST}}}$"}

    writes = staticmethod(money.write)


class LongAmount(Amount):
    """Money on the way out, with all the fraction digits that are kept."""

    shape: ClassVar[Shaped] = {"type": "string", "pattern": rf"^\d+\.\d{{{money.FINEST}}}$"}

    writes = staticmethod(money.write_in_full)


class MoneyNumber(fields.Field[Decimal]):
    """Money on the way out: a JSON number."""

    shape: ClassVar[Shaped] = {"type": "number"}


class Instant(PlainlyWritten):
    """An instant on the way out: ``YYYY-MM-DDTHH:MM:SSZ``."""

    shape: ClassVar[Shaped] = {"type": "string", "format": "date-time"}

    writes = staticmethod(wire)


class SpacedInstant(Instant):
    """An instant on the way out: ``YYYY-MM-DD HH:MM:SS``."""

    written: ClassVar[str] = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    shape: ClassVar[Any] = {"type": "string", "pattern": f"^{written}$"}

    writes = staticmethod(wire_spaced)


class Listed(fields.List[Any]):
    """A JSON array."""

    default_error_messages = {"invalid": "must be an array", "required": "is missing"}  # noqa: RUF012


class InnerObject(fields.Nested):
    """A JSON object inside another."""

    default_error_messages = {"type": "must be an object", "required": "is missing"}  # noqa: RUF012


class Showable(Protocol):
    """Something to be shown, which follows from an immutable record and perhaps more.

    Two of one record are equal where they show the same.
    """

    @property
    def record(self) -> object:
        """The record."""

    def shown(self) -> Mapping[str, Any]:
        """Return what is shown."""


class RememberedShown(PlainlyWritten, InnerObject):  # type: ignore[misc]  # writes alone, reads as the latter
    """A JSON object made of what is ``Showable``: worked out once, with its text, and kept.

    The text goes into that of the answer as it is.
    """

    def __init__(self, nested: type[Schema], most: int = _REMEMBERED, **kwargs: Any) -> None:
        super().__init__(nested, **kwargs)
        self._most = most
        self._made: dict[int, tuple[Showable, Ready]] = {}
        self._dump = nested().dump
        self.writes = self._written

    def _written(self, shown: Showable) -> Ready:
        place = id(shown.record)  # nobody else's, as the record is kept with what is made of it
        found = self._made.get(place)
        if found is not None and found[0] == shown:
            return found[1]
        if len(self._made) >= self._most:
            self._made.clear()
        made = Ready(self._dump(shown.shown()))
        self._made[place] = shown, made
        return made


class Texts(fields.Dict):
    """A JSON object whose values are all strings, which hold no control characters."""

    default_error_messages = {"invalid": "must be an object"}  # noqa: RUF012

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(keys=Text(validate=sound), values=Text(validate=sound), **kwargs)

    def _deserialize(self, *arguments: Any, **kwargs: Any) -> Any:
        try:
            return super()._deserialize(*arguments, **kwargs)  # type: ignore[no-untyped-call]
        except ValidationError as error:
            # marshmallow tells the mistakes in a key apart from those in its value.
            if not isinstance(error.messages, dict):
                raise
            told = {key: told.get("value", told.get("key")) for key, told in error.messages.items()}
            raise ValidationError(told) from None


def sound(text: str) -> None:
    """Raise ``ValidationError`` for a text that is too long, or holds a control character."""
    flaw = text_checks.flaw(text)
    if flaw is not None:
        raise ValidationError(flaw)


def problems(errors: Any, given: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield marshmallow's nested messages as pairs of path and problem: ``domain.years``, ``must be …``.

    What must be something else is told as it was ``given``, unless it is a secret.
    """
    if isinstance(errors, Mapping):
        for key in sorted(errors, key=str):
            inner = (
                path
                if key == "_schema"
                else f"{path}[{key}]"
                if isinstance(key, int)
                else f"{path}.{str(key)[:80]}"
            )
            yield from problems(errors[key], given if key == "_schema" else _part(given, key), inner)
    else:
        is_determined = given is not None and not is_secret(path.rpartition(".")[2])
        for message in errors if isinstance(errors, list) else [errors]:
            text = str(message).rstrip(".")
            text = f"{text}, not {shortened(given)}" if is_determined and says_what_must_be(message) else text
            yield path.removeprefix(".") or "the body", text[:1].lower() + text[1:]


def _part(whole: Any, key: Any) -> Any:
    """Return what stands in an object or an array at ``key``, None where nothing does."""
    try:
        return whole[key]
    except (TypeError, LookupError):
        return None
