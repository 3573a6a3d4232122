"""Sweep: the same program that passes, run again with each thing going wrong once.

``troubles`` is what can go wrong, ``engine`` runs the program with each of that, ``report`` is what came of
it, ``told`` the same in words. ``command`` is ``reseller-sandbox sweep``, ``tests`` has a pytest that it runs
sweep its own tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.tools.running import BadProgram
    from reseller_sandbox.tools.sweep.engine import SweepWanted, sweep
    from reseller_sandbox.tools.sweep.report import SweepReport
    from reseller_sandbox.tools.sweep.told import Came

__all__ = ["BadProgram", "Came", "SweepReport", "SweepWanted", "sweep"]


def __getattr__(name: str) -> Any:
    """Load what is asked for: whoever wants help on the command needs none of it."""
    if name in __all__:
        home = {"Came": "told", "SweepReport": "report"}.get(name, "engine")
        return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
