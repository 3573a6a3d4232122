"""All kinds of faults. Add a class to a file by subject, then list it here."""

from collections.abc import Mapping

from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds.answers import Error, Mutate, RateLimit
from reseller_sandbox.faults.kinds.connection import Close, Garbage, Reset, Truncate
from reseller_sandbox.faults.kinds.replays import Duplicate, Stale
from reseller_sandbox.faults.kinds.timing import Bandwidth, Drip, Hang, Latency, TimePasses

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
        TimePasses,
    )
}

__all__ = ["KINDS", "Error", "RateLimit"]
