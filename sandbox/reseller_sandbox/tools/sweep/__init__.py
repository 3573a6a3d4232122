"""Sweep: the same program that passes, run again with each thing going wrong once.

``troubles`` is what can go wrong, ``engine`` runs the program with each of that, ``report`` is the table of
what came of it, ``command`` is ``reseller-sandbox sweep``.
"""

from reseller_sandbox.tools.sweep.engine import AskedNothing, BadProgram, SweepWanted, sweep, sweep_program
from reseller_sandbox.tools.sweep.report import Came, Run, SweepReport
from reseller_sandbox.tools.sweep.troubles import FAULTS

__all__ = [
    "FAULTS",
    "AskedNothing",
    "BadProgram",
    "Came",
    "Run",
    "SweepReport",
    "SweepWanted",
    "sweep",
    "sweep_program",
]
