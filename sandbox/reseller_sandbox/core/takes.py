"""What the parts of a rule or a match take: values known by sight, described, and refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from reseller_sandbox.core.clock import EARLIEST, parse_duration, parse_instant, wire
from reseller_sandbox.core.globs import Glob

DAY = 86_400

#: The longest text that a part takes, and the most items of a list.
LONGEST = 1 << 20
MOST = 1000


class Takes(Protocol):
    """The values that a part takes."""

    @property
    def says(self) -> str:
        """Those values in words."""

    @property
    def schema(self) -> dict[str, object]:
        """Those values as JSON Schema."""

    def read(self, given: Any) -> Any:
        """The value that ``given`` stands for; raises ValueError, whose message begins with a verb."""

    def write(self, value: Any) -> Any:
        """The value as JSON."""


class _AsItIs:
    """A value that JSON shows as it is."""

    __slots__ = ()

    def write(self, value: Any) -> Any:
        """The value."""
        return value


@dataclass(frozen=True, slots=True)
class Number(_AsItIs):
    """A number between two bounds."""

    low: float
    high: float
    whole: bool = False

    @property
    def says(self) -> str:
        """The bounds in words."""
        return f"a {'whole ' if self.whole else ''}number from {_plain(self.low)} to {_plain(self.high)}"

    @property
    def schema(self) -> dict[str, object]:
        """The bounds."""
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high}

    def read(self, given: Any) -> float:
        """An int, or a float."""
        if isinstance(given, bool) or not isinstance(
            given, int | (Decimal | float if not self.whole else int)
        ):
            raise ValueError(f"must be a {'whole ' if self.whole else ''}number")
        if not self.low <= given <= self.high:
            raise ValueError(f"must lie between {_plain(self.low)} and {_plain(self.high)}")
        return given if isinstance(given, int) else float(given)


@dataclass(frozen=True, slots=True)
class Length(_AsItIs):
    """A length of time, in seconds or as a duration, up to a day."""

    least: float = 0

    @property
    def says(self) -> str:
        """Return both forms in words."""
        least = f", from {_plain(self.least)} seconds" if self.least else ""
        return f"seconds, or a length of time such as 90s, 5m or PT1H{least} up to a day"

    @property
    def schema(self) -> dict[str, object]:
        """Seconds or a duration."""
        return {"oneOf": [{"type": "number", "minimum": self.least, "maximum": DAY}, {"type": "string"}]}

    def read(self, given: Any) -> float:
        """The length in seconds."""
        if isinstance(given, str):
            try:
                seconds = ((EARLIEST + parse_duration(given)) - EARLIEST).total_seconds()
            except (ValueError, OverflowError):
                raise ValueError("must be a length of time such as 90s, 5m or PT1H") from None
            given = seconds
        return Number(self.least, DAY).read(given)


@dataclass(frozen=True, slots=True)
class Switch(_AsItIs):
    """True or false."""

    says: str = "true or false"

    @property
    def schema(self) -> dict[str, object]:
        """A boolean."""
        return {"type": "boolean"}

    def read(self, given: Any) -> bool:
        """True or false and nothing that resembles them."""
        if not isinstance(given, bool):
            raise ValueError("must be true or false")
        return given


@dataclass(frozen=True, slots=True)
class Choice(_AsItIs):
    """One of some words."""

    words: tuple[str, ...]

    @property
    def says(self) -> str:
        """The words."""
        return " or ".join(self.words)

    @property
    def schema(self) -> dict[str, object]:
        """The words."""
        return {"type": "string", "enum": list(self.words)}

    def read(self, given: Any) -> str:
        """The word."""
        if not isinstance(given, str) or given not in self.words:
            raise ValueError(f"must be {self.says}")
        return given


@dataclass(frozen=True, slots=True)
class Text(_AsItIs):
    """Text that is not empty."""

    says: str = "text"

    @property
    def schema(self) -> dict[str, object]:
        """A string."""
        return {"type": "string"}

    def read(self, given: Any) -> str:
        """The text."""
        if not isinstance(given, str):
            raise ValueError("must be text")
        if not 0 < len(given) <= LONGEST:
            raise ValueError("is empty" if not given else "is too long")
        if any("\ud800" <= letter <= "\udfff" for letter in given):
            raise ValueError("holds half a character")
        return given


@dataclass(frozen=True, slots=True)
class Like:
    """A glob."""

    says: str

    @property
    def schema(self) -> dict[str, object]:
        """Return a string."""
        return {"type": "string"}

    def read(self, given: Any) -> Glob:
        """Read the glob."""
        if not isinstance(given, str):
            raise ValueError("must be text")
        return Glob(given)

    def write(self, value: Any) -> str:
        """Return its text."""
        return str(value.text)


@dataclass(frozen=True, slots=True)
class Several:
    """One of what ``each`` takes, or a list of up to ``most``: any of them will do."""

    each: Takes
    most: int = MOST

    @property
    def says(self) -> str:
        """One or a list."""
        return f"{self.each.says}, or a list of such"

    @property
    def schema(self) -> dict[str, object]:
        """One or a list."""
        return {"oneOf": [self.each.schema, {"type": "array", "items": self.each.schema}]}

    def read(self, given: Any) -> tuple[Any, ...]:
        """All of them."""
        items = given if isinstance(given, list | tuple) else [given]
        if not 0 < len(items) <= self.most:
            raise ValueError("is an empty list" if not items else f"has more than {self.most} items")
        return tuple(self.each.read(item) for item in items)

    def write(self, value: Any) -> Any:
        """The one, or the list."""
        shown = [self.each.write(item) for item in value]
        return shown[0] if len(shown) == 1 else shown


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of the world's clock."""

    says: str = "an instant of the world's clock as ISO 8601, or a length of time ahead such as P1D"

    @property
    def schema(self) -> dict[str, object]:
        """An ISO 8601 instant."""
        return {"type": "string", "format": "date-time"}

    def read(self, given: Any) -> datetime:
        """The instant; a datetime without a zone is in UTC, as text without one is."""
        text = given.isoformat() if isinstance(given, datetime) else given
        try:
            if isinstance(text, str):
                return parse_instant(text)
        except ValueError:
            pass
        raise ValueError("must be an instant such as 2030-01-31T12:00:00Z, or a length of time such as P1D")

    def write(self, value: Any) -> str:
        """The instant in UTC."""
        return wire(value)


@dataclass(frozen=True, slots=True)
class Json(_AsItIs):
    """Any JSON value."""

    says: str = "any JSON value"

    @property
    def schema(self) -> dict[str, object]:
        """Anything."""
        return {}

    def read(self, given: Any) -> Any:
        """The value."""
        return given


@dataclass(frozen=True, slots=True)
class Mapped(_AsItIs):
    """An object with keys of the caller's own."""

    says: str

    @property
    def schema(self) -> dict[str, object]:
        """An object."""
        return {"type": "object"}

    def read(self, given: Any) -> dict[str, Any]:
        """A copy of the object."""
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise ValueError("must be an object")
        if not 0 < len(given) <= MOST:
            raise ValueError("is empty" if not given else f"has more than {MOST} keys")
        return dict(given)


def _plain(bound: float) -> str:
    return f"{bound:.0f}" if bound == int(bound) else f"{bound:g}"
