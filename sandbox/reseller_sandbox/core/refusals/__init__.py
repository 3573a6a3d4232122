"""Every reason to refuse a request, each in one place: code, category, sentence, and what would do.

An operation raises ``Refused`` with a rule and the facts that its sentence names. How a refusal looks on
the wire is the business of the interface that answers: its words for the terms of the domain (see
``Wording``), its documented messages, and the status that follows from the category.
"""

# ruff: noqa: F403, F405

from collections.abc import Mapping
from types import MappingProxyType

from reseller_sandbox.core.refusals.access import *
from reseller_sandbox.core.refusals.registry import *
from reseller_sandbox.core.refusals.rule import *
from reseller_sandbox.core.refusals.transport import *

#: Every rule by its code, in the order of their declarations.
RULES: Mapping[str, Rule] = MappingProxyType(
    {one.code: one for one in list(globals().values()) if isinstance(one, Rule)}
)
