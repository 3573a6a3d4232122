"""Whether an answer reached the client that waited for it."""

from __future__ import annotations

from reseller_sandbox.worlds import Entry

#: Kinds of faults whose answers come, but perhaps when nobody waits any longer.
LATE = frozenset({"drip", "latency"})


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault kept its answer back, replaced it, or held it up."""
    kinds = set((entry.fault_kind or "").split(", "))
    return bool(entry.changes) and (entry.lost or not kinds.isdisjoint(LATE))
