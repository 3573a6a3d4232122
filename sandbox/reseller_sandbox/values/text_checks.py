"""Text: checks, suggestions for misspelt words, and phrases for error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from itertools import chain, count
from types import MappingProxyType
from typing import TypeVar, cast

#: The number of characters of a word that a suggestion compares.
COMPARED = 60


#: The minimum similarity of a suggested word, as ``difflib`` measures it.
_CUTOFF = 0.6


def close(word: str, known: Iterable[str], most: int = 1, likeness: float = _CUTOFF) -> list[str]:
    """Return up to ``most`` of the ``known`` words that are similar to ``word``, best first.

    The comparison ignores case.
    """
    spellings = {spelling[:COMPARED].lower(): spelling for spelling in known}
    matches = get_close_matches(word[:COMPARED].lower(), spellings, most, likeness)
    return [spellings[match] for match in matches]


#: Maps a known word to synonyms, which are words of other programs with the same meaning.
Synonyms = Mapping[str, Sequence[str]]


def nearest(word: str, known: Iterable[str], synonyms: Synonyms = MappingProxyType({})) -> str:
    """Return a suggestion to add to an error about ``word`` (``; did you mean name?``), or "".

    The known words with ``word`` as a synonym take precedence over a word with a similar spelling.
    """
    known = list(known)
    same = [name for name in known if word.lower() in synonyms.get(name, ())]
    return did_you_mean(same or close(word, known))


#: The maximum number of suggestions in an error.
_MOST_SUGGESTIONS = 3


def did_you_mean(words: Sequence[str]) -> str:
    """Return a suggestion to add to an error (``; did you mean a or b?``), or "" without ``words``."""
    return f"; did you mean {' or '.join(words[:_MOST_SUGGESTIONS])}?" if words else ""


_MOST_PROBLEMS = 20


def states_expected_value(problem: object) -> bool:
    """Whether an error message states the expected value but not the invalid value."""
    words = str(problem)
    return words.startswith("must ") and ", not " not in words


def shortened(value: object) -> str:
    """Return ``value`` for an error message, cut to 60 characters: its repr, or true, false and null."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    try:
        shown = str(value) if isinstance(value, Decimal) else repr(decimals_to_floats(value))
    except ValueError:  # the integer has too many digits for ``str``
        shown = "a number of thousands of digits"
    return cut(shown, COMPARED)


def cut(text: str, most: int) -> str:
    """Return ``text`` with at most ``most`` characters. A cut text ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


_ENCODED = re.compile("(?:%[0-9A-Fa-f]{2})+")


def percent_decoded(text: str) -> str:
    """Return a part of a URL without percent-encoding."""
    return _ENCODED.sub(lambda part: bytes.fromhex(part[0].replace("%", "")).decode(errors="replace"), text)


def unused(name: str, taken: Container[str]) -> str:
    """Return ``name``, with a number added if the name is taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def plural(count: int, word: str) -> str:
    """Return a count with its noun: ``1 year``, ``2 years``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def names_phrase(names: Iterable[str], noun: str) -> str:
    """Return a phrase such as ``there are com and net``. It has at most 20 names, then ``and 3 more``.

    ``noun`` is the plural noun for the names (``zones``), for the phrase about an empty list.
    """
    listed = list(names)
    if not listed:
        return f"there are no {noun}"
    return f"there {'is' if len(listed) == 1 else 'are'} {abridged(listed, _MOST_PROBLEMS)}"


def abridged(words: Sequence[str], most: int) -> str:
    """Return the first ``most`` of ``words``, joined by commas, and the number of the others."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def decimals_to_floats(value: object) -> object:
    """Return the JSON value ``value`` with each ``Decimal`` as a float."""
    return with_leaves(value, lambda leaf: float(leaf) if isinstance(leaf, Decimal) else leaf)


def with_leaves(value: object, change: Callable[[object], object]) -> object:
    """Return a JSON value with ``change`` applied to each part that is not an object or an array."""
    if isinstance(value, Mapping):
        return {key: with_leaves(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [with_leaves(item, change) for item in value]
    return change(value)


def complaint(problems: Sequence[str], most: int = _MOST_PROBLEMS) -> str:
    """Return the first ``most`` of ``problems``, joined by semicolons, and the number of the others."""
    more = [f"and {len(problems) - most} more"] if len(problems) > most else []
    return "; ".join([*problems[:most], *more])


T = TypeVar("T")

LONGEST = 255

#: Every valid number has fewer digits. The limit of Python's ``int`` (4300) is higher.
_MOST_DIGITS = 4000

#: Letters without ink: the fillers of Hangul and the empty pattern of Braille.
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"

_NO_JOINERS = dict.fromkeys(map(ord, "\u200c\u200d"))

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_control(text: str) -> bool:
    """Whether ``text`` contains a control character, such as a line break."""
    return _CONTROL.search(text) is not None


def is_printable(text: str) -> bool:
    """Whether ``text`` has only printable characters.

    The zero-width joiner and non-joiner count as printable, because words and names of several scripts
    need them.
    """
    return text.translate(_NO_JOINERS).isprintable()


def is_blank(text: str) -> bool:
    """Whether ``text`` has no visible character."""
    return not any(
        letter.isprintable() and not letter.isspace() and letter not in _FILLERS for letter in text
    )


def printable(text: str) -> str:
    """Return ``text`` with every non-printable character as an escape sequence.

    On a terminal, such characters could move the cursor, change colours or begin a new line.
    """
    return (
        text
        if is_printable(text)
        else "".join(letter if is_printable(letter) else repr(letter)[1:-1] for letter in text)
    )


def flaw(text: str) -> str | None:
    """Return the problem of a ``text`` that no field accepts, or None.

    The problem has no subject (``is longer than 255 characters``).
    """
    if len(text) > LONGEST:
        return f"is longer than {LONGEST} characters"
    return "holds a control character" if has_control(text) else None


def plain(value: T) -> T:
    """Return a member of a ``StrEnum``, or another subclass of ``str``, as plain ``str``.

    Other values stay unchanged.
    """
    return cast(T, str.__str__(value)) if isinstance(value, str) else value


def require_whole_letters(text: str) -> None:
    """Raise ValueError if ``text`` contains a lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains a lone surrogate") from None


def whole(digits: str) -> int:
    """Return ``digits`` as an integer, but read only the first 4000 digits."""
    return int(digits[:_MOST_DIGITS])
