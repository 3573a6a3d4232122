"""Misspelt words: which of the known ones is nearest. All words are compared here."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

#: How much of a word is looked at.
COMPARED = 60


#: The least likeness of a suggestion, as ``difflib`` counts it: below it, suggestions are noise.
_CUTOFF = 0.6


def close(word: str, known: Iterable[str], most: int = 1, likeness: float = _CUTOFF) -> list[str]:
    """Return the spellings among ``known`` that are like ``word``, the best first. Case does not count."""
    spellings = {one[:COMPARED].lower(): one for one in known}
    found = get_close_matches(word[:COMPARED].lower(), spellings, most, likeness)
    return [spellings[one] for one in found]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of an error about ``word``: the known spelling that is most like it, or nothing."""
    near = close(word, known)
    return f"; the nearest is {near[0]}" if near else ""
