"""Examples of clock."""

from __future__ import annotations

from tests.powers.example import BAD, Example

EXAMPLES = (
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
    Example("clock.watch"),
    Example("clock.watch", {"since": 1}),
    Example("clock.watch", {"since": -1}, BAD),
    Example("clock.due"),
    Example("clock.due", {"limit": 3}),
    Example("clock.due", {"limit": 0}, BAD),
    Example("clock.due", {"domain": "second.com"}),
    Example("clock.due", {"domain": "-"}, "invalid_name"),
)
