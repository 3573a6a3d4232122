"""The headers in which an answer of the reseller API says more of itself than its body does."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reseller_sandbox.registry.names import well_formed

WORLD = "X-Sandbox-World"
REQUEST = "X-Sandbox-Request"
ASSUMPTIONS = "X-Sandbox-Assumptions"
IGNORED = "X-Sandbox-Ignored"
FAULT = "X-Sandbox-Fault"
SIGNATURE = "X-Sandbox-Signature"
REFUSAL = "X-Sandbox-Refusal"

#: What each of them says, where it has something to say.
TOLD: Mapping[str, str] = {
    WORLD: "The world that it was.",
    REQUEST: "The request of that world, by the number that the journal knows it by.",
    ASSUMPTIONS: "The assumptions that the answer rests on, with their values.",
    IGNORED: "Keys of the body or the query that had no effect; an unknown one has the nearest known one.",
    FAULT: "The faults that have struck it.",
    SIGNATURE: "In v3, how the signature was made: the settings of the reading that it fits.",
    REFUSAL: "In v2.0, the rule that refused, and its sentence.",
}

#: How long a text in a header may be, and what may not stand in one.
_LONGEST = 500
_UNPRINTABLE = re.compile(r"[^ -~]")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")


def in_header(text: str) -> str:
    """Return ``text`` as a header can carry it: printable ASCII of a bounded length, names as ``xn--``."""
    if not text.isascii():
        text = _DOTTED.sub(lambda found: well_formed(found[0]) or found[0], text)
    plain = text.encode("ascii", "backslashreplace").decode()
    return _UNPRINTABLE.sub(" ", plain)[:_LONGEST]
