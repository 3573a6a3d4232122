"""For every parameter of every power one example that is accepted and one that is refused, at least.

An example is what is told, as JSON has it. ``before`` are calls that set the stage for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Example:
    """One call of a power: ``refused`` is the rule by which it is refused, or nothing."""

    operation: str
    given: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    before: tuple[Call, ...] = ()

    def __str__(self) -> str:
        told = ",".join(f"{name}={value}" for name, value in self.given.items())
        return f"{self.operation}({told})"[:70]


#: A call of a client's, in place of a power's: what Flask's test client takes.
REQUEST = "request"

BAD = "invalid_parameter"
