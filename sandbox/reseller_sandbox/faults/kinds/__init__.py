"""The kinds of faults. A kind is a class in a file of its subject, and is listed here."""

from collections.abc import Mapping

from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds.answers import Error, Mutate, RateLimit
from reseller_sandbox.faults.kinds.connection import Close, Garbage, Reset, Truncate
from reseller_sandbox.faults.kinds.replays import Duplicate, Stale
from reseller_sandbox.faults.kinds.timing import Bandwidth, Drip, Hang, Latency

#: Every kind of fault, by name.
KINDS: Mapping[str, type[FaultKind]] = {
    kind.name: kind
    for kind in (
        Error,
        Latency,
        Drip,
        Bandwidth,
        Hang,
        Reset,
        Close,
        Truncate,
        Garbage,
        Mutate,
        RateLimit,
        Duplicate,
        Stale,
    )
}

__all__ = ["KINDS", "Error", "RateLimit"]
