"""Explore: a program with several workers, in every order of their requests that could matter.

``turnstile`` holds requests and lets them through one at a time, ``actors`` says whose they are, ``orders``
which orders to try; ``runs`` makes the runs, ``outcomes`` says what each has left, ``report`` what is wrong.
``command`` is ``reseller-sandbox explore``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.tools.explore.report import Exploration
    from reseller_sandbox.tools.explore.runs import explore

__all__ = ["Exploration", "explore"]


def __getattr__(name: str) -> Any:
    """Load what is asked for: whoever wants help on the command needs none of it."""
    homes = {"Exploration": "report", "explore": "runs"}
    if name in homes:
        return getattr(import_module(f"{__name__}.{homes[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
