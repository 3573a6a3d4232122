"""Examples of plans."""

from __future__ import annotations

from tests.powers.example import BAD, Example

PLANNED = (
    ("outside.register", {"domain": "wanted.com", "auth_code": "their-code", "at": "P3D"}),
    ("outside.set_prices", {"zone": "com", "renewal": "13.25", "after": "v3.balance"}),
)

EXAMPLES = (
    Example("plans.list"),
    Example("plans.list", before=PLANNED),
    Example("plans.remove", {"plan": 2}, before=PLANNED),
    Example("plans.remove", {"plan": 7}, "unknown_plan", before=PLANNED),
    Example("plans.remove", {"plan": "first"}, BAD),
)
