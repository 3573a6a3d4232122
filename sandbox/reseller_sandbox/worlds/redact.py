"""Keeping secrets out of what is shown of requests: their headers and their bodies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from math import isfinite
from typing import Any
from urllib.parse import parse_qsl

from reseller_sandbox.server.secrecy import MASK, host_masked, is_key, is_secret, text_masked, value_masked

_FORM = re.compile(r"[^\s={}\"]+=")

#: How many headers are kept of a request, and how many characters of each.
MOST_HEADERS = 40
_LONGEST_HEADER = 200
KEPT_OF_A_HEADER = 1000

#: A secret this short is not looked for in other texts: it would be found everywhere.
SHORTEST = 4


def masked(value: Any, secrets: Iterable[str] = (), own: AbstractSet[str] = frozenset()) -> Any:
    """Return a JSON value with every secret in it masked, and ``secrets`` wherever they stand.

    With ``own``, those stay, and v3 keys are secrets too.
    """
    known = sorted({one for one in secrets if len(one) >= SHORTEST}, key=lambda one: (-len(one), one))
    return _masked(value, known, own)


def _masked(value: Any, secrets: list[str], own: AbstractSet[str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _masked_under(str(key), value[key], secrets, own) for key in value}
    if isinstance(value, list | tuple):
        return [_masked(item, secrets, own) for item in value]
    return text_masked(value, secrets) if isinstance(value, str) and value not in own else value


def _masked_under(name: str, value: Any, secrets: list[str], own: AbstractSet[str]) -> Any:
    is_hidden = is_secret(name) or (own and is_key(name))
    if is_hidden and value not in (None, "") and not (own and own >= set(texts(value))):
        return MASK
    return _masked(value, secrets, own)


def cut(sent: Mapping[str, str]) -> dict[str, str]:
    """Return as many of a request's headers as are worth keeping, and as much of each."""
    kept = islice(sent.items(), MOST_HEADERS)
    return {name[:_LONGEST_HEADER]: value[:KEPT_OF_A_HEADER] for name, value in kept}


def headers(sent: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a request's headers without their secrets, and as much of each as is worth showing."""
    for spelt, value in sent.items():
        name = spelt.replace("_", "-").title() if spelt.isupper() else spelt  # as WSGI spells it
        shown = value_masked(name, value)
        yield (
            name[:_LONGEST_HEADER],
            (host_masked(shown) if name.lower() == "host" else shown)[:_LONGEST_HEADER],
        )


def secrets_in(value: Any, *, keys: bool = False) -> Iterator[str]:
    """Yield the secrets that a JSON value holds; with ``keys``, v3 keys too."""
    if isinstance(value, Mapping):
        for key in value:
            if is_secret(str(key)) or (keys and is_key(str(key))):
                yield from texts(value[key])
            else:
                yield from secrets_in(value[key], keys=keys)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, keys=keys)


def texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def read(raw: bytes) -> Any:
    """Return a body as a value: its JSON, the pairs of a form, else text; None for an empty one.

    Text with escapes, which could hide the name of a secret, is replaced by its length.
    """
    if not raw.strip():
        return None
    try:
        return json.loads(raw, parse_constant=str, parse_float=_number)
    except (ValueError, RecursionError):
        text = raw.decode("utf-8", "replace")
    if _FORM.match(text):
        pairs: dict[str, list[str]] = {}
        for name, value in parse_qsl(text, keep_blank_values=True):
            pairs.setdefault(name, []).append(value)
        return {name: values[0] if len(values) == 1 else values for name, values in pairs.items()}
    if any(escape in text for escape in ("\\u", "%", "\0")):
        return f"<{len(raw)} bytes that are not JSON>"
    return text


def _number(digits: str) -> float | str:
    """Return the number, or its digits where it is too large for a float."""
    number = float(digits)
    return number if isfinite(number) else digits


def shortened(raw: bytes, limit: int) -> bytes:
    """Return the first ``limit`` bytes of ``raw`` with its secrets masked."""
    value = masked(read(raw))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")[:limit]
