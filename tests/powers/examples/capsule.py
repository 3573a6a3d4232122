"""Examples of the capsule; it holds what has happened before."""

from __future__ import annotations

from tests.powers.example import REQUEST, Example

EXAMPLES = (
    Example("capsule.get"),
    Example("capsule.get", before=((REQUEST, {"path": "/v3/balance"}), ("clock.advance", {"by": "P1D"}))),
)
