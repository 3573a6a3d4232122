"""Patterns: regular expressions of fixtures, globs, and paths into JSON values.

A slow pattern would delay every world of the server. Regular expressions are therefore matched in linear
time, and a glob takes at most its length times the text's length in steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from reseller_sandbox.values.kinds import LINE, Kind
from reseller_sandbox.values.text_checks import has_control, require_whole_letters, shortened

#: Limits: the length of a pattern, the length of a matched text, and the size of a compiled pattern.
_LONGEST = 1000
_LONGEST_TEXT = 1000
_LARGEST = 5000


def compiled(pattern: str) -> Any:
    """Return ``pattern`` compiled. Raise ValueError if it is not a usable regular expression."""
    import re2  # import lazily, because few fixtures have patterns

    if not 0 < len(pattern) <= _LONGEST:
        raise ValueError(f"a pattern must have 1 to {_LONGEST} characters")
    options: Any = re2.Options()
    options.log_errors = False
    try:
        program = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    if program.programsize > _LARGEST:
        raise ValueError("it repeats too much")
    return program


def _pattern(value: Any) -> str:
    text = LINE.read(value)
    try:
        compiled(text)
    except ValueError as problem:
        raise ValueError(f"{shortened(text)} is not a regular expression: {problem}") from None
    return text


#: A regular expression.
PATTERN = Kind({"type": "string", "format": "regex"}, _pattern)


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern``, which must be valid, matches the whole of ``text``.

    A text that is very long or holds a control character never matches.
    """
    if len(text) > _LONGEST_TEXT or has_control(text):
        return False
    try:
        return compiled(pattern).fullmatch(text) is not None
    except UnicodeEncodeError:
        return False


#: The maximum length of a glob.
LONGEST_GLOB = 1000


class Glob(Struct, frozen=True):
    """A pattern for a whole text: ``*`` matches any characters, ``?`` matches one.

    Raise ValueError for a pattern that is empty, too long, or holds a lone surrogate. The message begins with
    a verb.
    """

    text: str

    def __post_init__(self) -> None:
        if not 0 < len(self.text) <= LONGEST_GLOB:
            raise ValueError(f"must have 1 to {LONGEST_GLOB} characters")
        require_whole_letters(self.text)

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the whole of ``text``."""
        # Escape brackets, because globs of the sandbox have no character classes such as [abc].
        return fnmatchcase(text, self.text.replace("[", "[[]"))


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether one of ``globs`` matches ``text``."""
    for glob in globs:  # noqa: SIM110 - ``any`` of a generator takes three times as long
        if glob.matches(text):
            return True
    return False


_STEP = re.compile(r"\[(\d{1,6}|\*)\]|(?:^|\.)([^.\[\]]+)")
_ALL = "*"

#: The maximum length of a path. Each of its steps is a nested call.
LONGEST_PATH = 200

#: The edit function of ``Path.change`` returns this object to remove a value.
DROPPED: Any = object()


class Path(Struct, frozen=True):
    """A path into a JSON value: keys, array indexes, and ``[*]`` for every index."""

    text: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read a path. Raise ValueError if it is invalid."""
        require_whole_letters(text)
        steps: list[str | int] = []
        at = 0 if 0 < len(text) <= LONGEST_PATH else len(text)
        while at < len(text):
            step = _STEP.match(text, at)
            if step is None:
                raise ValueError("must be a path such as domain.expireDate or results[0].status")
            place, key = step.groups()
            steps.append(key if key is not None else place if place == _ALL else int(place))
            at = step.end()
        if not steps:
            raise ValueError(f"must be a path such as domain.expireDate, of up to {LONGEST_PATH} characters")
        return cls(text, tuple(steps))

    def find(self, value: Any) -> Iterator[Any]:
        """Yield the values at this path in ``value``: none, one or several."""
        return _find(value, self.steps)

    def change(self, value: Any, edit: Callable[[Any], Any]) -> tuple[Any, bool]:
        """Return a copy of ``value`` with the values at this path edited.

        The second item is true if there was a value at this path.
        """
        return _change(value, self.steps, edit)


def _path(value: Any) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a path such as domain.expireDate or results[0].status")
    return Path.parse(value)


PATH = Kind(
    {"type": "string"},
    _path,
    lambda path: path.text,
    says="a path such as domain.expireDate, results[0].status or results[*].status",
)


def _at(value: Any, step: str | int) -> list[Any]:
    """Return the keys or indexes of ``value`` that a step refers to."""
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
    for at in reversed(_at(value, steps[0])):  # Go backwards, because removing an item shifts those after it.
        new, is_present = _change(value[at], steps[1:], edit)
        if is_present:
            copy = copy if changed else value.copy()
            changed = True
            if new is DROPPED:
                del copy[at]
            else:
                copy[at] = new
    return copy, changed
