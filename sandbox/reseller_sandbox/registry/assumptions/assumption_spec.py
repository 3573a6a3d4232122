"""Declarations of assumptions: their names and accepted values.

Values appear in bodies, paths and headers, so no kind accepts a value that is invalid there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.values.kinds import Kind, choice, matching

_MOST_LISTED = 10


def _listed(says: str, pattern: str) -> Kind[tuple[str, ...]]:
    """Return a kind that accepts a list, or comma-separated text, of strings."""
    item = matching(pattern, f"a list of up to {_MOST_LISTED} {says}")

    def read(value: Any) -> tuple[str, ...]:
        listed = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list | tuple) or not 0 < len(listed) <= _MOST_LISTED:
            listed = (None,)
        return tuple(item.read(text.strip() if isinstance(text, str) else text) for text in listed)

    return Kind({"type": "array"}, read, says=item.says)


def _seconds(value: Any) -> int:
    text = str(value)
    if text.isascii() and text.isdigit() and len(text) < 9:
        return int(text)
    if text == "instant":
        return 0
    raise ValueError(f"must be {SECONDS.says}")


def spelt(value: object, between: str = ",") -> str:
    """Return a value as settings write it, with ``between`` between list items."""
    if isinstance(value, tuple):
        return between.join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


WORD = matching("[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "a word of letters, digits, hyphens and underscores")
KEY = replace(WORD)  # a key of bodies, for which calibration tries other words
SECONDS = Kind({"type": "integer"}, _seconds, says="a number of seconds, or instant")
VERSIONS = _listed("versions such as V2.0", r"[Vv][0-9]{1,4}\.[0-9]{1,4}")
HEADERS = _listed("names of headers", "[A-Za-z][A-Za-z0-9-]{0,63}")


def one_of(name: str, values: str, *, observed: str = "") -> Any:
    """Declare a choice among comma-separated ``values``. The first is the default."""
    words = choice(*values.split(", "))
    return free(name, replace(words, says=f"one of {values}"), values.partition(", ")[0], observed=observed)


def switch(name: str, default: bool, *, observed: str = "") -> Any:
    """Declare a choice between true and false."""
    values = (default, not default)
    words = choice(*(spelt(value) for value in values))
    kind = Kind(
        {"type": "boolean", "enum": values},
        lambda raw: words.read(spelt(raw) if isinstance(raw, bool) else raw) == "true",
        says=f"one of {', '.join(map(spelt, values))}",
    )
    return free(name, kind, spelt(default), observed=observed)


def free(name: str, kind: Kind[Any], default: str, *, observed: str = "", telling: Sequence[str] = ()) -> Any:
    """Declare a value of ``kind``.

    ``observed`` is the value that clients rely on, if it differs from the default. ``telling`` are values to
    try with a client if the kind does not list its values.
    """
    values = tuple(map(kind.read, telling)) or kind.shape.get("enum", ())
    declared = {"name": name, "kind": kind, "observed": observed or default, "telling": values}
    return field(default=kind.read(default), metadata=declared)
