"""Patterns: regular expressions in fixtures, globs, and paths into JSON values.

A slow pattern would delay every world of the server. Regular expressions are therefore matched in linear
time, and a glob takes at most its length times the text's length in steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from reseller_sandbox.values.kinds import LINE, Kind
from reseller_sandbox.values.text_checks import close, has_control, require_whole_letters, shortened

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


def _pattern(value: object) -> str:
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

#: A place at which JSON values of one kind can have a part: the keys on the way there. ``ITEM`` stands for
#: every index of an array, and a final ``REST`` for the parts of a value that can be any JSON value.
Place = tuple[str, ...]
ITEM, REST = "[*]", "**"

#: The result of an ``edit`` function (see ``Path.change``) that removes the value.
DROPPED: object = object()


class Path(Struct, frozen=True):
    """A path into a JSON value, such as ``results[0].status`` or ``results.0.status``.

    ``[*]`` and ``.*`` mean every index of an array and every key of an object.
    """

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

    def is_among(self, known: Set[Place], *, beside: bool = False) -> bool:
        """Whether this path can lead to one of the ``known`` places.

        With ``beside``, the last key can be another key of the same object.
        """
        return any(self._fits(place, known, beside) for place in known)

    def _fits(self, place: Place, known: Set[Place], beside: bool) -> bool:
        for at, step in enumerate(self.steps[: len(place)]):
            key, is_index = place[at], _index(step) is not None
            if key == REST:
                return (*place[:-1], step) not in known  # a known key has only its known parts
            is_last = beside and at == len(self.steps) - 1 and isinstance(step, str) and key != ITEM
            if not (is_last or step in (_ALL, key) or (key == ITEM and is_index)):
                return False
        return len(self.steps) == len(place)

    def find(self, value: object) -> Iterator[object]:
        """Yield every value that this path finds in ``value``."""
        return _find(value, self.steps)

    def change(self, value: object, edit: Callable[[object], object]) -> tuple[object, bool]:
        """Return a copy of ``value`` in which ``edit`` has changed each value at this path.

        Also return whether the path found a value.
        """
        return _change(value, self.steps, edit)

    def add(self, value: object, item: object) -> tuple[object, bool]:
        """Return a copy of ``value`` with ``item`` at this path, and whether ``item`` was added.

        The last step of the path is a key that an object does not have, or the index after the last item of
        an array. Existing values stay.
        """
        *parents, last = self.steps
        is_added = False

        def extended(holder: object) -> object:
            nonlocal is_added
            if isinstance(holder, dict) and isinstance(last, str) and last not in holder:
                is_added = True
                return {**holder, last: item}
            if isinstance(holder, list) and _index(last) == len(holder):
                is_added = True
                return [*holder, item]
            return holder

        changed, _ = _change(value, tuple(parents), extended)
        return changed, is_added


def _index(step: str | int) -> int | None:
    """Return the index that a ``step`` of a path selects in an array, or None."""
    return int(step) if isinstance(step, int) or (step.isascii() and step.isdigit()) else None


def places(value: object, is_open: Callable[[object], bool] = lambda _: False) -> Iterator[Place]:
    """Yield the place of every part of a JSON value. A leaf for which ``is_open`` holds can be anything."""
    yield ()
    if isinstance(value, Mapping):
        yield from ((str(key), *below) for key in value for below in places(value[key], is_open))
    elif isinstance(value, list):
        yield from ((ITEM, *below) for item in value for below in places(item, is_open))
    elif is_open(value):
        yield (REST,)


def place_text(place: Place) -> str:
    """Return a place as a path: ``results[*].status``."""
    return ".".join(place).replace(f".{ITEM}", ITEM)


def nearest_places(text: str, known: Iterable[Place]) -> list[str]:
    """Return the paths of the places most similar to the path ``text``, best first."""
    texts = sorted({place_text(place) for place in known if place and place[-1] not in (ITEM, REST)})
    keys = {path.rpartition(".")[2] for path in texts}
    alike = close(text.rpartition(".")[2], sorted(keys))
    same = [path for path in texts if path.rpartition(".")[2] in alike]
    return close(text, same, len(same), 0) if same else close(text, texts)


def _path(value: object) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a path such as domain.expireDate or results[0].status")
    return Path.parse(value)


PATH = Kind(
    {"type": "string"},
    _path,
    lambda path: path.text,
    says="a path such as domain.expireDate, results[0].status, results.0.status or results[*].status",
)


def _at(value: object, step: str | int) -> list[object]:
    """Return the keys or indexes of ``value`` that a ``step`` of a path selects."""
    if isinstance(value, dict):
        if step == _ALL and step not in value:
            return list(value)
        return [step] if step in value else []
    if isinstance(value, list):
        if step == _ALL:
            return list(range(len(value)))
        index = _index(step)
        return [index] if index is not None and index < len(value) else []
    return []


def _find(value: Any, steps: tuple[str | int, ...]) -> Iterator[object]:
    if not steps:
        yield value
        return
    for at in _at(value, steps[0]):
        yield from _find(value[at], steps[1:])


def _change(
    value: Any, steps: tuple[str | int, ...], edit: Callable[[object], object]
) -> tuple[object, bool]:
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
