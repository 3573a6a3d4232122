"""The kinds of values in a capsule: texts of any length, bytes, headers, and whatever JSON has."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from reseller_sandbox.core.values import MAPPING, Kind, mapping, number, whole

_MOST = 10**15


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given
    raise ValueError("must be text")


def _texts(given: Any) -> tuple[str, ...]:
    if isinstance(given, list | tuple):
        return tuple(map(_text, given))
    raise ValueError("must be a list of texts")


def _bytes(given: Any) -> bytes:
    if isinstance(given, bytes):
        return given
    if isinstance(given, str):
        return given.encode("utf-8", "surrogatepass")
    with suppress(ValueError):
        ((name, told),) = mapping(given).items()
        if name == "base64":
            return b64decode(_text(told), validate=True)
    raise ValueError("must be text, or an object with base64")


def _as_told(raw: bytes) -> Any:
    """Return bytes as text where they are UTF-8, else in Base64."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(raw).decode()}


def _pairs(given: Any) -> tuple[tuple[str, str], ...]:
    pairs = [_texts(one) for one in given] if isinstance(given, list | tuple) else [()]
    if all(len(one) == 2 for one in pairs):
        return tuple((name, value) for name, value in pairs)
    raise ValueError("must be pairs of a name and a value")


def _content(given: Any) -> bytes:
    if isinstance(given, bytes):
        return given
    try:
        return given.read_bytes() if isinstance(given, Path) else b64decode(_text(given), validate=True)
    except OSError as problem:
        raise ValueError(f"cannot be read: {problem}") from None
    except ValueError:
        raise ValueError("must be a file's content in Base64") from None


def _keys(given: Any) -> Mapping[str, tuple[int, str]]:
    found = {}
    for key, pair in mapping(given).items():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError("must be pairs of an account's number and a secret, by key")
        found[key] = (_COUNT.read(pair[0]), _text(pair[1]))
    return found


def _tokens(given: Any) -> Mapping[str, int]:
    return {token: _COUNT.read(number) for token, number in mapping(given).items()}


_COUNT = whole(0, _MOST)

Line = Annotated[str, Kind({"type": "string"}, _text)]
Lines = Annotated[tuple[str, ...], Kind({"type": "array"}, _texts, list)]
Raw = Annotated[bytes, Kind({"oneOf": [{"type": "string"}, {"type": "object"}]}, _bytes, _as_told)]
Pairs = Annotated[
    tuple[tuple[str, str], ...], Kind({"type": "array"}, _pairs, lambda told: [list(one) for one in told])
]
Keys = Annotated[
    Mapping[str, tuple[int, str]],
    Kind({"type": "object"}, _keys, lambda told: {key: list(one) for key, one in told.items()}),
]
Tokens = Annotated[Mapping[str, int], Kind({"type": "object"}, _tokens, dict)]
Count = Annotated[int, _COUNT]
Seconds = Annotated[float, number(0, _MOST)]
Told = Annotated[Mapping[str, Any], MAPPING]

#: A whole capsule: its bytes, the same in Base64, or the path of a file, which the caller's side reads.
CONTENT = Kind(
    {"type": "string", "contentEncoding": "base64", "contentMediaType": "application/gzip"},
    _content,
    lambda content: b64encode(content).decode(),
)
Content = Annotated[bytes | str | Path, CONTENT]
