"""Examples of advice."""

from __future__ import annotations

from tests.powers.example import Example

EXAMPLES = (Example("advice.list"),)
