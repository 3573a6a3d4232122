"""Faults: rules that make requests fail as they fail in production, before or after they take effect.

It may import ``core`` and the deliveries of ``server``. Begin with ``rule`` and a file in ``kinds``; ``book``
has the rules of a world and lets them strike.
"""

from reseller_sandbox.faults.book import FaultBook, Strike
from reseller_sandbox.faults.kind import Asked, Effects, FaultKind, Phase
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.reading import BadFaults
from reseller_sandbox.faults.rule import Count, FaultRule, When

__all__ = [
    "KINDS",
    "Asked",
    "BadFaults",
    "Count",
    "Effects",
    "FaultBook",
    "FaultKind",
    "FaultRule",
    "Phase",
    "Strike",
    "When",
]
