"""Bad input to control in every operation: what is refused has changed nothing, and the refusal is short."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.documented import document
from tests.security.conftest import Guarded, filled, operations
from tests.wrong import BROKEN_BODIES

WRITING = [row for row in operations() if row[0] != "GET"]

#: The most bytes that a refusal takes, however long the request.
LONGEST = 8192

#: Objects with a key that no operation knows, and bodies that are no JSON.
UNKNOWN = (
    b'{"no_such_key": 1}',
    b'{"no_such_key": null}',
    json.dumps({f"no_such_key_{number}": None for number in range(1000)}).encode(),
    b'{"": null}',
    b'{"' + b"k" * ((1 << 20) - 100) + b'": 1}',
    b'{"a.b": 1}',
    b'{"__class__": {"__init__": 1}}',
    *BROKEN_BODIES.values(),
)

#: Good values for keys that must be given.
GOOD = {
    **{
        "account": "main",
        "by": "P1D",
        "recording": "H4sIAAAAAAAA",
        "changes": {"when": {"times": 1}},
        "contact": {"name": "X"},
    },
    **{"domain": "active.com", "event": "expiry", "fixture": "zones: {}", "in_service": True},
    **{"ips": ["192.0.2.1"], "interface": "v3", "kind": "reset", "name": "x", "of": "renewal"},
    **{"operation": "v3.*", "path": "status", "preset": "flaky", "request": "r1", "limit": 5, "rate": 100},
    **{"faults": [], "stage": "active", "target": "/v3/balance", "to": "2030-01-01", "zone": "com"},
}

COMPONENTS = document("control").content["components"]["schemas"]


def resolved(schema: Any) -> dict[str, Any]:
    references = [part["$ref"] for part in (schema, *schema.get("allOf", ())) if "$ref" in part]
    return dict(COMPONENTS[references[0].rpartition("/")[2]] if references else schema)


def body_schema(method: str, path: str) -> Any:
    """The schema of an operation's body; empty for an operation without a body."""
    operation = document("control").content["paths"][path][method.lower()]
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema", {})


def misspelt(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Bodies for ``schema`` with a key that no object in it knows, in each object in turn, and its path."""
    schema = resolved(schema)
    properties = schema.get("properties", {})
    required = {name: properties[name].get("const", GOOD[name]) for name in schema.get("required", ())}
    if "kind" in properties and not path:  # a rule of faults: its kind, and no preset
        required = {"kind": GOOD["kind"]}
    for option in (option for option in schema.get("oneOf", ()) if option.keys() != {"required"}):
        yield from misspelt(option, path)
    if "items" in schema:
        for at, body in misspelt(schema["items"], path):
            yield at, [body]
    if schema.get("additionalProperties") is False or (not path and schema.get("type") == "object"):
        yield path, {**required, "no_such_key": None}
    for name, inner in properties.items():
        for at, body in misspelt(inner, f"{path}.{name}"):
            yield at, {**required, name: body}


@pytest.fixture
def at(plain: Guarded) -> Iterator[Guarded]:
    """A sandbox as it began. It has to answer at the end."""
    plain.sandbox.reset(original=True)
    yield plain
    plain.sandbox.reset(original=True)
    assert plain.sandbox.client().get("/v3/balance").json[0]["balance"] == "10000.00"


def test_an_unknown_key_and_a_body_without_an_object_are_refused(at: Guarded, subtests) -> None:
    """A key is refused by its name in every object; each operation has some of the other bodies."""
    before = at.sandbox.export(), at.sandbox.assumptions.list(), at.sandbox.snapshots.list()
    for number, (method, path) in enumerate(WRITING):
        with subtests.test(method=method, path=path):
            for place, body in misspelt(body_schema(method, path)):
                answer = at.send(method, filled(path), json.dumps(body).encode())
                assert (answer.status, answer.error) == (400, "invalid_parameter"), place
                assert "no_such_key" in answer.message, place
            for raw in UNKNOWN[number % 8 :: 8]:
                answer = at.send(method, filled(path), raw)
                assert answer.status == 400, raw[:80]
                assert len(answer.raw) < LONGEST
            for kind in ("text/plain", "", "application/json; charset=x"):
                assert at.send(method, filled(path), b"{", Content_Type=kind).status == 400
    assert (at.sandbox.export(), at.sandbox.assumptions.list(), at.sandbox.snapshots.list()) == before


def test_the_prefix_of_an_unknown_world_is_refused(at: Guarded) -> None:
    for name in ("..", "%00", "%ff", "x" * 8000, "", "default%00", "🙂"):
        answer = at.send("GET", f"/_worlds/{quote(name, safe='%')}/_sandbox/health")
        assert (answer.status, answer.error) == (404, "unknown_world")
