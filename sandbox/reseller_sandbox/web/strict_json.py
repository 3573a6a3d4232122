"""JSON read strictly and written compactly.

Numbers with a fraction become ``Decimal``, so that a price keeps every digit. Values outside standard
JSON are refused with their position: NaN, a repeated key, bad UTF-8, half a surrogate pair.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import msgspec

from reseller_sandbox.registry.stepwise import json_pieces


class BadJson(Exception):
    """Raised for bytes that are not JSON. The message states the problem and its position."""


def read(raw: bytes) -> Any:
    """Return the value of the JSON text ``raw``, or raise ``BadJson``."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJson(f"byte {error.start} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise BadJson("it begins with a byte order mark, which JSON does not have")
    try:
        value = _decode(text)
        if "\\ud" in text or "\\uD" in text:
            _encode(value)  # fails if a string has half a surrogate pair
    except json.JSONDecodeError as error:
        problem = (error.msg[:1].lower() + error.msg[1:]).removesuffix(" at")
        place = f"line {error.lineno}, column {error.colno}"
        raise BadJson(f"it is not JSON: {problem} at {place}") from None
    except UnicodeEncodeError:
        raise BadJson("a string in it holds half a surrogate pair") from None
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except ValueError:
        raise BadJson("a number in it has too many digits") from None
    return value


def write(value: Any) -> bytes:
    """Return ``value`` as compact UTF-8 JSON, keys in the order they come in."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # half a surrogate pair
        return write_in_pieces(value)


def write_in_pieces(value: Any) -> bytes:
    """Return the same as ``write`` without a long call into C that blocks threads."""
    return b"".join([piece.encode("utf-8", "backslashreplace") for piece in json_pieces(value, _text)])


def _decimal(digits: str) -> Decimal:
    if len(digits) > 100:
        raise BadJson("a number in it has too many digits")
    number = Decimal(digits)
    if number.is_finite() and abs(number.adjusted()) < 100:
        return number
    raise BadJson(f"the number {digits} is out of range")


def _reject_constant(name: str) -> None:
    raise BadJson(f"it is not JSON: {name} is not a JSON value")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise BadJson(f"the key {key[:60]!r} comes twice in one object")
    return value


def _text(value: Any) -> str:
    """Return ``value`` as JSON. Half a surrogate pair in a string stays one."""
    try:
        return _encode(value).decode("utf-8")
    except UnicodeEncodeError:
        return _encode_with_surrogates(value)


def _default(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


_encode = msgspec.json.Encoder(decimal_format="number").encode
_encode_with_surrogates = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_default).encode

# Its hooks for objects let other threads run.
_decode = json.JSONDecoder(
    parse_float=_decimal, parse_constant=_reject_constant, object_pairs_hook=_object
).decode
