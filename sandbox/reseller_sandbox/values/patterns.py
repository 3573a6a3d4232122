"""Patterns: regular expressions in fixtures, globs, and paths into JSON values.

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

#: Limits of the length of a pattern, the length of a text to match, and the size of a compiled pattern.
_LONGEST = 1000
_LONGEST_TEXT = 1000
_LARGEST = 5000


def compiled(pattern: str) -> Any:
    """Compile a regular expression. Raise ValueError if it is invalid, too long or too complex."""
    import re2  # imported on first use, because few fixtures have patterns

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
    """Whether ``text`` as a whole matches ``pattern``, a valid regular expression.

    A text of more than 1000 characters, or with a control character, never matches.
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
    """A pattern for a whole text: ``*`` matches any characters, ``?`` matches one character.

    Raise ValueError if the pattern is empty, is too long, or contains a lone surrogate. The message has no
    subject.
    """

    text: str

    def __post_init__(self) -> None:
        if not 0 < len(self.text) <= LONGEST_GLOB:
            raise ValueError(f"must have 1 to {LONGEST_GLOB} characters")
        require_whole_letters(self.text)

    def matches(self, text: str) -> bool:
        """Whether ``text`` as a whole matches this glob."""
        # Escape brackets, because globs of the sandbox have no character classes such as [abc].
        return fnmatchcase(text, self.text.replace("[", "[[]"))


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Whether ``text`` matches at least one of ``globs``."""
    for glob in globs:  # noqa: SIM110 - ``any`` of a generator takes three times as long
        if glob.matches(text):
            return True
    return False


_STEP = re.compile(r"\[(\d{1,6}|\*)\]|(?:^|\.)([^.\[\]]+)")
_ALL = "*"

#: The maximum length of a path. It limits recursion, because each step of a path is a nested call.
LONGEST_PATH = 200

#: The result of an ``edit`` function (see ``Path.change``) that removes the value.
DROPPED: Any = object()


class Path(Struct, frozen=True):
    """A path into a JSON value, such as ``results[0].status``. ``[*]`` means every index."""

    text: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read a path such as ``results[*].status``. Raise ValueError for an invalid path."""
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
        """Yield every value that this path finds in ``value``."""
        return _find(value, self.steps)

    def change(self, value: Any, edit: Callable[[Any], Any]) -> tuple[Any, bool]:
        """Return a copy of ``value`` in which ``edit`` has changed each value at this path.

        Also return whether the path found a value.
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
    """Return the keys or indexes of ``value`` that a ``step`` of a path selects."""
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
    for at in reversed(_at(value, steps[0])):  # Backwards, because a removal shifts later items.
        new, is_present = _change(value[at], steps[1:], edit)
        if is_present:
            copy = copy if changed else value.copy()
            changed = True
            if new is DROPPED:
                del copy[at]
            else:
                copy[at] = new
    return copy, changed
