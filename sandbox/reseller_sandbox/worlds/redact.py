"""Records and requests as JSON values, without their secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any
from urllib.parse import parse_qsl

from reseller_sandbox.registry.model import ScheduledAction
from reseller_sandbox.registry.state import Change
from reseller_sandbox.server.json_text import load_json
from reseller_sandbox.server.secrecy import MASK, Secrecy, is_key
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.matching import MATCH, Match
from reseller_sandbox.values.parameters import field_names, is_record

#: The name of a part of a form with files, in the head of the part, and the end of that head.
_NAME_OF_PART = re.compile(r'\bname\*?="?([^";\r\n]*)')
_END_OF_HEAD = re.compile(r"\r?\n\r?\n")
#: The first boundary of such a form. Some text can precede it.
_BOUNDARY = re.compile(r"^--[^\s]+(?: [^\s]+)*", re.MULTILINE)
_FORM = re.compile(r"[^\s={}\"]+=")

#: The maximum number of headers of one request that the journal keeps.
MOST_HEADERS = 40
#: The maximum number of characters of a header that the journal shows.
LONGEST_HEADER = 200
#: The maximum number of characters of a header's value that the journal keeps.
KEPT_OF_A_HEADER = 1000

#: The minimum length of a secret that is masked inside other text. A shorter secret would match everywhere.
SHORTEST = 4


def masked(
    value: object,
    secrecy: Secrecy,
    secrets: Iterable[str] = (),
    own: AbstractSet[str] = frozenset(),
    instead: Callable[[object, str], str] = lambda _, shown: shown,
) -> Any:
    """Return the JSON ``value`` with its secret fields and all strings in ``secrets`` masked.

    The values in ``own`` stay. If ``own`` is not empty, v3 keys are secrets too. ``instead`` is called with
    each masked part and its masked form, and returns the replacement.
    """
    known = sorted(
        {secret for secret in secrets if len(secret) >= SHORTEST}, key=lambda secret: (-len(secret), secret)
    )

    def without(value: object, name: str = "") -> object:
        is_hidden = secrecy.is_secret(name) or (own and is_key(name))
        if is_hidden and isinstance(value, Mapping) and value.keys() == {"before", "after"}:
            return {key: without(inner, name) for key, inner in value.items()}  # the change of a field
        if is_hidden and value not in (None, "") and not (own and own >= set(texts(value))):
            return instead(value, MASK) if value != MASK else value
        if isinstance(value, Mapping):
            return {key: without(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [without(item) for item in value]
        if not isinstance(value, str) or value in own:
            return value
        if isinstance(value, _Bare):
            return instead(value, MASK)
        shown = secrecy.text_masked(value, known)
        return instead(value, shown) if shown != value else value

    return without(value)


def secrets_in(value: object, secrecy: Secrecy, *, keys: bool = False) -> Iterator[str]:
    """Yield the secrets in a JSON value. With ``keys``, v3 API keys count as secrets too."""
    if isinstance(value, _Bare):
        yield str(value)
    elif isinstance(value, Mapping):
        for key in value:
            if secrecy.is_secret(str(key)) or (keys and is_key(str(key))):
                yield from texts(value[key])
            else:
                yield from secrets_in(value[key], secrecy, keys=keys)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, secrecy, keys=keys)


def texts(value: object) -> Iterator[str]:
    """Yield each string and number in a JSON value, as a string."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


class _Bare(str):
    """A string without a name that is the whole body of a request. It counts as a secret."""

    __slots__ = ()


def read_request(raw: bytes) -> object:
    """Parse the body of a request as ``read`` does. A bare JSON string counts as a secret."""
    value = read(raw)
    return _Bare(value) if isinstance(value, str) and raw.lstrip().startswith(b'"') else value


def read(raw: bytes) -> Any:
    """Parse the body of a request or response as JSON, else as a form, else as text.

    An empty body is None. Text with escapes, which could hide the name of a secret, is replaced by its
    length.
    """
    if not raw.strip():
        return None
    try:
        return load_json(raw, parse_constant=str, parse_float=_number)
    except ValueError:
        text = raw.decode("utf-8", "replace")
    if _FORM.match(text):
        return _by_name(parse_qsl(text, keep_blank_values=True))
    if (first := _BOUNDARY.search(text)) and (parts := _parts(text, first[0])):
        return _by_name(parts)
    if any(escape in text for escape in ("\\u", "%", "\0")):
        return f"<{len(raw)} bytes that are not JSON>"
    return text


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Return the value of each name, or the list of its values."""
    named: dict[str, list[str]] = {}
    for name, value in pairs:
        named.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in named.items()}


def _parts(text: str, boundary: str) -> list[tuple[str, str]]:
    """Return the name and the value of each part of a body with the type ``multipart/form-data``."""
    parts = (_END_OF_HEAD.split(part, maxsplit=1) for part in text.split(boundary))
    named = ((_NAME_OF_PART.search(head), rest) for head, *rest in parts if rest)
    return [(name[1], rest[0].removesuffix("\n").removesuffix("\r")) for name, rest in named if name]


def _number(digits: str) -> float | str:
    """Return ``digits`` as a float, or unchanged if the number is too large for a float."""
    number = float(digits)
    return number if isfinite(number) else digits


def shortened(raw: bytes, limit: int, secrecy: Secrecy) -> bytes:
    """Return the first ``limit`` bytes of ``raw`` with its secrets masked."""
    return encoded(masked(read(raw), secrecy))[:limit]


def encoded(value: object) -> bytes:
    """Convert a result of ``read`` back to a body."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")


def plain(value: object) -> Any:
    """Convert any ``value`` to a JSON value, with its secrets.

    Instants and money are written as in the API. Records become objects, and sets are sorted. All other
    values become strings, so that any fact of a refusal can be shown.
    """
    match value:
        case None | bool() | int():
            return value
        case float() if isfinite(value):
            return value
        case Decimal() if value.is_finite():
            return money.write(value)
        case datetime():
            return wire(value)
        case date():
            return value.isoformat()
        case set() | frozenset():
            return sorted(map(plain, value), key=lambda item: (type(item).__name__, str(item)))
        case Match():
            return MATCH.write(value)
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    if is_record(value):
        return {name: _field(name, getattr(value, name)) for name in field_names(value)}
    return str(value)


def _field(name: str, value: Any) -> object:
    # A scheduled action has its arguments as pairs of name and value.
    return plain(dict(value) if name == "parameters" and value is not None else value)


def secrets_of(record: object, secrecy: Secrecy) -> Iterator[str]:
    """Yield the secret fields of a record, and the secret arguments of a scheduled action."""
    if is_record(record):
        arguments = record.parameters if isinstance(record, ScheduledAction) else ()
        fields = ((name, getattr(record, name)) for name in field_names(record))
        yield from (value for name, value in (*fields, *arguments) if secrecy.is_secret(name))


def shown(change: Change, secrecy: Secrecy) -> dict[str, Any]:
    """Return the change of a record as JSON, with the old and new value of each field.

    Secrets are masked. ``name`` is the name of a record whose key is a number.
    """
    before, after = change.before, change.after
    kind = "created" if before is None else "deleted" if after is None else "changed"
    some = after if before is None else before
    altered = {}
    for name in field_names(some):
        old, new = (None if record is None else getattr(record, name) for record in (before, after))
        if kind != "changed" or old != new:
            altered[name] = {"before": _field(name, old), "after": _field(name, new)}
    return {
        "table": change.table,
        "key": plain(change.key),
        "name": getattr(some, "name", None),
        "change": kind,
        "fields": masked(altered, secrecy),
    }
