"""For every parameter of every power one example that is accepted and one that is refused, at least.

Each module here has those of one power, or of a few that belong together.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.powers.example import Example

EXAMPLES: tuple[Example, ...] = tuple(
    example
    for module in pkgutil.iter_modules(__path__)
    for example in importlib.import_module(f"{__name__}.{module.name}").EXAMPLES
)
