"""Patterns: regular expressions of a fixture, globs, and paths into a JSON value.

A slow pattern would hold up every world of the server: regular expressions are matched in linear time, and a
glob takes at most as many steps as its length times that of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from reseller_sandbox.registry.text_checks import has_control, require_whole_letters
from reseller_sandbox.registry.values import Kind

#: The longest pattern, the longest text that one can match, and how far a pattern may unfold.
_LONGEST = 1000
_LONGEST_TEXT = 1000
_LARGEST = 5000


class BadPattern(ValueError):
    """A text is no regular expression that can be used; the message says why."""


def compiled(pattern: str) -> Any:
    """Return ``pattern`` ready for use; raise ``BadPattern``."""
    import re2  # loaded for those whose fixture has patterns

    if not 0 < len(pattern) <= _LONGEST:
        raise BadPattern(f"a pattern has 1 to {_LONGEST} characters")
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
    if len(text) > _LONGEST_TEXT or has_control(text):
        return False
    try:
        return compiled(pattern).fullmatch(text) is not None
    except UnicodeEncodeError:
        return False


#: The longest glob there is.
LONGEST_GLOB = 1000


class Glob(Struct, frozen=True):
    """A pattern of a whole text: ``*`` stands for any letters or none, ``?`` for one letter.

    Raise ValueError, whose message begins with a verb, for a pattern that is empty, too long, or holds
    half a character.
    """

    text: str

    def __post_init__(self) -> None:
        if not 0 < len(self.text) <= LONGEST_GLOB:
            raise ValueError(f"must have 1 to {LONGEST_GLOB} characters")
        require_whole_letters(self.text)

    def matches(self, text: str) -> bool:
        """Whether the whole of ``text`` matches."""
        return fnmatchcase(text, self.text.replace("[", "[[]"))  # a bracket is an ordinary letter here


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether ``text`` is like one of ``globs``."""
    for glob in globs:  # noqa: SIM110 - ``any`` of a generator takes three times as long
        if glob.matches(text):
            return True
    return False


_STEP = re.compile(r"\[(\d{1,6}|\*)\]|(?:^|\.)([^.\[\]]+)")
_ALL = "*"

#: The longest path there is; each of its steps is one call deep.
LONGEST_PATH = 200

#: What an edit returns to have its value taken out.
DROPPED: Any = object()


class Path(Struct, frozen=True):
    """A way into a JSON value: keys, places in arrays, and ``[*]`` for every place."""

    text: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read a path; raise ValueError."""
        require_whole_letters(text)
        steps: list[str | int] = []
        at = 0 if 0 < len(text) <= LONGEST_PATH else len(text)
        while at < len(text):
            found = _STEP.match(text, at)
            if found is None:
                raise ValueError("must be a path such as domain.expireDate or results[0].status")
            place, key = found.groups()
            steps.append(key if key is not None else place if place == _ALL else int(place))
            at = found.end()
        if not steps:
            raise ValueError(f"must be a path such as domain.expireDate, of up to {LONGEST_PATH} characters")
        return cls(text, tuple(steps))

    def find(self, value: Any) -> Iterator[Any]:
        """Yield what stands there in ``value``: nothing, one thing, or several."""
        return _find(value, self.steps)

    def change(self, value: Any, edit: Callable[[Any], Any]) -> tuple[Any, bool]:
        """Return a copy of ``value`` with what stands there edited, and whether anything stood there."""
        return _change(value, self.steps, edit)


def _path(given: Any) -> Path:
    if isinstance(given, Path):
        return given
    if not isinstance(given, str):
        raise ValueError("must be a path such as domain.expireDate or results[0].status")
    return Path.parse(given)


PATH = Kind(
    {"type": "string"},
    _path,
    lambda path: path.text,
    says="a path such as domain.expireDate, results[0].status or results[*].status",
)


def _at(value: Any, step: str | int) -> list[Any]:
    """Return the keys or places of ``value`` that a step leads to."""
    if isinstance(value, dict):
        return [step] if step in value else []
    if isinstance(value, list):
        if step == _ALL:
            return list(range(len(value)))
        return [step] if isinstance(step, int) and step < len(value) else []
    return []


def _find(value: Any, steps: tuple[str | int, ...]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    for at in _at(value, steps[0]):
        yield from _find(value[at], steps[1:])


def _change(value: Any, steps: tuple[str | int, ...], edit: Callable[[Any], Any]) -> tuple[Any, bool]:
    if not steps:
        return edit(value), True
    copy, changed = value, False
    for at in reversed(_at(value, steps[0])):  # From behind, so that what is dropped moves nothing.
        new, found = _change(value[at], steps[1:], edit)
        if found:
            copy = copy if changed else value.copy()
            changed = True
            if new is DROPPED:
                del copy[at]
            else:
                copy[at] = new
    return copy, changed
