"""What an operation of the control interface is handed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import RAISE

from reseller_sandbox.faults import Vocabulary
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.worlds import World, Worlds


@dataclass(slots=True)
class ControlCall:
    """A world to act on, the worlds it is one of, and what was asked."""

    world: World
    worlds: Worlds
    arguments: dict[str, Any]

    @property
    def words(self) -> Vocabulary | None:
        """The operations that clients can call, and the errors that they can be answered with."""
        return self.worlds.fixtures.words


class Strict(Shape):
    """A JSON object without unknown keys."""

    class Meta:
        unknown = RAISE


class Nothing(Strict):
    """An empty object, which need not be sent."""
