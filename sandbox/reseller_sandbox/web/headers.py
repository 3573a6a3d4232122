"""The headers in which an answer of the reseller API says more of itself than its body does."""

from __future__ import annotations

from collections.abc import Mapping

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
