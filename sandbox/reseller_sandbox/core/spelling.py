"""Misspelt words: which of the known ones is nearest. All words are compared here."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

#: How much of a word is looked at.
COMPARED = 60


def close(word: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """Return the spellings among ``known`` that are nearest to ``word``, the best first."""
    return get_close_matches(word[:COMPARED], [one[:COMPARED] for one in known], most, likeness)


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return what to add to a complaint about ``word``: the spelling that is nearest to it, or nothing."""
    near = close(word, known, 1, likeness)
    return f"; the nearest is {near[0]}" if near else ""
