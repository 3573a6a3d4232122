"""What an action must be told, as the signature of its function declares it.

A parameter is annotated with one of the kinds below. A kind reads what JSON, YAML or Python give
for a value, so that an action means the same through every door.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, get_args, get_type_hints

from reseller_sandbox.core import names
from reseller_sandbox.core.clock import later, parse_duration, parse_instant, wire
from reseller_sandbox.core.lifecycle import LONGEST_TERM
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused

_LONGEST = 255
_MOST_MONEY = 10**9
_FINEST = -6
_LONGEST_WAIT = 10**11


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of value: its JSON Schema, and how one is read.

    ``read`` raises ValueError; the message reads on after the parameter's name.
    """

    shape: Mapping[str, object]
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that an action is told, or may be told."""

    name: str
    kind: Kind
    required: bool


def _text(given: Any) -> str:
    if isinstance(given, str) and 0 < len(given) <= _LONGEST and given.isprintable():
        return str(given)
    raise ValueError(f"must be a text of 1 to {_LONGEST} printable characters")


def _name(given: Any) -> str:
    try:
        return names.normalise(_text(given))
    except names.BadName as problem:
        raise ValueError(f"is not a name: {problem}") from None


def _zone(given: Any) -> str:
    return _name(f"x.{_text(given)}").removeprefix("x.")


def _switch(given: Any) -> bool:
    if isinstance(given, bool):
        return given
    raise ValueError("must be true or false")


def _years(given: Any) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= LONGEST_TERM:
        return given
    raise ValueError(f"must be a whole number from 1 to {LONGEST_TERM}")


def _change(given: Any) -> Decimal:
    try:
        amount = Decimal(str(given)) if isinstance(given, str | int | float | Decimal) else None
    except InvalidOperation:
        amount = None
    if amount is None or isinstance(given, bool) or not amount.is_finite():
        raise ValueError("must be a decimal number")
    if abs(amount) >= _MOST_MONEY:
        raise ValueError(f"must be less than {_MOST_MONEY}")
    if not amount:
        return Decimal(0)
    if int(amount.normalize().as_tuple().exponent) < _FINEST:
        raise ValueError(f"must have at most {-_FINEST} fraction digits")
    return amount


def _amount(given: Any) -> Decimal:
    amount = _change(given)
    if amount < 0:
        raise ValueError("must not be below zero")
    return amount


def _when(given: Any) -> str:
    """An instant, or a length of time ahead: in either case a text that ``instant`` understands."""
    if isinstance(given, datetime):
        given = given.isoformat()
    elif isinstance(given, timedelta) or (isinstance(given, int | Decimal) and not isinstance(given, bool)):
        seconds = given.total_seconds() if isinstance(given, timedelta) else given
        given = str(int(seconds)) if 0 <= seconds < _LONGEST_WAIT and seconds == int(seconds) else ""
    try:
        text = _text(given)
        return wire(parse_instant(text)) if _is_instant(text) else _length(text)
    except (ValueError, OverflowError):
        raise ValueError("must be an instant, or a length of time such as P30D, 90m or 3600") from None


def _is_instant(text: str) -> bool:
    return "-" in text and not text.startswith("-")


def _length(text: str) -> str:
    parse_duration(text)
    return text.strip()


def instant(when: str, now: datetime) -> datetime:
    """The instant that a value of the kind ``When`` means at ``now``; raises ValueError past the last."""
    return parse_instant(when) if _is_instant(when) else later(now, parse_duration(when))


def _choice(*words: str) -> Kind:
    def read(given: Any) -> str:
        if isinstance(given, str) and given in words:
            return str(given)
        raise ValueError(f"must be one of {', '.join(words)}")

    return Kind({"type": "string", "enum": list(words)}, read)


_NUMBER_OR_TEXT: Mapping[str, object] = {"oneOf": [{"type": "string"}, {"type": "number"}]}

Text = Annotated[str, Kind({"type": "string"}, _text)]
Name = Annotated[str, Kind({"type": "string"}, _name)]
Zone = Annotated[str, Kind({"type": "string"}, _zone)]
Years = Annotated[int, Kind({"type": "integer", "minimum": 1, "maximum": LONGEST_TERM}, _years)]
Switch = Annotated[bool, Kind({"type": "boolean"}, _switch)]
Amount = Annotated[Decimal, Kind(_NUMBER_OR_TEXT, _amount)]
Change = Annotated[Decimal, Kind(_NUMBER_OR_TEXT, _change)]
When = Annotated[str, Kind(_NUMBER_OR_TEXT, _when)]
Term = Annotated[str, _choice("registration", "renewal")]
Credentials = Annotated[str, _choice("both", "key", "token")]
Answered = Annotated[str, _choice("accepted", "refused", "any")]


def kind_of(annotated: Any) -> Kind:
    """The kind in an annotation, which may also allow None."""
    found = (part for one in (annotated, *get_args(annotated)) for part in getattr(one, "__metadata__", ()))
    return next(part for part in found if isinstance(part, Kind))


def declared(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The keyword parameters in the signature of ``function``, in its order."""
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        Parameter(name, kind_of(hints[name]), one.default is inspect.Parameter.empty)
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    )


def read_by(known: Sequence[Parameter], given: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """``given`` as ``known`` declares it; None stands for nothing given, ``path`` goes before each name.

    Refuses with ``invalid_parameter``, naming every mistake.
    """
    given = {name: value for name, value in given.items() if value is not None}
    names_known = {one.name for one in known}
    wrong = [f"{path}{name[:80]} is not known here" for name in given if name not in names_known]
    wrong += [f"{path}{one.name} is missing" for one in known if one.required and one.name not in given]
    found = {}
    for one in known:
        if one.name in given:
            try:
                found[one.name] = one.kind.read(given[one.name])
            except ValueError as problem:
                wrong.append(f"{path}{one.name} {problem}")
    if wrong:
        raise Refused(INVALID_PARAMETER, problems="; ".join(wrong))
    return found
