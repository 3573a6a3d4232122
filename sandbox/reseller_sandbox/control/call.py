"""What an operation of the control interface is handed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import RAISE, pre_load

from reseller_sandbox.core.words import Vocabulary
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.worlds import Engine, World


@dataclass(slots=True)
class ControlCall:
    """A world to act on, the worlds it is one of, and what was asked."""

    world: World
    worlds: Engine
    arguments: dict[str, Any]

    @property
    def words(self) -> Vocabulary | None:
        """The operations that clients can call, and the errors that they can be answered with."""
        return self.worlds.fixtures.words


class Strict(Shape):
    """A JSON object without unknown keys, whatever their value. The null of a known one is nothing sent."""

    class Meta:
        unknown = RAISE

    @pre_load
    def without_nulls(self, given: Any, **_: Any) -> Any:
        """Drop the keys whose value is null, and keep those that will be complained of."""
        if not isinstance(given, dict):
            return given
        known = {field.data_key or name for name, field in self.fields.items()}
        return {key: value for key, value in given.items() if value is not None or key not in known}


class Nothing(Strict):
    """An empty object, which need not be sent."""
