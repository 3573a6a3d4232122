"""Marshmallow fields that read a scalar by its own text, and say what is wrong with it in place.

A field raises its mistakes as :class:`~sandbox.seeds.problems.Problem` objects, which know where they
are. Marshmallow wraps them in the names of the fields around; :func:`mistakes` takes them out again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import yaml
from dateutil.relativedelta import relativedelta
from marshmallow import RAISE, Schema, ValidationError, fields, post_load

from sandbox.core import names
from sandbox.core.clock import parse_duration
from sandbox.seeds.problems import Place, Problem, nearest_or_all, problem, shown
from sandbox.seeds.reader import Node, Rows, Scalar, Tree, what

#: The years that a date in a fixture may lie in.
EARLIEST_YEAR, LATEST_YEAR = 1900, 2999

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_MONEY = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?"
)
_KINDS = {"bool": "", "int": "the number ", "float": "the number ", "timestamp": "a date", "null": "nothing"}


def fault(node: Node, message: str) -> ValidationError:
    """The error to raise for ``message`` about ``node``."""
    return ValidationError([problem(node.place, message)])


def mistakes(messages: Any) -> Iterator[Problem]:
    """The problems in whatever marshmallow has wrapped them in."""
    if isinstance(messages, dict):
        for inner in messages.values():
            yield from mistakes(inner)
    elif isinstance(messages, list):
        for inner in messages:
            yield from mistakes(inner)
    elif isinstance(messages, Problem):
        yield messages


class Strict(Schema):
    """A mapping with fixed keys. Others are refused, with the nearest that there is."""

    class Meta:
        unknown = RAISE

    def handle_error(self, error: ValidationError, data: Any, **_: Any) -> None:
        """Raise everything wrong below and at this mapping as a flat list of problems."""
        if not isinstance(data, Tree):
            raise fault(data, f"a mapping is wanted here, not {what(data)}")
        assert isinstance(error.messages, dict)
        known = [field.data_key or name for name, field in self.load_fields.items()]
        found = list(mistakes(error.messages))
        for key in error.messages:
            if isinstance(key, Scalar) and key not in known:
                found.append(problem(key.place, f"unknown key {shown(key)}{nearest_or_all(key, known)}"))
            elif key not in data:
                found.append(problem(data.place, f"{shown(key)} is missing here"))
        raise ValidationError(found, valid_data=self.salvage(error.valid_data))

    def salvage(self, _valid: Any) -> Any:
        """What is left of a mapping with mistakes in it: nothing, so that no half record is built."""
        return None


class Recorded(Strict):
    """A mapping that becomes a record: the keys are the record's fields, with the record's defaults."""

    record: Callable[..., Any]

    @post_load
    def make(self, data: dict[str, Any], **_: Any) -> Any:
        """The record."""
        return type(self).record(**data)


class Table(fields.Dict):
    """A mapping from names to values. An empty value stands for an empty mapping; so does no mapping."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if _is_null(value):
            return {}
        if not isinstance(value, Tree):
            raise fault(value, f"a mapping is wanted here, not {what(value)}")
        if isinstance(self.value_field, fields.Nested):
            value = _with_empty_trees(value)
        found: dict[Any, Any] = super()._deserialize(value, attr, data, **kwargs)  # type: ignore[no-untyped-call]
        if len(found) < len(value):
            raise fault(value, "two keys of this mapping are one name in two spellings")
        return found


class Listing(fields.List[Any]):
    """A list; an empty value stands for an empty one."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if _is_null(value):
            return []
        if not isinstance(value, Rows):
            raise fault(value, f"a list is wanted here, not {what(value)}")
        return super()._deserialize(value, attr, data, **kwargs)


def _is_null(value: Any) -> bool:
    return isinstance(value, Scalar) and value.kind == "null"


def _with_empty_trees(tree: Tree) -> Tree:
    filled = Tree(tree.place)
    for key, value in tree.items():
        filled[key] = Tree(key.place) if _is_null(value) else value
    return filled


class Names(Table):
    """A mapping from names to values, or a plain list of names."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, Rows):
            value = _keyed(value)
        return super()._deserialize(value, attr, data, **kwargs)


def _keyed(rows: Rows) -> Tree:
    tree = Tree(rows.place)
    found = []
    for row in rows:
        if not isinstance(row, Scalar):
            found.append(problem(row.place, f"a name is wanted here, not {what(row)}"))
        elif row in tree:
            found.append(problem(row.place, f"{shown(row)} is there twice"))
        else:
            tree[row] = Tree(row.place)
    if found:
        raise ValidationError(found)
    return tree


class _Single(fields.Field[Any]):
    """A field of one scalar."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        if not isinstance(value, Scalar):
            raise fault(value, f"{self.wanted} is wanted here, not {what(value)}")
        return self.parse(value)

    wanted = "a single value"

    def parse(self, value: Scalar) -> Any:
        """What ``value`` stands for; raises ValidationError."""
        raise NotImplementedError


class Text(_Single):
    """Text. What YAML reads as something else must be put in quotes, lest another reader change it."""

    wanted = "a text"

    def parse(self, value: Scalar) -> str:
        """The text itself."""
        if value.kind == "null":
            raise fault(value, "a text is wanted here, not nothing; write '' for an empty one")
        if value.kind != "str":
            reading = f"YAML reads a bare {value[:60]} as {_reading(value)}"
            raise fault(value, f"{reading}; write '{value[:60]}' in quotes")
        return str(value)


def _reading(value: Scalar) -> str:
    try:
        made = str(yaml.safe_load(value)).lower() if value.kind in ("bool", "int", "float") else ""
    except ValueError:
        made = ""
    return f"{_KINDS.get(value.kind, 'something else')}{made[:60]}".strip()


class Word(Text):
    """One of a few words."""

    def __init__(self, words: Iterable[str], make: Callable[[str], Any] = str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.words = [str(word) for word in words]
        self.make = make

    def parse(self, value: Scalar) -> Any:
        """The word, as what it stands for."""
        word = super().parse(value)
        if word not in self.words:
            raise fault(value, f"unknown word {shown(word)}{nearest_or_all(word, self.words)}")
        return self.make(word)


class Switch(_Single):
    """true or false, and none of YAML's other words for them."""

    wanted = "true or false"

    def parse(self, value: Scalar) -> bool:
        """The truth value."""
        if value.kind != "bool" or value not in ("true", "false"):
            raise fault(value, f"true or false is wanted here, not {what(value)}")
        return value == "true"


class Whole(_Single):
    """A whole number in decimal digits."""

    wanted = "a whole number"

    def __init__(self, least: int = 0, most: int = 10**15, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.least = least
        self.most = most

    def parse(self, value: Scalar) -> int:
        """The number."""
        if value.kind == "int" and not _WHOLE.fullmatch(value):
            raise fault(
                value, f"YAML reads {value[:60]} as {_reading(value)}; write a number in decimal digits"
            )
        if value.kind != "int":
            quotes = ", without quotes" if value.kind == "str" and _WHOLE.fullmatch(value) else ""
            raise fault(value, f"a whole number is wanted here{quotes}, not {what(value)}")
        number = int(value)
        if not self.least <= number <= self.most:
            side = f"at least {self.least}" if number < self.least else f"at most {self.most}"
            raise fault(value, f"{side} is wanted here, not {number}")
        return number


class Money(_Single):
    """An amount, read digit by digit from the text."""

    wanted = "an amount such as 8.99"

    def __init__(self, signed: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.signed = signed

    def parse(self, value: Scalar) -> Decimal:
        """The amount."""
        if not _MONEY.fullmatch(value):
            raise fault(value, f"{self.wanted} is wanted here, not {what(value)}")
        if value.startswith("-") and not self.signed:
            raise fault(value, f"an amount cannot be negative here: {shown(value)}")
        return Decimal(str(value))


def number_in(value: Scalar) -> int | Decimal | str:
    """The number that ``value`` is in decimal digits, exactly; its text where it is none."""
    if _WHOLE.fullmatch(value):
        return int(value)
    return Decimal(str(value)) if _MONEY.fullmatch(value) else str(value)


@dataclass(frozen=True, slots=True)
class When:
    """A date as a fixture gives it: an instant, or so long before or after the fixture's ``now``."""

    instant: datetime | None = None
    length: relativedelta | None = None
    place: Place = Place("")

    def at(self, now: datetime) -> datetime:
        """The instant meant when it is ``now``; raises ValueError outside the years of a fixture."""
        if self.instant is not None:
            return self.instant
        assert self.length is not None
        try:
            moved = now + self.length
        except (OverflowError, ValueError):
            moved = None
        if moved is None or not EARLIEST_YEAR <= moved.year <= LATEST_YEAR:
            raise ValueError(
                f"a date lies in the years {EARLIEST_YEAR} to {LATEST_YEAR}; this is too far away"
            )
        return moved


class Date(_Single):
    """A date, a date with a time, ``now``, or a length of time with its sign: ``-400d``, ``+P1Y``."""

    wanted = "a date such as 2026-01-31 or -30d"

    def __init__(self, absolute: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.absolute = absolute
        if absolute:
            self.wanted = "a date such as 2026-01-31T10:00:00Z"

    def parse(self, value: Scalar) -> When:
        """The date, relative ones still open."""
        text = str(value).strip()
        if _DATE.fullmatch(text):
            return When(instant=self._instant(value, text), place=value.place)
        length = None if self.absolute else _length(text)
        if length is None:
            raise fault(value, f"{self.wanted} is wanted here, not {what(value)}")
        return When(length=length, place=value.place)

    def _instant(self, value: Scalar, text: str) -> datetime:
        try:
            found = datetime.fromisoformat(text.upper())
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            raise fault(value, f"there is no such date: {shown(value)}") from None
        if not EARLIEST_YEAR <= found.year <= LATEST_YEAR:
            raise fault(value, f"a date lies in the years {EARLIEST_YEAR} to {LATEST_YEAR}, not at {value}")
        return found.replace(microsecond=0)


def _length(text: str) -> relativedelta | None:
    if text == "now":
        return relativedelta()
    if text[:1] not in ("-", "+") or text[1:].isdigit():
        return None
    try:
        length = parse_duration(text[1:])
        return -length if text[0] == "-" else length
    except (ValueError, OverflowError):
        return None


class Pattern(Text):
    """A regular expression."""

    wanted = "a pattern"

    def parse(self, value: Scalar) -> str:
        """The pattern, which compiles."""
        pattern = super().parse(value)
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError, Warning) as error:
            raise fault(value, f"{shown(pattern)} is not a regular expression: {error}") from None
        return pattern


class Label(Text):
    """The part of a name before its zone, in the registry's spelling."""

    def parse(self, value: Scalar) -> str:
        """The label in lower case and ASCII."""
        return label(super().parse(value), value.place)


def label(text: str, place: Place) -> str:
    """``text`` as the registry keeps labels; raises ValidationError unless it is a single one."""
    try:
        if "." in text:
            raise names.BadName("it has a dot, and is to be one label")
        return names.normalise(f"{text}.example").removesuffix(".example")
    except names.BadName as reason:
        raise ValidationError([problem(place, f"{shown(text)} is not a label: {reason}")]) from None
