"""Bad input for every operation of the control interface, made from the document that is served."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

MEGABYTE = 1 << 20

#: What is no JSON object, whoever reads it.
NO_OBJECTS: dict[str, bytes] = {
    "half an object": b"{",
    "half a string": b'{"a": "',
    "two objects": b"{} {}",
    "trailing comma": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "a string": b'"x"',
    "a number": b"1",
    "null": b"null",
    "true": b"true",
    "an array": b"[1]",
    "an array of objects": b"[{}]",
    "a form": b"a=1&b=2",
    "xml": b"<a/>",
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a key twice": b'{"a": 1, "a": 2}',
    "a number out of range": b'{"a": 1e999999}',
    "a number of many digits": b'{"a": ' + b"9" * 5000 + b"}",
    "bad UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "half a surrogate pair": b'{"a": "\\ud800"}',
    "half a surrogate pair for a key": b'{"\\udfff": 1}',
    "a control character": b'{"a": "\x00"}',
    "nothing but zeros": b"\x00\x00",
    "compressed": gzip.compress(b"{}"),
    "deep arrays": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "arrays that never end": b"[" * 500_000,
    "more than a megabyte": b'{"a": "' + b"x" * MEGABYTE + b'"}',
}

#: Objects with a key that no operation knows.
UNKNOWN: dict[str, bytes] = {
    "an unknown key": b'{"no_such_key": 1}',
    "an unknown key that holds nothing": b'{"no_such_key": null}',
    "a thousand unknown keys": json.dumps({f"no_such_key_{number}": None for number in range(1000)}).encode(),
    "an empty key": b'{"": 1}',
    "an empty key that holds nothing": b'{"": null}',
    "a key of a megabyte": b'{"' + b"k" * (MEGABYTE - 100) + b'": 1}',
    "a key with a dot": b'{"a.b": 1}',
    "a key of the language": b'{"__class__": {"__init__": 1}}',
}

#: Values that hardly any field takes; a field that does may do with them what it does.
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**31,
    -(10**30),
    1e300,
    "",
    " ",
    "\x00",
    "x" * 100_000,
    "%s{0}{a.b}%(c)d",
    "\u202e🙂\u0301",
    "../../etc/passwd",
    "*",
    "[",
    "-P1D",
    "P99999999999Y",
    "9" * 400,
    "0001-01-01T00:00:00+14:00",
    [],
    [[]],
    [None],
    ["x", 1, {}],
    {},
    {"no_such_key": 1},
    {"a": {"a": {"a": {}}}},
)

#: What may stand in a path in place of an identifier, as it is sent.
SEGMENTS = (
    "no-such-thing",
    "0",
    "-1",
    "9" * 400,
    "x" * 8000,
    "%00",
    "%0d%0aX-Evil:%201",
    "%20",
    "%ff%fe",
    "%ed%a0%80",
    "%F0%9F%99%82",
    "%2e%2e%2f%2e%2e",
    "..",
    "%7b%7d%25s",
    "r0",
    "r99999999999999999999",
    "';--",
    "null",
)

QUERIES = ("", "-1", "x", "9" * 400, "%00", "%ff", "1.5", "🙂", "[]", "P1D", "null", "x" * 4000)


def spoilt(schema: Any, components: dict[str, Any]) -> Iterator[bytes]:
    """Bodies for ``schema`` in which a field, or a field of a field, has a value it should not have."""
    for body in _spoilt(schema, components, 3):
        yield json.dumps(body).encode()


def _spoilt(schema: Any, components: dict[str, Any], depth: int) -> Iterator[Any]:
    schema = resolved(schema, components)
    properties = schema.get("properties", {})
    for name in properties:
        for value in VALUES:
            yield {name: value}
        if depth:
            for value in _spoilt(properties[name], components, depth - 1):
                yield {name: value}
    for value in VALUES if properties else ():
        yield dict.fromkeys(properties, value)
    if depth and "items" in schema:
        for value in _spoilt(schema["items"], components, depth - 1):
            yield [value]


#: Good values for keys that must be given.
GOOD = {
    "account": "main",
    "capsule": "H4sIAAAAAAAA",
    "changes": {"when": {"times": 1}},
    "contact": {"name": "X"},
    "domain": "active.com",
    "event": "expiry",
    "fixture": "zones: {}",
    "in_service": True,
    "ips": ["192.0.2.1"],
    "interface": "v3",
    "kind": "reset",
    "name": "x",
    "of": "renewal",
    "operation": "v3.*",
    "path": "status",
    "preset": "flaky",
    "request": "r1",
    "limit": 5,
    "rate": 100,
    "faults": [],
    "stage": "active",
    "target": "/v3/balance",
    "to": "2030-01-01",
    "zone": "com",
}


def misspelt(schema: Any, components: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Bodies for ``schema`` with a key that no object in it knows, in each object in turn, and its path."""
    schema = resolved(schema, components)
    properties = schema.get("properties", {})
    required = {name: properties[name].get("const", GOOD[name]) for name in schema.get("required", ())}
    if "kind" in properties and not path:  # a rule of faults, one way or the other
        required = {"kind": GOOD["kind"]}
    for one in (one for one in schema.get("oneOf", ()) if one.keys() != {"required"}):
        yield from misspelt(one, components, path)
    if "items" in schema:
        for at, body in misspelt(schema["items"], components, path):
            yield at, [body]
    if schema.get("additionalProperties") is False or (not path and schema.get("type") == "object"):
        yield path, {**required, "no_such_key": None}
    for name, inner in properties.items():
        for at, body in misspelt(inner, components, f"{path}.{name}"):
            yield at, {**required, name: body}


def resolved(schema: Any, components: dict[str, Any]) -> dict[str, Any]:
    """``schema``, or the component that it refers to."""
    reference = schema.get("$ref") or next(
        (one["$ref"] for one in schema.get("allOf", ()) if "$ref" in one), ""
    )
    return dict(components["schemas"][reference.rpartition("/")[2]] if reference else schema)


def body_schema(operation: dict[str, Any]) -> Any:
    """What an operation takes for a body; an empty schema where it takes none."""
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema", {})
