"""What the parts of a match take beside globs: names, methods, outcomes, headers, what a body holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reseller_sandbox.core.clock import parse_instant, wire
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.names import BadName, normalise, to_unicode
from reseller_sandbox.core.paths import Path
from reseller_sandbox.core.takes import Like

#: The most items of an object, and how deep a body is looked into.
_KEYS = 50
_DEEPEST = 50

_LONGEST_WORD = 100


class DomainGlob(Like):
    """A glob of names, in whichever form."""

    __slots__ = ()

    def read(self, given: Any) -> Glob:
        """Read the glob, as people write the names it means."""
        glob = Like.read(self, given)
        try:
            return Glob(to_unicode(normalise(glob.text)))
        except BadName:
            return Glob(glob.text.lower())


class MethodGlob(Like):
    """A glob of methods."""

    __slots__ = ()

    def read(self, given: Any) -> Glob:
        """Read the glob in upper case."""
        return Glob(Like.read(self, given).text.upper())


@dataclass(frozen=True, slots=True)
class OutcomeWord:
    """A word for what the client was told, or a status."""

    says: str = "ok, refused, fault, an error's name, or a status such as 404 or 4xx"

    @property
    def schema(self) -> dict[str, object]:
        """Return a string."""
        return {"type": "string"}

    def read(self, given: Any) -> str:
        """Read the word; whether there is such an error is for ``unknown_words`` to see."""
        if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_WORD:
            raise ValueError(f"must be {self.says}")
        return given

    def write(self, value: Any) -> Any:
        """Return the word."""
        return value


@dataclass(frozen=True, slots=True)
class SinceWhen:
    """An instant, or the name of a request."""

    says: str = "an instant, or the name of a request (r12), after which it came"

    @property
    def schema(self) -> dict[str, object]:
        """Return a string."""
        return {"type": "string"}

    def read(self, given: Any) -> datetime | int:
        """Read the instant, or the request's number."""
        text = given.isoformat() if isinstance(given, datetime) else given
        digits = text[1:] if isinstance(text, str) and text.startswith("r") else ""
        if digits.isascii() and digits.isdigit() and len(digits) < 19:
            return int(digits)
        try:
            return parse_instant(text if isinstance(text, str) else "")
        except ValueError:
            raise ValueError("takes an instant or the name of a request (r12)") from None

    def write(self, value: Any) -> str:
        """Return it as it is given."""
        return wire(value) if isinstance(value, datetime) else f"r{value}"


@dataclass(frozen=True, slots=True)
class GlobsByName:
    """Headers or elements of a query by name, each with a glob, or with None where it may not be there."""

    says: str = "an object of names, each with a glob of its value, or with null where it must be absent"

    @property
    def schema(self) -> dict[str, object]:
        """Return an object."""
        return {"type": "object", "additionalProperties": {"type": ["string", "null"]}}

    def read(self, given: Any) -> tuple[tuple[str, Glob | None], ...]:
        """Read the names with their globs."""
        if not isinstance(given, Mapping) or not 0 < len(given) <= _KEYS:
            raise ValueError(f"must be {self.says}")
        if not all(
            isinstance(name, str) and (isinstance(value, str | None)) for name, value in given.items()
        ):
            raise ValueError(f"must be {self.says}")
        return tuple((name, None if value is None else Glob(value)) for name, value in given.items())

    def write(self, value: Any) -> dict[str, str | None]:
        """Return the names with the texts of their globs."""
        return {name: None if glob is None else glob.text for name, glob in value}


@dataclass(frozen=True, slots=True)
class GlobsByPath:
    """Paths into a JSON value, each with what is to be found there."""

    says: str = "an object of paths, each with a glob or another JSON value"

    @property
    def schema(self) -> dict[str, object]:
        """Return an object."""
        return {"type": "object"}

    def read(self, given: Any) -> tuple[tuple[Path, Any], ...]:
        """Read the paths; globs within the values are made here, once."""
        if not isinstance(given, Mapping) or not 0 < len(given) <= _KEYS:
            raise ValueError(f"must be {self.says}")
        if not all(isinstance(text, str) for text in given):
            raise ValueError(f"must be {self.says}")
        return tuple((Path.parse(text), _globbed(value)) for text, value in given.items())

    def write(self, value: Any) -> dict[str, Any]:
        """Return the texts of the paths with their values."""
        return {path.text: plain(wanted) for path, wanted in value}


def plain(wanted: Any) -> Any:
    """Return what a body is to hold as JSON: globs as their texts."""
    if isinstance(wanted, Glob):
        return wanted.text
    if isinstance(wanted, Mapping):
        return {key: plain(value) for key, value in wanted.items()}
    return [plain(one) for one in wanted] if isinstance(wanted, list | tuple) else wanted


def _globbed(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"goes deeper than {_DEEPEST} levels")
    if isinstance(value, Mapping):
        return {key: _globbed(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_globbed(one, depth + 1) for one in value]
    return Glob(value) if isinstance(value, str) and {"*", "?"} & set(value) else value
