"""All reasons to refuse a request, with code, category, sentence and remedy.

An operation raises ``Refused`` with a rule and the facts that the rule's sentence names. The interface that
answers decides the form on the wire: its words for terms (see ``Wording``), its documented messages, and the
status for the category.
"""

# ruff: noqa: F403, F405

from collections.abc import Mapping
from types import MappingProxyType

from reseller_sandbox.refusals.access import *
from reseller_sandbox.refusals.registry import *
from reseller_sandbox.refusals.rule import *
from reseller_sandbox.refusals.transport import *

#: Every rule by its code, in the order of declaration. The code is the rule's name in lower case.
RULES: Mapping[str, Rule] = MappingProxyType(
    {name.lower(): rule for name, rule in list(globals().items()) if isinstance(rule, Rule)}
)
for _code, _rule in RULES.items():
    _rule.code = _code

#: The synonyms of each code.
SYNONYMS = MappingProxyType({code: rule.synonyms for code, rule in RULES.items()})

#: The rules of requests that the server refuses without the application, because it cannot read them.
UNREAD: Mapping[str, Rule] = {
    rule.code: rule
    for rule in (MALFORMED_REQUEST, INCOMPLETE_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, TOO_MANY_CONNECTIONS)
}
