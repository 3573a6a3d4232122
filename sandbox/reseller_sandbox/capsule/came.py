"""What came of a request, as far as it is to be the same the next time."""

from __future__ import annotations

from hashlib import sha256

from reseller_sandbox.capsule.steps import CameOfIt
from reseller_sandbox.worlds import Entry

#: So much of a long answer is told, beside its digest.
_KEPT = 4096


def came(entry: Entry, answer: bytes | None = None) -> CameOfIt:
    """Return what came of a request, which a replay compares; ``answer`` is without the secrets of others."""
    body, size = entry.answer if answer is None else answer, entry.answer_size
    is_long = len(body) > _KEPT
    return CameOfIt(
        status=entry.status,
        outcome=entry.outcome,
        faults=entry.struck_by,
        held_up=entry.held_up,
        body=body[:_KEPT],
        size=len(body) if is_long and size is None else size,
        digest=sha256(body).hexdigest() if is_long else "",
    )
