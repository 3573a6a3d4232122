"""What is wrong with a fixture, and where: every mistake has a file, a line and a column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

#: Longer words are not compared, and of more words than this none is suggested: both would take long.
_LONGEST_WORD = 80
_MOST_WORDS = 5_000


class Place(NamedTuple):
    """A position in a file; lines and columns count from 1, and line 0 is the file as a whole."""

    file: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in a fixture."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{where}: {self.message}"


class FixtureError(Exception):
    """A fixture cannot be used. ``problems`` has every mistake found; as text, one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))


def problem(place: Place, message: str) -> Problem:
    """The mistake ``message`` at ``place``."""
    return Problem(*place, message)


def first_told(*stages: Iterable[Problem]) -> list[Problem]:
    """The problems of several stages, without those about a place where an earlier stage found one.

    What cannot be read is not blamed for its shape, nor what has no shape for making no sense.
    """
    told: list[Problem] = []
    for stage in stages:
        places = {(known.file, known.line, known.column) for known in told}
        told += [found for found in stage if (found.file, found.line, found.column) not in places]
    return told


def shown(value: object) -> str:
    """``value`` in quotes, as a message can hold it: on one line, and not all of a long one."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "…")


def nearest(word: str, known: Iterable[str]) -> str:
    """``"; the nearest is 'com'"``, or nothing where no word of ``known`` is close."""
    words = list(known)
    if len(word) > _LONGEST_WORD or len(words) > _MOST_WORDS:
        return ""
    close = get_close_matches(word, words, 1, 0.6)
    return f"; the nearest is {shown(close[0])}" if close else ""


def nearest_or_all(word: str, known: Iterable[str]) -> str:
    """The nearest of ``known``, or all of them where none is close."""
    words = list(known)
    return nearest(word, words) or f"; it is one of {', '.join(words)}"
