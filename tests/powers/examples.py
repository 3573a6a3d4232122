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


BAD = "invalid_parameter"

CLOCK = (
    Example("clock.show"),
    Example("clock.freeze"),
    Example("clock.run"),
    Example("clock.set", {"to": "2026-04-01"}),
    Example("clock.set", {"to": "2026-01-01"}, "set_back"),
    Example("clock.set", {"to": "soon"}, BAD),
    Example("clock.set", {}, BAD),
    Example("clock.set", {"to": "2028-04-01", "limit": 3}),
    Example("clock.set", {"to": "2028-04-01", "limit": -1}, BAD),
    Example("clock.advance", {"by": "P800D", "limit": 3}),
    Example("clock.advance", {"by": "P800D", "limit": "all"}, BAD),
    Example("clock.advance", {"by": "P3D"}),
    Example("clock.advance", {"by": 3600}),
    Example("clock.advance", {"by": "a while"}, BAD),
    Example("clock.advance", {"by": "P3D", "dry_run": True}),
    Example("clock.advance", {"by": "P3D", "dry_run": "yes"}, BAD),
    Example("clock.advance", {"to": "2027-01-01T00:00:00Z"}),
    Example("clock.advance", {"to": "tomorrow"}, BAD),
    Example("clock.advance", {"to": "2026-01-01"}, "set_back"),
    Example("clock.advance", {"until": "next"}),
    Example("clock.advance", {"until": {"domain": "second.com", "stage": "overdue"}}),
    Example("clock.advance", {"until": {"event": "expiry"}}),
    Example("clock.advance", {"until": {"domain": "second.com", "stgae": "overdue"}}, BAD),
    Example("clock.advance", {"until": {"domain": "nobodys.com", "stage": "overdue"}}, "not_held"),
    Example("clock.advance", {"until": {"domain": "-", "stage": "overdue"}}, "invalid_name"),
    Example(
        "clock.advance",
        {"until": {"domain": "second.com", "stage": "overdue", "account": "nobody"}},
        "unknown_account",
    ),
    Example("clock.advance", {"until": {"domain": "second.com", "stage": "requested"}}, "nothing_due"),
    Example("clock.advance", {}, BAD),
    Example("clock.advance", {"by": "P3D", "fast": True}, BAD),
    Example("clock.due"),
    Example("clock.due", {"limit": 3}),
    Example("clock.due", {"limit": 0}, BAD),
    Example("clock.due", {"domain": "second.com"}),
    Example("clock.due", {"domain": "-"}, "invalid_name"),
)

ASSUMPTIONS = (
    Example("assumptions.list"),
    Example("assumptions.set", {"assume": {"v3.ids": "integer"}}),
    Example("assumptions.set", {"assume": {"v3.idz": "integer"}}, BAD),
    Example("assumptions.set", {"assume": {"v3.ids": "float"}}, BAD),
    Example("assumptions.set", {"assume": "v3.ids"}, BAD),
    Example("assumptions.set", {"profile": "observed"}),
    Example("assumptions.set", {"profile": "observd"}, BAD),
)

ADVICE = (Example("advice.list"),)

EVENTS = (
    Example("events.find"),
    Example("events.find", {"kind": "time"}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"kind": "tide"}, BAD),
    Example("events.find", {"name": "clock.*"}, before=(("clock.advance", {"by": "P3D"}),)),
    Example("events.find", {"name": ""}, BAD),
    Example("events.find", {"domain": "second.com"}, before=(("clock.advance", {"by": "P300D"}),)),
    Example("events.find", {"domain": "-"}, "invalid_name"),
    Example("events.find", {"since": 2}, before=(("clock.freeze", {}),) * 3),
    Example("events.find", {"since": "lately"}, BAD),
    Example("events.find", {"cause": 1}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"cause": 0}, BAD),
    Example("events.find", {"limit": 2}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"limit": -1}, BAD),
)

EXAMPLES = (*CLOCK, *ASSUMPTIONS, *ADVICE, *EVENTS)
