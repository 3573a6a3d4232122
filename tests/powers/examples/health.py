"""Examples of health."""

from __future__ import annotations

from tests.powers.example import Example

EXAMPLES = (Example("health.show"),)
