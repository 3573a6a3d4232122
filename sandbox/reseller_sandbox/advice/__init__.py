"""Advice: what in a world's journal would have cost money, names or secrets in production.

It is worked out when somebody asks, from what the journal holds, and touches no request.
Each rule is a function beside its thresholds; ``RULES`` is the catalogue.
"""

from reseller_sandbox.advice.finding import AdviceRule, Finding, Severity
from reseller_sandbox.advice.rules import RULES, advise

__all__ = ["RULES", "AdviceRule", "Finding", "Severity", "advise"]
