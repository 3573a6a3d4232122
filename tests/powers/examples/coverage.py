"""Examples of coverage."""

from __future__ import annotations

from typing import Any

from tests.powers.example import BAD, REQUEST, Example

DONE = ((REQUEST, {"path": "/v3/balance"}),)

#: What tells which items are meant, right and wrong.
OF: tuple[tuple[dict[str, Any], str], ...] = (
    ({"operation": "v3.*"}, ""),
    ({"operation": "v3.balanse"}, BAD),
    ({"operation": ""}, BAD),
    ({"everywhere": True}, ""),
    ({"everywhere": "yes"}, BAD),
)

EXAMPLES = (
    *(Example(f"coverage.{one}", before=DONE) for one in ("show", "items", "missing", "clear")),
    *(Example("coverage.missing", told, refused, before=DONE) for told, refused in OF),
    Example("coverage.items", {"operation": "v3.*", "area": "stages"}),
    Example("coverage.items", {"area": "stage"}, BAD),
    Example("coverage.items", {"seen": True}, before=DONE),
    Example("coverage.items", {"seen": False}, before=DONE),
    Example("coverage.items", {"seen": "yes"}, BAD),
    Example("coverage.missing", {"limit": 3}),
    Example("coverage.missing", {"limit": 0}, BAD),
    Example("coverage.clear", {"everywhere": True}, before=DONE),
    Example("coverage.clear", {"everywhere": "yes"}, BAD),
)
