"""Examples of the ledger."""

from __future__ import annotations

from tests.powers.example import BAD, Example

FIND = "ledger.find"

EXAMPLES = (
    Example(FIND),
    Example(FIND, before=(("clock.advance", {"by": "P800D"}),)),
    Example(FIND, {"account": "main"}),
    Example(FIND, {"account": "nobody"}, "unknown_account"),
    Example(FIND, {"order": 1}),
    Example(FIND, {"order": 0}, BAD),
    Example(FIND, {"domain": "second.com"}),
    Example(FIND, {"domain": ""}, BAD),
    Example(FIND, {"operation": "v3.*"}),
    Example(FIND, {"operation": "*a" * 2000}, BAD),
    Example(FIND, {"purpose": "renewal"}),
    Example(FIND, {"purpose": "fun"}, BAD),
    Example(FIND, {"request": "r1"}),
    Example(FIND, {"request": ""}, BAD),
    Example(FIND, {"since": "2026-03-01T12:00:00Z"}),
    Example(FIND, {"since": "then"}, BAD),
    Example(FIND, {"before": 3, "limit": 1}),
    Example(FIND, {"before": 0}, BAD),
    Example(FIND, {"limit": 0}),
    Example(FIND, {"limit": -1}, BAD),
)
