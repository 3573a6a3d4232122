"""Texts that callers send: how long they may be, what they may not hold, and numbers in them."""

from __future__ import annotations

import re
from typing import TypeVar, cast

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
