"""Every reason to refuse a request, each in one place: code, category, sentence, and what would do.

An operation raises ``Refused`` with a rule and the facts that its sentence names. How a refusal looks on
the wire is the business of the interface that answers: its words for the terms of the domain (see
``Wording``), its documented messages, and the status that follows from the category.
"""

# ruff: noqa: F403, F405

from collections.abc import Mapping
from types import MappingProxyType

from reseller_sandbox.registry.refusals.access import *
from reseller_sandbox.registry.refusals.registry import *
from reseller_sandbox.registry.refusals.rule import *
from reseller_sandbox.registry.refusals.transport import *

#: Every rule by its code, in the order of their declarations. The code is the name here, in small letters.
RULES: Mapping[str, Rule] = MappingProxyType(
    {name.lower(): rule for name, rule in list(globals().items()) if isinstance(rule, Rule)}
)
for _code, _rule in RULES.items():
    _rule.code = _code

#: The rules of requests that the server answers by itself, because it cannot read them.
UNREAD: Mapping[str, Rule] = {
    one.code: one
    for one in (MALFORMED_REQUEST, INCOMPLETE_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, TOO_MANY_CONNECTIONS)
}
