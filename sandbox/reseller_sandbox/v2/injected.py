"""Errors that v2.0 reports for no reason but that it was told to: by documented message, or by rule."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.core.refusals import INTERNAL_ERROR, UNKNOWN, Refused, Rule
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.errors import Documented, Worded
from reseller_sandbox.v2.wording import WORDING

#: The documented errors, under their messages as the contract writes them.
DOCUMENTED: Mapping[str, Documented] = {
    found.name: found for found in vars(errors).values() if isinstance(found, Documented)
}

_SAYINGS = (errors.USUALLY, *errors.EXCEPTIONS.values())
_SAID = (key[0] if isinstance(key, tuple) else key for sayings in _SAYINGS for key in sayings)

#: The rules that v2.0 has words for, in one operation or another.
RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*errors.TRANSPORT, *_SAID)}

KNOWN = frozenset((*DOCUMENTED, *RULES))


def words(operation: str, error: str, facts: Mapping[str, object]) -> Worded:
    """Return how ``error`` is told in an operation; one that is unknown there is a system error.

    The facts ``info`` and ``param_name`` fill the placeholders of a message; what nobody told is left open.
    Of the messages that a rule has there by its facts, the first will do where ``facts`` do not say which.
    """
    documented = DOCUMENTED.get(error)
    rule = RULES.get(error, INTERNAL_ERROR)
    unknown = {name: UNKNOWN for name, value in rule.usual.items() if value == ""}
    refused = Refused(rule, **{**unknown, **facts})
    refused.spoken_in(WORDING)
    if documented is None:
        if refused.rule in errors.TRANSPORT or errors.words_for(operation, refused) is not None:
            return errors.answer(operation, refused)
        documented = next(errors.all_of(operation, refused.rule), errors.SYSTEM_ERROR)
    filling = {"info": UNKNOWN, "param_name": UNKNOWN} | {key: str(value) for key, value in facts.items()}
    return Worded(documented.code, documented.message.format_map(filling), documented.name)
