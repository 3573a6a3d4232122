"""Examples of assumptions."""

from __future__ import annotations

from tests.powers.example import BAD, Example

EXAMPLES = (
    Example("assumptions.list"),
    Example("assumptions.set", {"assume": {"v3.ids": "integer"}}),
    Example("assumptions.set", {"assume": {"v3.idz": "integer"}}, BAD),
    Example("assumptions.set", {"assume": {"v3.ids": "float"}}, BAD),
    Example("assumptions.set", {"assume": "v3.ids"}, BAD),
    Example("assumptions.set", {"profile": "observed"}),
    Example("assumptions.set", {"profile": "observd"}, BAD),
)
