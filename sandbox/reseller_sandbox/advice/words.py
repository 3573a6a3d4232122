"""Phrases that several rules need."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

_SHOWN = 5


def span(length: timedelta) -> str:
    """Return a duration in words: ``within the same second``, ``within 40 seconds``."""
    seconds = int(length.total_seconds())
    if not seconds:
        return "within the same second"
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count, rest = divmod(seconds, size)
        if (count and not rest) or count > 1:
            return f"within {plural(count + bool(rest), unit)}"
    return f"within {plural(seconds, 'second')}"


def plural(count: int, word: str) -> str:
    """Return a count with its noun: ``1 year``, ``2 years``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def times(count: int) -> str:
    """Return a frequency in words: ``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def listed(words: Sequence[str]) -> str:
    """Return comma-separated words, only the first few of many."""
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"
