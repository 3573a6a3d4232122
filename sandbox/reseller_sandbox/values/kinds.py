"""Kinds of parameter values. Every interface reads a kind by the same rules.

Annotate each parameter of a function with a kind from this module: the signature is the declaration. A kind
reads values from JSON, YAML and Python, and their text form in a query string or on a command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Generic, TypeVar

from dateutil.relativedelta import relativedelta
from msgspec import Struct

from reseller_sandbox.values import money, names
from reseller_sandbox.values.clock import (
    A_DURATION,
    EARLIEST,
    LATEST,
    duration_text,
    instant_given,
    later,
    parse_duration,
    parse_instant,
    parse_iso,
    wire,
)
from reseller_sandbox.values.text_checks import (
    Synonyms,
    has_control,
    is_printable,
    nearest,
    plain,
    require_whole_letters,
    shortened,
    states_expected_value,
)

_LONGEST = 255
_LONGEST_WAIT = 10**11
_FEW = 16
_UNBOUNDED = 10**15
_DEEPEST = 50
_MOST_DIGITS = 100

#: The largest number that a setting or a parameter can have.
MOST = 10**9

#: A kind stops after this number of mistakes in one value, because checking a long list takes time.
MOST_MISTAKES = 1000

#: The range of years for the dates of records.
EARLIEST_YEAR, LATEST_YEAR = 1900, 2999

#: A day in seconds.
DAY = 86_400


T = TypeVar("T")


def _unchanged(value: object) -> object:
    return value


class Kind(Struct, Generic[T], frozen=True, eq=False):
    """A kind of values: a JSON Schema, a function that reads a value, and a function that writes it.

    ``schema`` is the JSON Schema, or a function that returns it. ``read`` also accepts values that it has
    already read. Its ValueError has a message without the parameter's name (``must be a string``). ``write``
    returns the value as JSON. ``says`` describes the accepted values in words.
    """

    schema: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    read: Callable[[Any], T]
    write: Callable[[Any], Any] = _unchanged
    says: str = ""

    @property
    def shape(self) -> Mapping[str, Any]:
        """The JSON Schema of the values."""
        return self.schema() if callable(self.schema) else self.schema

    def __call__(self, value: object) -> T:
        return self.read(value)


class Bare(Struct, frozen=True):
    """An unquoted YAML value such as ``012``, which YAML does not read as a string."""

    text: str

    def __repr__(self) -> str:
        return self.text


class Mistake(str):
    """A mistake in a value: the path of the mistake, then a message (``must be a string``).

    ``about_key`` is true if the last key of the path is wrong, and false if the value at the path is wrong.
    """

    def __new__(cls, path: tuple[object, ...], message: str, about_key: bool = False) -> Mistake:
        """Return a mistake with ``message`` at ``path``."""
        mistake = super().__new__(cls, f"{'.'.join(map(str, path))} {message}")
        mistake.path, mistake.message, mistake.about_key = path, message, about_key
        return mistake

    path: tuple[object, ...]
    message: str
    about_key: bool

    def under(self, key: object) -> Mistake:
        """Return this mistake with ``key`` added at the start of its path."""
        return Mistake((key, *self.path), self.message, self.about_key)


class Within(ValueError):
    """The error for an object or a list with mistakes in its items.

    ``valid`` is the part of the value without mistakes, or None if no part can be used.
    """

    def __init__(self, problems: Sequence[Mistake], valid: object = None) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.valid = valid


def mistakes(name: object, value: object, problem: ValueError) -> list[Mistake]:
    """Return the mistakes that ``problem`` reports, each with ``name`` at the start of its path.

    ``Within`` reports several mistakes, and any other ValueError reports one.
    """
    if isinstance(problem, Within):
        return [mistake.under(name) for mistake in problem.problems]
    given_as = f", not {shortened(value)}" if states_expected_value(problem) else ""
    return [Mistake((name,), f"{problem}{given_as}")]


def _text(value: object) -> str:
    if isinstance(value, str) and 0 < len(value) <= _LONGEST and is_printable(value):
        return plain(value)
    raise ValueError(f"must be a string of 1 to {_LONGEST} printable characters")


def _line(value: object) -> str:
    if isinstance(value, str) and not has_control(value):
        require_whole_letters(value)
        return plain(value)
    if isinstance(value, str):
        raise ValueError(f"{shortened(value)} contains a control character")
    if not isinstance(value, Bare | int | Decimal):
        raise ValueError("must be a string")
    text = str(value).lower() if isinstance(value, bool) else value
    raise ValueError(f"must be a string, not {shortened(value)}; write '{text}' in quotes")


def _raw_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    require_whole_letters(value)
    return plain(value)


def _normalised(
    noun: str, read_text: Callable[[object], str], normalise: Callable[[str], str]
) -> Callable[[object], str]:
    """Return a function that reads a text and normalises it. ``noun`` names the text in the error."""

    def read(value: object) -> str:
        text = read_text(value)
        try:
            return normalise(text)
        except names.BadName as problem:
            raise ValueError(f"{shortened(text)} is not a {noun}: {problem}") from None

    return read


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("must be true or false")


def _when(value: object) -> str:
    """Read an instant or a duration. Return a string that the function ``instant`` reads."""
    if isinstance(value, datetime):
        value = value.isoformat()
    try:
        text = _text(_in_seconds(value))
        if _is_instant(text):
            return wire(parse_instant(text))
        parse_duration(text)
        return text.strip()
    except (ValueError, ArithmeticError):
        raise ValueError(f"must be an instant, or {A_DURATION}") from None


def _in_seconds(value: object) -> object:
    """Return a number of seconds as a string of digits. Other values stay unchanged.

    Raise ValueError or ArithmeticError for a number that is negative, fractional or too large.
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    if not 0 <= value < _LONGEST_WAIT or value != int(value):
        raise ValueError
    return str(int(value))


def _is_instant(text: str) -> bool:
    return "-" in text and not text.startswith("-")


def instant(when: str, now: datetime) -> datetime:
    """Return the instant that ``when`` means. A duration counts from ``now``.

    Raise ValueError if the instant is after the last supported year.
    """
    return parse_instant(when) if _is_instant(when) else later(now, parse_duration(when))


def _instant(value: Any) -> datetime:
    try:
        return instant_given(value if isinstance(value, str) else value.isoformat())
    except (AttributeError, ValueError):
        years = f"from {EARLIEST.year} to {LATEST.year}"
        raise ValueError(
            f"must be an instant {years}, such as 2026-01-31T12:00:00Z, or the word real"
        ) from None


def _read_date(value: object) -> str:
    text = str(json_value(value)).strip()
    try:
        _parsed_date(text)
    except ValueError:
        raise ValueError("must be a date such as 2026-01-31 or -30d") from None
    return text


@lru_cache(maxsize=4096)  # A date is read before ``now`` is known, and a fixture repeats its dates.
def _parsed_date(text: str) -> datetime | relativedelta:
    """Return the instant of an absolute date, or the duration of a relative date from now."""
    if text[:1] in ("-", "+") and not text[1:].isdigit():
        return parse_duration(text[1:]) * (-1 if text[0] == "-" else 1)
    return relativedelta() if text == "now" else parse_iso(text)


def date_at(text: str, now: datetime) -> datetime:
    """Convert a date, which may be relative (``-30d``), to an instant. ``now`` is the reference time.

    Raise ValueError outside the years of dates.
    """
    parsed = _parsed_date(text)
    try:
        instant = parsed if isinstance(parsed, datetime) else now + parsed
        instant = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (OverflowError, ValueError):
        instant = None
    if instant is None or not EARLIEST_YEAR <= instant.year <= LATEST_YEAR:
        raise ValueError(f"a date must be in the years {EARLIEST_YEAR} to {LATEST_YEAR}, not {text}")
    return instant.replace(microsecond=0)


def _duration(value: object) -> relativedelta:
    try:
        if isinstance(value, relativedelta):
            length = parse_duration(duration_text(value))
            if length != value.normalized():
                raise ValueError
            return value
        return parse_duration(_text(_in_seconds(value)))
    except (ValueError, ArithmeticError):
        raise ValueError(f"must be {A_DURATION}") from None


def mapping(value: object) -> dict[str, object]:
    """Return ``value`` as a dict. Raise ValueError unless all keys are strings."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise ValueError("must be an object")


def json_value(raw: object, depth: int = 0) -> Any:
    """Return ``raw`` as a JSON value. Floats become ``Decimal``, dates and durations strings.

    Raise ValueError if JSON cannot represent the value.
    """
    if depth > _DEEPEST:
        raise ValueError(f"has more than {_DEEPEST} levels")
    if isinstance(raw, Mapping):
        return {json_value(str(key)): json_value(value, depth + 1) for key, value in raw.items()}
    if isinstance(raw, list | tuple):
        return [json_value(item, depth + 1) for item in raw]
    if isinstance(raw, date):
        return raw.isoformat()
    if isinstance(raw, timedelta):
        return f"{raw.total_seconds():+.6f}".rstrip("0").rstrip(".") + "s"
    if isinstance(raw, relativedelta):
        return DURATION.write(DURATION.read(raw))
    if isinstance(raw, Bare):
        return raw.text
    if isinstance(raw, float):
        raw = Decimal(str(raw))
    if isinstance(raw, Decimal) and not raw.is_finite():
        raise ValueError("has a number that is not finite")
    if isinstance(raw, int | Decimal) and abs(raw) >= 10**_MOST_DIGITS:
        raise ValueError(f"has a number of more than {_MOST_DIGITS} digits")
    if isinstance(raw, str):
        require_whole_letters(raw)
    if raw is None or isinstance(raw, str | int | Decimal):
        return plain(raw)
    raise ValueError(f"must consist of JSON values, not of {type(raw).__name__}")


def choice(*words: str, synonyms: Synonyms = MappingProxyType({})) -> Kind[str]:
    """Return a kind that accepts one of ``words``. The error for a synonym suggests the right word.

    ``words`` can be members of a ``StrEnum``, and values are then read as members.
    """
    members = {str(word): word for word in words}

    def read(value: object) -> str:
        if isinstance(value, str) and value in members:
            return members[value]
        near = nearest(value, members, synonyms) if isinstance(value, str) else ""
        listed = ", ".join(members) if len(words) <= _FEW or not near else f"{len(words)} words"
        raise ValueError(f"must be one of {listed}, not {shortened(value)}{near}")

    return Kind({"type": "string", "enum": list(members)}, read, says=" or ".join(members))


def matching(pattern: str, says: str, *, is_secret: bool = False) -> Kind[str]:
    """Return a kind that accepts strings that match ``pattern``. ``says`` describes these strings.

    With ``is_secret``, the error message does not show the invalid value.
    """
    compiled = re.compile(pattern)

    def read(value: object) -> str:
        if isinstance(value, str) and compiled.fullmatch(value):
            return value
        raise ValueError(f"is invalid: use {says}" if is_secret else f"must be {says}")

    return Kind({"type": "string", "pattern": f"^{pattern}$"}, read, says=says)


def whole(low: int, high: int) -> Kind[int]:
    """Return a kind that accepts integers from ``low`` to ``high``."""
    says = f"an integer {f'from {low} to {high}' if high < _UNBOUNDED else f'of {low} or more'}"

    def read(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise ValueError(f"must be {says}")

    return Kind({"type": "integer", "minimum": low, "maximum": high}, read, says=says)


def number(low: float, high: float) -> Kind[float]:
    """Return a kind that accepts numbers from ``low`` to ``high``."""
    says = f"a number from {low:.15g} to {high:.15g}"

    def read(raw: object) -> float:
        number = float(raw) if isinstance(raw, Decimal) else raw
        if isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high:
            return number
        raise ValueError(f"must be {says}")

    return Kind({"type": "number", "minimum": low, "maximum": high}, read, says=says)


def span(least: float = 0) -> Kind[float]:
    """Return a kind that accepts durations of up to a day and reads them as seconds.

    It accepts a number of seconds, or a string that ``DURATION`` accepts.
    """
    within = number(least, DAY)
    from_ = f", from {least:.15g} seconds" if least else ""

    def read(value: object) -> float:
        value = value.total_seconds() if isinstance(value, timedelta) else value
        if isinstance(value, str) and value.strip("+s").replace(".", "", 1).isdecimal():
            value = float(value.strip("+s"))  # DURATION does not accept fractions
        if isinstance(value, str | relativedelta):
            with suppress(OverflowError):
                value = ((EARLIEST + DURATION.read(value)) - EARLIEST).total_seconds()
        return within.read(value)

    says = f"seconds, or a duration such as 90s, 5m or PT1H{from_} up to a day"
    return Kind({"oneOf": [dict(within.shape), {"type": "string"}]}, read, says=says)


def items_of(value: object) -> list[Any]:
    """Return the items of an array. A string or an object is an array with this single item."""
    items = [value] if isinstance(value, str | Mapping) else json_value(value)
    if isinstance(items, list):
        return items
    raise ValueError("must be an array")


def each(read_one: Callable[[object], T]) -> Kind[tuple[T, ...]]:
    """Return a kind that reads one value or a list of values with ``read_one``."""
    return Kind({"type": "array"}, lambda value: tuple(map(read_one, items_of(value))))


def listed(
    kind: Kind[T], least: int = 0, most: int = MOST, *, distinct: bool = False, alone: bool = False
) -> Kind[tuple[T, ...]]:
    """Return a kind that accepts arrays of ``least`` to ``most`` items, each of ``kind``.

    A string or an object counts as an array with this single item. With ``distinct``, no item occurs twice.
    With ``alone``, any single value of ``kind`` is accepted, and written without the array.
    """

    def read(raw: Any) -> tuple[T, ...]:
        is_list = isinstance(raw, Sequence | set | frozenset) and not isinstance(raw, str | bytes)
        if not is_list and (alone or isinstance(raw, str | Mapping)):
            return (kind.read(raw),)
        if not is_list:
            raise ValueError("must be an array")
        if not least <= len(raw) <= most:
            raise ValueError(f"must have {least} to {most} items, not {len(raw)}")
        values: list[T] = []
        seen: set[T] = set()
        wrong: list[Mistake] = []
        for at, item in enumerate(raw if isinstance(raw, Sequence) else sorted(raw, key=str)):
            if len(wrong) > MOST_MISTAKES:
                break
            try:
                value = kind.read(item)
            except ValueError as problem:
                wrong += mistakes(at, item, problem)
                continue
            values.append(value)
            if distinct and value in seen:
                wrong.append(Mistake((at,), f"is listed twice: {shortened(item)}"))
            elif distinct:
                seen.add(value)
        if wrong:
            raise Within(wrong)
        return tuple(values)

    def write(value: Sequence[T]) -> object:
        return kind.write(value[0]) if alone and len(value) == 1 else [kind.write(item) for item in value]

    array = {"type": "array", "items": dict(kind.shape)}
    if not alone:
        return Kind(array, read, write)
    return Kind({"oneOf": [dict(kind.shape), array]}, read, write, f"{kind.says}, or a list of these")


def table(
    keys: Kind[Any],
    values: Kind[Any],
    least: int = 0,
    most: int = MOST,
    *,
    rows: bool = False,
    says: str = "an object",
) -> Kind[dict[Any, Any]]:
    """Return a kind that accepts objects with ``least`` to ``most`` keys.

    ``keys`` is the kind of the keys, and ``values`` is the kind of the values. If ``values`` accepts objects
    or arrays, a null counts as an empty value. With ``rows``, an array of keys counts as an object of empty
    values.
    """

    def read(raw: object) -> dict[object, object]:
        if isinstance(raw, Mapping):
            entries = [(key, key, value) for key, value in raw.items()]
        elif rows and isinstance(raw, list | tuple):
            entries = [(at, key, None) for at, key in enumerate(raw)]
        else:
            raise ValueError(f"must be {says}{' or an array' if rows else ''}")
        if not least <= len(entries) <= most:
            raise ValueError(f"must have {least} to {most} keys, not {len(entries)}")
        json_type = values.shape.get("type")
        empty: object = {} if json_type == "object" else [] if json_type == "array" else None
        result: dict[object, Any] = {}
        wrong: list[Mistake] = []
        for step, key, value in entries:
            if len(wrong) > MOST_MISTAKES:
                break
            try:
                name = keys.read(key)
            except ValueError as problem:
                wrong += [
                    Mistake(mistake.path, mistake.message, True) for mistake in mistakes(step, key, problem)
                ]
                continue
            if name in result:
                wrong.append(Mistake((step,), f"is listed twice: {shortened(key)}", True))
            try:
                result[name] = values.read(empty if value is None else value)
            except ValueError as problem:
                wrong += mistakes(step, value, problem)
        if wrong:
            raise Within(wrong, result)
        return result

    def write(value: Mapping[object, object]) -> dict[object, Any]:
        return {keys.write(key): values.write(inner) for key, inner in value.items()}

    def shape() -> Mapping[str, object]:
        either_type = {"type": ["object", "array"], "items": keys.shape} if rows else {"type": "object"}
        return {**either_type, "additionalProperties": values.shape}

    return Kind(shape, read, write, says)


def either(otherwise: Kind[Any], *objects: Kind[Any]) -> Kind[Any]:
    """Return a kind that reads an object by one of the kinds ``objects``, and other values by ``otherwise``.

    An object is read by the first kind whose required keys are all present. If there is none, the last kind
    reads the object.
    """

    def for_object(value: Mapping[str, Any]) -> Kind[Any]:
        fitting = (kind for kind in objects if value.keys() >= set(kind.shape.get("required", ())))
        return next(fitting, objects[-1])

    def read(raw: object) -> Any:
        if isinstance(raw, Mapping):
            return for_object(raw).read(raw)
        try:
            return otherwise.read(raw)
        except ValueError as problem:
            expected, separator, given = str(problem).partition(", not ")
            alternative = ", or an object" if expected.startswith("must ") else ""
            raise ValueError(f"{expected}{alternative}{separator}{given}") from None

    def write(value: object) -> object:
        return (for_object(value) if isinstance(value, Mapping) else otherwise).write(value)

    return Kind(lambda: {"oneOf": [dict(kind.shape) for kind in (otherwise, *objects)]}, read, write)


_NUMBER_OR_TEXT: Mapping[str, object] = {"oneOf": [{"type": "string"}, {"type": "number"}]}

TEXT = Kind({"type": "string"}, _text)
#: A string without control characters. It can be empty.
LINE = Kind({"type": "string"}, _line)
#: Any string. It can be empty and have control characters.
RAW_TEXT = Kind({"type": "string"}, _raw_text)
LABEL = Kind({"type": "string"}, _normalised("label", _line, names.normalise_label))
NAME = Kind({"type": "string"}, _normalised("name", _text, names.normalise), names.to_unicode)
ZONE = Kind({"type": "string"}, _normalised("zone", _text, names.normalise_zone), names.to_unicode)
#: The id of a record, as an integer.
ID = whole(1, 10**15)
#: The name of a snapshot, a branch, a fault rule or a canned answer. Paths can contain it without escapes.
KEY = matching(
    "[A-Za-z0-9][A-Za-z0-9._-]{0,79}",
    "up to 80 letters, digits, dots, hyphens and underscores, a letter or digit first",
)
SWITCH = Kind({"type": "boolean"}, _switch, says="true or false")
SECONDS = number(0, MOST)
INSTANT = Kind({"type": "string", "format": "date-time"}, _instant, wire)
DURATION = Kind(_NUMBER_OR_TEXT, _duration, duration_text)
AMOUNT = Kind(_NUMBER_OR_TEXT, money.read_price, money.write)
CHANGE = Kind(_NUMBER_OR_TEXT, money.read, money.write)
#: The amount of a balance or of a ledger entry. It can be larger than a price.
BALANCE = Kind(_NUMBER_OR_TEXT, lambda amount: money.read(amount, money.MOST_KEPT), money.write)
WHEN = Kind(_NUMBER_OR_TEXT, _when)
#: A date, a date with a time, ``now``, or a duration with its sign: ``-400d``, ``+P1Y``.
DATE = Kind({"type": "string"}, _read_date)
#: An object of JSON values.
MAPPING = Kind({"type": "object"}, lambda value: json_value(mapping(value)), says="an object")
ANYTHING: Kind[Any] = Kind({}, json_value, says="any JSON value")

Text = Annotated[str, TEXT]
Key = Annotated[str, KEY]
Name = Annotated[str, NAME]
Zone = Annotated[str, ZONE]
Switch = Annotated[bool, SWITCH]
Amount = Annotated[Decimal | float | str, AMOUNT]
Change = Annotated[Decimal | float | str, CHANGE]
When = Annotated[str | int | datetime | timedelta, WHEN]
Date = Annotated[datetime | timedelta | str, DATE]
Term = Annotated[str, choice("registration", "renewal")]
Credentials = Annotated[str, choice("both", "key", "token")]
Instant = Annotated[datetime | str, INSTANT]
Length = Annotated[relativedelta | timedelta | str | int, DURATION]
Record = Annotated[Mapping[str, Any], MAPPING]
