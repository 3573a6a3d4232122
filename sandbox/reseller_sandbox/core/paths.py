"""Paths into a JSON value: ``domain.expireDate``, ``results[0].status``, ``results[*].status``, ``[0]``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.texts import require_whole_letters
from reseller_sandbox.core.values import Kind

_STEP = re.compile(r"\[(\d{1,6}|\*)\]|(?:^|\.)([^.\[\]]+)")
_ALL = "*"

#: The longest path there is; each of its steps is one call deep.
LONGEST = 200

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
        at = 0 if 0 < len(text) <= LONGEST else len(text)
        while at < len(text):
            found = _STEP.match(text, at)
            if found is None:
                raise ValueError(Must("be a path such as domain.expireDate or results[0].status"))
            place, key = found.groups()
            steps.append(key if key is not None else place if place == _ALL else int(place))
            at = found.end()
        if not steps:
            raise ValueError(Must(f"be a path such as domain.expireDate, of up to {LONGEST} characters"))
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
        raise ValueError(Must("be a path such as domain.expireDate or results[0].status"))
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
