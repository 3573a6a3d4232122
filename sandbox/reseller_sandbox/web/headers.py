"""The additional headers with which the sandbox explains an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reseller_sandbox.values.names import well_formed

WORLD = "X-Sandbox-World"
REQUEST = "X-Sandbox-Request"
ASSUMPTIONS = "X-Sandbox-Assumptions"
IGNORED = "X-Sandbox-Ignored"
FAULT = "X-Sandbox-Fault"
SIGNATURE = "X-Sandbox-Signature"
REFUSAL = "X-Sandbox-Refusal"

#: The description of each header. A header without a value is omitted.
HEADERS: Mapping[str, str] = {
    WORLD: "The world that it was.",
    REQUEST: "The request of that world, by the number that the journal knows it by.",
    ASSUMPTIONS: "The assumptions that the answer rests on, with their values.",
    IGNORED: "Keys of the body or the query that had no effect; an unknown one has the nearest known one.",
    FAULT: "The faults that were applied to the request.",
    SIGNATURE: "In v3, how the signature was made: the settings of the reading that it fits.",
    REFUSAL: "In v2.0, the rule that refused, and its sentence.",
}

#: The maximum length of a header value, and characters that it cannot contain.
_LONGEST = 500
_UNPRINTABLE = re.compile(r"[^ -~]")
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+)+")


def in_header(text: str) -> str:
    """Return ``text`` as a header value: printable ASCII, shortened, names as ``xn--``."""
    if not text.isascii():
        text = _DOTTED.sub(lambda found: well_formed(found[0]) or found[0], text)
    plain = text.encode("ascii", "backslashreplace").decode()
    return _UNPRINTABLE.sub(" ", plain)[:_LONGEST]
