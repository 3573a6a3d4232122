"""Every reason to refuse a request, each in one place: code, category, sentence, and what would do.

An operation raises ``Refused`` with a rule and the facts that its sentence names. How a refusal looks on
the wire is the business of the interface that answers: its words for the terms of the domain (see
``wording``), its documented messages, and the status that follows from the category.
"""

# ruff: noqa: F403, F405

from collections.abc import Mapping
from types import MappingProxyType

from reseller_sandbox.core.refusals.access import *
from reseller_sandbox.core.refusals.control import *
from reseller_sandbox.core.refusals.delegation import *
from reseller_sandbox.core.refusals.orders import *
from reseller_sandbox.core.refusals.people import *
from reseller_sandbox.core.refusals.rule import *
from reseller_sandbox.core.refusals.transport import *
from reseller_sandbox.core.refusals.wording import *

#: Every rule by its code, in the order of their declarations.
RULES: Mapping[str, Rule] = MappingProxyType(
    {one.code: one for one in list(globals().values()) if isinstance(one, Rule)}
)
