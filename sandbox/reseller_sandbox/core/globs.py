"""Globs: patterns of ``*`` and ``?``, matched in time that is linear in the text.

A glob may hold many stars, for which a backtracking regular expression takes exponential time. Here one
number holds every place of the pattern that the text has reached, one bit for each place.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.texts import require_whole_letters

#: The longest glob there is.
LONGEST = 1000


class Glob(Struct, frozen=True):
    """A pattern of a whole text: ``*`` stands for any letters or none, ``?`` for one letter.

    Raise ValueError, whose message begins with a verb, for a pattern that is empty, too long, or holds
    half a character.
    """

    text: str

    def __post_init__(self) -> None:
        if not 0 < len(self.text) <= LONGEST:
            raise ValueError(Must(f"have 1 to {LONGEST} characters"))
        require_whole_letters(self.text)

    @property
    def literal(self) -> bool:
        """Whether only one text matches."""
        return "*" not in self.text and "?" not in self.text

    def matches(self, text: str) -> bool:
        """Whether the whole of ``text`` matches."""
        if self.literal:
            return text == self.text
        letters, stars, anything, end = _compiled(self.text)
        places = 1
        for letter in text:
            places = (places & letters.get(letter, anything)) << 1 | places & stars
            if not places:
                return False
        return bool(places & end)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> tuple[dict[str, int], int, int, int]:
    """Return the places of each letter, of the stars, of the question marks, and of the end as bits."""
    stars, anything, place = 0, 0, 1
    letters: dict[str, int] = {}
    for letter in pattern:
        if letter == "*":
            stars |= place
            continue
        if letter == "?":
            anything |= place
        else:
            letters[letter] = letters.get(letter, 0) | place
        place <<= 1
    return {letter: places | anything for letter, places in letters.items()}, stars, anything, place


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether ``text`` is like one of ``globs``."""
    for glob in globs:  # noqa: SIM110 - ``any`` of a generator takes three times as long
        if glob.matches(text):
            return True
    return False
