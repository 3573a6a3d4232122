"""Faults: rules that make requests fail as they would in earnest, before or after they take effect."""

from reseller_sandbox.faults.book import Count, FaultBook
from reseller_sandbox.faults.kind import Asked, Kind, Luck, Phase, Target, Turn
from reseller_sandbox.faults.reading import KINDS, BadFaults, Vocabulary
from reseller_sandbox.faults.rule import FaultRule, Match, When

__all__ = [
    "KINDS",
    "Asked",
    "BadFaults",
    "Count",
    "FaultBook",
    "FaultRule",
    "Kind",
    "Luck",
    "Match",
    "Phase",
    "Target",
    "Turn",
    "Vocabulary",
    "When",
]
