"""Fields that write immutable records: what a record looks like is worked out once, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from marshmallow import Schema

from reseller_sandbox.web.fields import InnerObject, PlainlyWritten
from reseller_sandbox.web.strict_json import Ready

#: How many records a field remembers, as a rule.
_REMEMBERED = 4096


class Remembered(PlainlyWritten, InnerObject):  # type: ignore[misc]  # writes alone, reads as the latter
    """A JSON object made of an immutable record: worked out once, with its text, and kept."""

    def __init__(self, nested: type[Schema], most: int = _REMEMBERED, **kwargs: Any) -> None:
        super().__init__(nested, **kwargs)
        dump = nested().dump
        self.writes = lru_cache(maxsize=most)(lambda record: Ready(dump(record)))


class Showable(Protocol):
    """Something to be shown, which follows from an immutable record and perhaps more.

    Two of one record are equal where they show the same.
    """

    @property
    def record(self) -> object:
        """The record."""

    def shown(self) -> Mapping[str, Any]:
        """Return what is shown."""


class RememberedShown(PlainlyWritten, InnerObject):  # type: ignore[misc]  # as above
    """A JSON object made of what is ``Showable``: worked out once, with its text, and kept.

    The text goes into that of the answer as it is.
    """

    def __init__(self, nested: type[Schema], most: int = _REMEMBERED, **kwargs: Any) -> None:
        super().__init__(nested, **kwargs)
        self._most = most
        self._made: dict[int, tuple[Showable, Ready]] = {}
        self._dump = nested().dump
        self.writes = self._written

    def _written(self, shown: Showable) -> Ready:
        place = id(shown.record)  # nobody else's, as the record is kept with what is made of it
        found = self._made.get(place)
        if found is not None and found[0] == shown:
            return found[1]
        if len(self._made) >= self._most:
            self._made.clear()
        made = Ready(self._dump(shown.shown()))
        self._made[place] = shown, made
        return made
