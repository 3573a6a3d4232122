"""The kinds of faults, one file each. A kind is added here, and in its own file."""

from collections.abc import Mapping

from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds.bandwidth import Bandwidth
from reseller_sandbox.faults.kinds.close import Close
from reseller_sandbox.faults.kinds.drip import Drip
from reseller_sandbox.faults.kinds.duplicate import Duplicate
from reseller_sandbox.faults.kinds.error import Error
from reseller_sandbox.faults.kinds.garbage import Garbage
from reseller_sandbox.faults.kinds.hang import Hang
from reseller_sandbox.faults.kinds.latency import Latency
from reseller_sandbox.faults.kinds.mutate import Mutate
from reseller_sandbox.faults.kinds.rate_limit import RateLimit
from reseller_sandbox.faults.kinds.reset import Reset
from reseller_sandbox.faults.kinds.stale import Stale
from reseller_sandbox.faults.kinds.truncate import Truncate

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
