"""Input that is wrong in every way that can be thought of."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import reduce
from typing import Any

#: Bodies that are not the JSON object they should be.
BROKEN_BODIES: dict[str, bytes] = {
    "cut off": b'{"a": [1, 2',
    "bare word": b"nonsense",
    "single quotes": b"{'a': 1}",
    "trailing comma": b'{"a": 1,}',
    "two values": b"{}{}",
    "comment": b"{} // done",
    "string": b'"text"',
    "number": b"7",
    "null": b"null",
    "true": b"true",
    "array of objects": b"[{}]",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "huge exponent": b'{"a": 1e999999999}',
    "tiny exponent": b'{"a": 1e-999999999}',
    "long number": b'{"a": ' + b"9" * 5000 + b"}",
    "long fraction": b'{"a": 0.' + b"9" * 5000 + b"}",
    "same key twice": b'{"domain": 1, "domain": 2}',
    "same key twice inside": b'{"domain": {"domainName": "a", "domainName": "b"}}',
    "deep arrays": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep and cut off": b'{"a":[' * 100_000,
    "invalid UTF-8": b'{"a": "\xff\xfe"}',
    "overlong UTF-8": b'{"a": "\xc0\xaf"}',
    "UTF-8 surrogate": b'{"a": "\xed\xa0\x80"}',
    "lone surrogate": b'{"a": "\\ud800"}',
    "lone surrogate in a key": b'{"\\udfff": 1}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "control character": b'{"a": "\x01"}',
    "zero bytes": b"\x00" * 100,
    "form": b"domainName=a.com&years=1",
    "XML": b'<?xml version="1.0"?><a/>',
}

#: Values of every type, and the ends of their ranges.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 2**31, -(2**63), 10**400, 1.5, -0.0, 1e99),
    *("", " ", "text", "0", "\x00", "a\nb", "𝒳" * 300, "-" * 5000, "a." * 2000),
    *([], [None], [[]], ["a"] * 100, {}, {"a": {}}, {"": ""}),
)

#: What may stand in a path or a query string, encoded.
PARTS: tuple[str, ...] = (
    *("%00", "%ff%fe", "%ed%a0%80", "%2F..%2F", "..", "%", "%zz", "a" * 300, "a" * 20_000),
    *("%F0%9F%92%A9.com", "xn--a.com", "-.com", "a..com", "1.2.3.4", "%20", "{domainName}", "null", "+"),
    *("a%0d%0aX-Injected:%201", "٣"),
)


#: Characters that no text of the registry has.
CONTROL = "\0\n\r\t\x1b\x7f\x85\x9f"


def spoiled(good: Any) -> Iterator[Any]:
    """Copies of ``good``, in each of which one value, at whatever depth, is a wrong one."""
    for path in _paths(good):
        for value in VALUES:
            yield _replaced(good, path, value)


def with_control_characters(good: Any) -> Iterator[Any]:
    """Copies of ``good``, in each of which one text has a control character at its ends and inside."""
    for number, path in enumerate(_paths(good)):
        text, sign = reduce(lambda value, step: value[step], path, good), CONTROL[number % len(CONTROL)]
        if isinstance(text, str):
            yield _replaced(good, path, f"{sign}{text[:1]}{sign}{text[1:]}{sign}")


def has_control_character(export: str) -> bool:
    return any(sign in export or f"\\x{ord(sign):02x}" in export.lower() for sign in CONTROL if sign != "\n")


def _replaced(good: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = deepcopy(good)
    reduce(lambda inner, step: inner[step], path[:-1], copy)[path[-1]] = value
    return copy


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))
