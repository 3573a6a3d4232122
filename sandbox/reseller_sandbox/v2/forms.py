"""Form-encoded bodies as PHP writes and reads them: ``ns[add][0]=ns1.example.com``."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

from reseller_sandbox.core.refusals import MALFORMED_BODY, Refused

_MOST_PAIRS = 1000
_DEEPEST = 5
_KEY = re.compile(r"[^\[\]]+(?:\[[^\[\]]*\])*")
_PART = re.compile(r"\[([^\[\]]*)\]")


class FormText(str):
    """Text from a form, where a number has no other way to be written."""

    __slots__ = ()


def read_form(body: bytes) -> dict[str, Any]:
    """Return the object that a form-encoded body stands for; keys in brackets are objects and arrays.

    Refuse with ``malformed_body``.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PAIRS
        )
    except UnicodeDecodeError:
        raise Refused(MALFORMED_BODY, problem="it is not a form in UTF-8") from None
    except ValueError:
        raise Refused(MALFORMED_BODY, problem=f"it has more than {_MOST_PAIRS} fields") from None
    whole: dict[str, Any] = {}
    for key, value in pairs:
        _place(whole, key, FormText(value))
    return {key: _arrays(value) for key, value in whole.items()}


def _place(whole: dict[str, Any], key: str, value: FormText) -> None:
    if not _KEY.fullmatch(key):
        raise Refused(MALFORMED_BODY, problem=f"the key {key[:60]!r} is no name with parts in brackets")
    first, *inner = [key.partition("[")[0], *_PART.findall(key)]
    if len(inner) > _DEEPEST:
        raise Refused(MALFORMED_BODY, problem=f"the key {key[:60]!r} is nested too deeply")
    at, part = whole, first
    for following in inner:
        at = at.setdefault(part, {})
        if not isinstance(at, dict):
            raise _twice(key)
        part = following or str(len(at))
    if part in at:
        raise _twice(key)
    at[part] = value


def _twice(key: str) -> Refused:
    return Refused(MALFORMED_BODY, problem=f"the key {key[:60]!r} comes twice, or as both a value and more")


def _arrays(value: Any) -> Any:
    """Return the same with an array in place of each object whose keys are all numbers."""
    if not isinstance(value, dict):
        return value
    if all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
        return [_arrays(value[key]) for key in sorted(value, key=int)]
    return {key: _arrays(inner) for key, inner in value.items()}
