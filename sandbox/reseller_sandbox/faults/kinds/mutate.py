"""The kind ``mutate``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar

from msgspec.structs import replace

from reseller_sandbox.core.paths import DROPPED, PATH, Path
from reseller_sandbox.core.values import ANYTHING, SWITCH, choice
from reseller_sandbox.faults.effects import Effects
from reseller_sandbox.faults.kind import FaultKind, Phase, Turn


class Mutate(FaultKind, frozen=True, kw_only=True):
    """Something in the JSON answer is changed, dropped, or given another type."""

    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    path: Annotated[Path, PATH, "Where in the answer."]
    value: Annotated[Any, ANYTHING, "What stands there instead."] = None
    drop: Annotated[bool, SWITCH, "Whether it is taken out."] = False
    type: Annotated[
        str | None,
        choice("string", "number", "boolean", "null", "array", "object"),
        "The type that it gets; what it says is kept as far as that goes.",
    ] = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Require one of value, drop and type."""
        if (self.value is not None) + self.drop + (self.type is not None) != 1:
            yield "", "takes one of value, drop and type"

    def strike(self, so_far: Effects, turn: Turn) -> Effects | None:  # noqa: ARG002
        answer, changed = self.path.change(so_far.answer, self._edited)
        return replace(so_far, answer=answer) if changed else None

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


_RETYPED: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "number": _number,
    "boolean": bool,
    "null": lambda _: None,
    "array": lambda value: [value],
    "object": lambda value: {"value": value},
}
