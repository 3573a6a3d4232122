"""Whole numbers written in digits, however many."""

from __future__ import annotations

#: More than any number here counts with, and fewer than Python reads.
_MOST = 4000


def whole(digits: str) -> int:
    """Return the number in ``digits``; of too many some are left off, and the number is huge all the same."""
    return int(digits[:_MOST])
