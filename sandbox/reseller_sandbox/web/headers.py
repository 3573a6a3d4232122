"""The additional headers with which the sandbox explains a response."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reseller_sandbox.refusals import Refused
from reseller_sandbox.values.names import NameText, well_formed

WORLD = "X-Sandbox-World"
REQUEST = "X-Sandbox-Request"
ASSUMPTIONS = "X-Sandbox-Assumptions"
IGNORED = "X-Sandbox-Ignored"
FAULT = "X-Sandbox-Fault"
REFUSAL = "X-Sandbox-Refusal"

#: A header of requests: the highest sum of all charges in the ledger of the world that the request may leave.
SPEND_LIMIT = "X-Sandbox-Spend-Limit"

#: The description of each header. A header without a value is omitted. Interfaces can add more headers.
HEADERS: Mapping[str, str] = {
    WORLD: "Name of the world that answered.",
    REQUEST: "Id of the request in the journal of its world.",
    ASSUMPTIONS: "Assumptions that the answer depends on, with their values.",
    IGNORED: (
        "Keys in the body or in the query that have no effect. After a semicolon, an unknown key has the "
        "most similar known key, and a known key has the reason. The word unchecked means that nothing "
        "contradicts its value."
    ),
    FAULT: "Faults that were applied to the request.",
    REFUSAL: "Code and message of each refusal for which the body has no place.",
}

#: The maximum length of a header value, and characters that it cannot contain.
_LONGEST = 500
_UNPRINTABLE = re.compile(r"[^ -~]")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")


def header_value(text: str) -> str:
    """Convert ``text`` to printable ASCII of a limited length. Domain names get their ``xn--`` form."""
    if not text.isascii():
        text = _DOTTED.sub(lambda match: well_formed(match[0]) or match[0], text)
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = _UNPRINTABLE.sub(" ", plain)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."


def refusal_value(*refused: Refused) -> str:
    """Return the value of the header ``REFUSAL``, with names and zones in their ``xn--`` form."""
    texts = [f"{each.code}: {each.refusal.reworded(_in_ascii).message}" for each in refused]
    return header_value("; ".join(texts))


def _in_ascii(fact: object) -> object:
    return fact.rewritten("ascii") if isinstance(fact, NameText) else fact
