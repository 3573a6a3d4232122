"""Whether an answer reached its client."""

from __future__ import annotations

from sandbox.worlds import Entry


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault kept its answer back, replaced it or damaged it."""
    return entry.fault is not None and bool(entry.changes)
