"""Kinds that put another answer in the place of the right one, or damage it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from reseller_sandbox.faults.kind import Kind, Phase, Target, Turn
from reseller_sandbox.faults.parameters import DAY, Choice, Json, Mapped, Number, Switch, Text, parameter
from reseller_sandbox.faults.paths import DROPPED, Path, TakesPath

RETRY_AFTER = Number(0, DAY, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(Kind):
    """An error comes: a documented one by its name, or a raw status and body.

    Before: the operation does not take effect. After: it has, and the error is a lie.
    """

    name: ClassVar[str] = "error"

    error: str | None = parameter(
        Text("the name of a rule, or a message as v2.0 documents it"), "The error that comes.", default=None
    )
    facts: dict[str, Any] | None = parameter(
        Mapped("an object"), "What fills the blanks of the error's message.", default=None
    )
    status: int | None = parameter(
        Number(200, 599, whole=True), "The HTTP status; the error's own, unless given.", default=None
    )
    body: Any = parameter(
        Json(), "The body that goes with a raw status: text as it is, anything else as JSON.", default=None
    )
    content_type: str | None = parameter(
        Text("a media type"), "The body's type; text/html or application/json, unless given.", default=None
    )
    retry_after: int | None = parameter(RETRY_AFTER, "Seconds for a Retry-After header.", default=None)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """A name or a status, and with each what belongs to it."""
        if self.error is None and self.status is None:
            yield "", "takes an error, or a status with a body"
        for key in ("body", "content_type") if self.error is not None else ("facts",):
            if getattr(self, key) is not None:
                yield key, f"does not go with {'an error' if self.error is not None else 'a raw status'}"
        if self.content_type is not None and not (
            self.content_type.isascii() and self.content_type.isprintable()
        ):
            yield "content_type", "must be a media type"

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Answer the error."""
        if self.error is not None:
            target.refuse(self.error, self.facts or {}, self.status, self.retry_after)
        else:
            assert self.status is not None
            target.say(self.status, self.body, self.content_type, self.retry_after)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutate(Kind):
    """Something in the JSON answer is changed, dropped, or given another type."""

    name: ClassVar[str] = "mutate"
    phases: ClassVar[tuple[Phase, ...]] = ("after",)
    decides: ClassVar[bool] = False

    path: Path = parameter(TakesPath(), "Where in the answer.")
    value: Any = parameter(Json(), "What stands there instead.", default=None)
    drop: bool = parameter(Switch(), "Whether it is taken out.", default=False)
    type: str | None = parameter(
        Choice(("string", "number", "boolean", "null", "array", "object")),
        "The type that it gets; what it says is kept as far as that goes.",
        default=None,
    )

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Exactly one of the three."""
        if (self.value is not None) + self.drop + (self.type is not None) != 1:
            yield "", "takes one of value, drop and type"

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Change it, if it is there."""
        return target.edit(lambda body: self.path.change(body, self._edited))

    def _edited(self, value: Any) -> Any:
        if self.drop:
            return DROPPED
        return _RETYPED[self.type](value) if self.type is not None else self.value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _number(value: Any) -> Any:
    try:
        number = Decimal(str(int(value) if isinstance(value, bool) else value))
    except InvalidOperation:
        return 0
    return int(number) if number == number.to_integral_value() else number


_RETYPED: dict[str, Callable[[Any], Any]] = {
    "string": _text,
    "number": _number,
    "boolean": bool,
    "null": lambda _: None,
    "array": lambda value: [value],
    "object": lambda value: {"value": value},
}
