"""Sweep: the same program that passes, run again with each thing going wrong once.

``troubles`` is what can go wrong, ``engine`` runs the program with each of that, ``report`` is the table of
what came of it, ``command`` is ``reseller-sandbox sweep``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.tools.sweep.engine import BadProgram, SweepWanted, sweep
    from reseller_sandbox.tools.sweep.report import Came, SweepReport

__all__ = ["BadProgram", "Came", "SweepReport", "SweepWanted", "sweep"]


def __getattr__(name: str) -> Any:
    """Load what is asked for: whoever wants help on the command needs none of it."""
    if name in __all__:
        home = "report" if name in ("Came", "SweepReport") else "engine"
        return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
