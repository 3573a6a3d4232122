"""What the parts of a match take: globs, names, methods, outcomes, headers, what a body holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from reseller_sandbox.core.clock import parse_instant, wire
from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.names import to_unicode, well_formed
from reseller_sandbox.core.paths import Path
from reseller_sandbox.core.texts import plain as as_letters
from reseller_sandbox.core.texts import require_whole_letters
from reseller_sandbox.core.values import ANYTHING, Kind, several

#: The most items of an object.
_KEYS = 50

_GLOBS = 100
_LONGEST_WORD = 100

#: How many digits the number of a request has at most.
_DIGITS = 18


def patterns(says: str, spelt: Callable[[str], str] = str) -> Kind[tuple[Glob, ...]]:
    """Return the kind of globs, each as ``spelt`` writes it."""

    def read(given: Any) -> Glob:
        if isinstance(given, Glob):
            return given
        if not isinstance(given, str):
            raise ValueError(Must("be text"))
        return Glob(spelt(Glob(as_letters(given)).text))

    return several(Kind({"type": "string"}, read, lambda glob: glob.text, says=says), _GLOBS)


def name_spelt(glob: str) -> str:
    """Return a glob of names as people write the names it means."""
    name = well_formed(glob)
    return glob.lower() if name is None else to_unicode(name)


def _outcome(given: Any) -> str:
    """Read the word; ``vocabulary.unknown`` sees whether there is such an error."""
    if isinstance(given, str) and 0 < len(given) <= _LONGEST_WORD:
        require_whole_letters(given)
        return given
    raise ValueError(Must(f"be {_OUTCOMES}"))


def _since(given: Any) -> datetime | int:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 10**_DIGITS:
        return given
    text = given.isoformat() if isinstance(given, datetime) else given
    digits = text[1:] if isinstance(text, str) and text.startswith("r") else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS:
        return int(digits)
    try:
        return parse_instant(text if isinstance(text, str) else "")
    except ValueError:
        raise ValueError(Must(f"be {_SINCE}")) from None


def _is_read(given: Any, key: type, value: Any = object) -> bool:
    """Whether ``given`` is what has been read of an object: pairs of a key and a value."""
    return isinstance(given, tuple) and all(
        isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], key) and isinstance(one[1], value)
        for one in given
    )


def _by_name(given: Any) -> tuple[tuple[str, Glob | None], ...]:
    if _is_read(given, str, Glob | None):
        return tuple(given)
    if (
        isinstance(given, Mapping)
        and 0 < len(given) <= _KEYS
        and all(isinstance(name, str) and isinstance(value, str | None) for name, value in given.items())
    ):
        for name in given:
            require_whole_letters(name)
        return tuple((name, None if value is None else Glob(value)) for name, value in given.items())
    raise ValueError(Must(f"be {_BY_NAME}"))


def _by_path(given: Any) -> tuple[tuple[Path, Any], ...]:
    """Read the paths; globs within the values are made here, once."""
    if _is_read(given, Path):
        return tuple(given)
    if (
        isinstance(given, Mapping)
        and 0 < len(given) <= _KEYS
        and all(isinstance(text, str) for text in given)
    ):
        return tuple((Path.parse(text), _globbed(ANYTHING.read(value))) for text, value in given.items())
    raise ValueError(Must(f"be {_BY_PATH}"))


def plain(wanted: Any) -> Any:
    """Return what a body is to hold as JSON: globs as their texts."""
    if isinstance(wanted, Glob):
        return wanted.text
    if isinstance(wanted, Mapping):
        return {key: plain(value) for key, value in wanted.items()}
    return [plain(one) for one in wanted] if isinstance(wanted, list | tuple) else wanted


def _globbed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _globbed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_globbed(one) for one in value]
    return Glob(value) if isinstance(value, str) and {"*", "?"} & set(value) else value


_SINCE = "an instant, or the name of a request (r12)"
_OUTCOMES = "ok, refused, fault, an error's name, or a status such as 404 or 4xx"
_BY_NAME = "an object of names, each with a glob of its value, or with null where it must be absent"
_BY_PATH = "an object of paths, each with a glob or another JSON value"

OUTCOME_WORDS = several(Kind({"type": "string"}, _outcome, says=_OUTCOMES), _GLOBS)
SINCE = Kind(
    {"type": "string"},
    _since,
    lambda since: wire(since) if isinstance(since, datetime) else f"r{since}",
    says=f"{_SINCE}, after which it came",
)
GLOBS_BY_NAME = Kind(
    {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    _by_name,
    lambda value: {name: None if glob is None else glob.text for name, glob in value},
    _BY_NAME,
)
GLOBS_BY_PATH = Kind(
    {"type": "object"}, _by_path, lambda value: {path.text: plain(wanted) for path, wanted in value}, _BY_PATH
)
