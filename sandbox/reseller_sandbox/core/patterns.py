"""Regular expressions that a fixture gives, matched in linear time by RE2.

Python's own engine goes back and forth: ``(a+)+$`` takes seconds for thirty letters, and every world of the
server waits. RE2 knows no look-around and no references back; it takes all else in the usual spelling.
"""

from __future__ import annotations

from typing import Any

from reseller_sandbox.core.texts import has_control

#: The longest pattern, the longest text that one can match, and how far a pattern may unfold.
LONGEST = 1000
LONGEST_TEXT = 1000
_LARGEST = 5000


class BadPattern(ValueError):
    """A text is no regular expression that can be used; the message says why."""


def compiled(pattern: str) -> Any:
    """Return ``pattern`` ready for use; raise ``BadPattern``."""
    import re2  # loaded for those whose fixture has patterns

    if not 0 < len(pattern) <= LONGEST:
        raise BadPattern(f"a pattern has 1 to {LONGEST} characters")
    options: Any = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        raise BadPattern(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    except UnicodeEncodeError:
        raise BadPattern("it holds half a character") from None
    if found.programsize > _LARGEST:
        raise BadPattern("it repeats too much")
    return found


def matches(pattern: str, text: str) -> bool:
    """Whether the whole of ``text`` is like ``pattern``, which compiles.

    A very long text never is, nor is one that holds a control character.
    """
    if len(text) > LONGEST_TEXT or has_control(text):
        return False
    try:
        return compiled(pattern).fullmatch(text) is not None
    except UnicodeEncodeError:
        return False
