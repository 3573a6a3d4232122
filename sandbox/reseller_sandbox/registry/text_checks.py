"""Texts: checks and numbers, suggestions for misspelt words, and the wording of complaints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import TypeVar, cast

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


_MOST_PROBLEMS = 20


def says_what_must_be(problem: object) -> bool:
    """Whether a message says what a value must be, and not yet what was given."""
    words = str(problem)
    return words.startswith("must ") and ", not " not in words


def shortened(value: object) -> str:
    """Return ``value`` as complaints quote it."""
    try:
        shown = repr(decimals_to_floats(value))
    except ValueError:  # Python writes no number of so many digits
        shown = "a number of thousands of digits"
    return shown if len(shown) <= COMPARED else f"{shown[: COMPARED - 1]}…"


def there_are(names: Iterable[str], what: str) -> str:
    """Return which names there are, ``what`` they all are, as a refusal tells it: the first few of many."""
    found = list(names)
    if not found:
        return f"there are no {what}"
    more = f" and {len(found) - _MOST_PROBLEMS} more" if len(found) > _MOST_PROBLEMS else ""
    return f"there {'is' if len(found) == 1 else 'are'} {', '.join(found[:_MOST_PROBLEMS])}{more}"


def decimals_to_floats(value: object) -> object:
    """Return ``value`` with the numbers that Python would have for its decimals."""
    if isinstance(value, Mapping):
        return {key: decimals_to_floats(one) for key, one in value.items()}
    if isinstance(value, list):
        return [decimals_to_floats(one) for one in value]
    return float(value) if isinstance(value, Decimal) else value


def complaint(problems: Sequence[str]) -> str:
    """Return the first few of ``problems`` as one sentence, and how many more there are."""
    told = list(problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        told.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return "; ".join(told)


T = TypeVar("T")

LONGEST = 255

#: More digits than any number here counts with, and fewer than Python reads.
_MOST_DIGITS = 4000

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_control(text: str) -> bool:
    """Whether ``text`` holds a control character, a line break among them."""
    return _CONTROL.search(text) is not None


def printable(text: str) -> str:
    """Return ``text`` with what would move a terminal's cursor, colour it or begin a line, written out."""
    return (
        text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
    )


def flaw(text: str) -> str | None:
    """Return what is wrong with ``text`` whatever it stands for, in words that read on after it."""
    if len(text) > LONGEST:
        return f"is longer than {LONGEST} characters"
    return "holds a control character" if has_control(text) else None


def plain(given: T) -> T:
    """Return a text of a class of its own, such as a word of an enumeration, as the letters that it is."""
    return cast(T, str.__str__(given)) if isinstance(given, str) else given


def require_whole_letters(text: str) -> None:
    """Raise ValueError where ``text`` holds half a character, which UTF-8 cannot write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half a character") from None


def whole(digits: str) -> int:
    """Return the number in ``digits``; of very many some are left off, and the number stays huge."""
    return int(digits[:_MOST_DIGITS])
