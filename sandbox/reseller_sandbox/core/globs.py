"""Globs: patterns of ``*`` and ``?``, matched in time that is linear in the text.

A user's glob may hold many stars, and regular expressions made of such go back and forth without end.
Here all places that a match can have reached are followed at once, each as a bit of one number.
"""

from __future__ import annotations

from collections.abc import Iterable

from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.texts import require_whole_letters

#: The longest glob there is.
LONGEST = 1000


class Glob:
    """A pattern of a whole text: ``*`` stands for any letters or none, ``?`` for one letter.

    Raise ValueError, whose message begins with a verb, for a pattern that is empty, too long, or holds
    half a character.
    """

    __slots__ = ("_any", "_end", "_letters", "_stars", "text")

    def __init__(self, text: str) -> None:
        if not 0 < len(text) <= LONGEST:
            raise ValueError(Must(f"have 1 to {LONGEST} characters"))
        require_whole_letters(text)
        self.text = text
        stars, anything, place = 0, 0, 1
        letters: dict[str, int] = {}
        for letter in text:
            if letter == "*":
                stars |= place
                continue
            if letter == "?":
                anything |= place
            else:
                letters[letter] = letters.get(letter, 0) | place
            place <<= 1
        self._stars, self._any, self._end = stars, anything, place
        self._letters = {letter: places | anything for letter, places in letters.items()}

    def matches(self, text: str) -> bool:
        """Whether the whole of ``text`` is like this."""
        letters, stars, anything = self._letters, self._stars, self._any
        places = 1
        for letter in text:
            places = (places & letters.get(letter, anything)) << 1 | places & stars
            if not places:
                return False
        return bool(places & self._end)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Glob) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Glob({self.text!r})"


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether ``text`` is like one of ``globs``."""
    return any(glob.matches(text) for glob in globs)
