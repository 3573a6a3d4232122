"""Declarations of assumptions: their names and accepted values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from reseller_sandbox.values.text_checks import shortened

_MOST_LISTED = 10


class BadAssumption(ValueError):
    """An unknown assumption, or an invalid value. The message says which."""


class ValueKind(NamedTuple):
    """A kind of value: a description of accepted values, and a reader.

    Values appear in bodies, paths and headers, so no kind accepts a value that is invalid there.
    """

    takes: str
    #: Returns None for a value that the kind does not accept.
    read: Callable[[Any], Any]
    #: All accepted values, the default first. Empty if there is no finite list.
    values: tuple[Any, ...] = ()


def _like(pattern: str) -> Callable[[Any], str | None]:
    compiled = re.compile(pattern)
    return lambda given: given if isinstance(given, str) and compiled.fullmatch(given) else None


def _listed(pattern: str) -> Callable[[Any], tuple[str, ...] | None]:
    """Return a reader for a list, or comma-separated text, of items like ``pattern``."""
    item = _like(pattern)

    def read(given: Any) -> tuple[str, ...] | None:
        listed = given.split(",") if isinstance(given, str) else given
        if not isinstance(listed, list | tuple) or not 0 < len(listed) <= _MOST_LISTED:
            return None
        items = [item(item_text.strip()) if isinstance(item_text, str) else None for item_text in listed]
        return tuple(item_text for item_text in items if item_text) if all(items) else None

    return read


def _seconds(given: Any) -> int | None:
    text = str(given)
    if text.isascii() and text.isdigit() and len(text) < 9:
        return int(text)
    return 0 if text == "instant" else None


def spelt(value: object, between: str = ",") -> str:
    """Return a value as settings write it, with ``between`` between list items."""
    if isinstance(value, tuple):
        return between.join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


_LIST = f"a list of up to {_MOST_LISTED}"
WORD = ValueKind(
    "a word of letters, digits, hyphens and underscores", _like("[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
)
SECONDS = ValueKind("a number of seconds, or instant", _seconds)
VERSIONS = ValueKind(f"{_LIST} versions such as V2.0", _listed(r"[Vv][0-9]{1,4}\.[0-9]{1,4}"))
HEADERS = ValueKind(f"{_LIST} names of headers", _listed("[A-Za-z][A-Za-z0-9-]{0,63}"))


def one_of(name: str, values: str, *, observed: str = "") -> Any:
    """Declare a choice among comma-separated ``values``. The first is the default."""
    words = values.split(", ")
    return free(name, _choice({word: word for word in words}), words[0], observed=observed)


def switch(name: str, default: bool, *, observed: str = "") -> Any:
    """Declare a choice between true and false."""
    words = {str(value).lower(): value for value in (default, not default)}
    return free(name, _choice(words), str(default).lower(), observed=observed)


def free(name: str, kind: ValueKind, default: str, *, observed: str = "") -> Any:
    """Declare a value of ``kind``.

    ``observed`` is the value that clients rely on, if it differs from the default.
    """
    declared = {"name": name, "kind": kind, "observed": observed or default}
    return field(default=kind.read(default), metadata=declared)


def _choice(words: Mapping[str, Any]) -> ValueKind:
    def read(given: Any) -> Any:
        text = str(given).lower() if isinstance(given, bool) else given
        return words.get(text) if isinstance(text, str) else None

    return ValueKind("one of " + ", ".join(words), read, tuple(words.values()))


def read(silence: Mapping[str, Any], given: object) -> Any:
    """Return the value that ``given`` stands for in an assumption.

    ``given`` is a text, or a value from YAML or JSON. Raise ``BadAssumption``.
    """
    value = silence["kind"].read(given)
    if value is None:
        raise BadAssumption(f"{silence['name']} takes {silence['kind'].takes}, not {shortened(given)}")
    return value
