"""Refusals: every rule by which the sandbox refuses a request, and the exception.

An operation raises ``Refused`` with a rule and the facts that the rule's sentence names. The interface that
answers decides the form on the wire: its words for terms (see ``Wording``), its documented messages, and the
status for the category.
"""

from reseller_sandbox.refusals.refusal import *  # noqa: F403
from reseller_sandbox.refusals.rules import *  # noqa: F403
