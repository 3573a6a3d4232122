"""Faults: rules that make requests fail as in production.

A fault applies before or after the request takes effect. The package may import ``registry`` and
``server.delivery``. Begin with ``rule`` and a file in ``kinds``.
"""

from reseller_sandbox.faults.kind import Effects as Effects
from reseller_sandbox.faults.kind import FaultKind as FaultKind
from reseller_sandbox.faults.kind import Phase as Phase
from reseller_sandbox.faults.kinds import KINDS as KINDS
from reseller_sandbox.faults.rule import Count as Count
from reseller_sandbox.faults.rule import FaultBook as FaultBook
from reseller_sandbox.faults.rule import FaultRule as FaultRule
from reseller_sandbox.faults.rule import Strike as Strike
