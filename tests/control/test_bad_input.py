"""Invalid requests to every control operation get a JSON answer over a socket, never an internal error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Socket, encoded
from tests.control.interfaces import resolved
from tests.documented import ID, document, documented
from tests.registry import start_over
from tests.wrong import BROKEN_BODIES, PARTS, VALUES

OPERATIONS = [
    (method.upper(), path, operation)
    for path, operations in document("control").content["paths"].items()
    for method, operation in operations.items()
]


def filled(path: str, part: str = "x") -> str:
    return re.sub(r"\{\w+\}", lambda _: part, path)


def properties(operation: Any) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return list(resolved(content.get("schema", {})).get("properties", {}))


def some(items: Sequence[Any], number: int, every: int) -> Sequence[Any]:
    """Return the items ``number``, ``number + every`` and so on. Consecutive numbers return all items."""
    return items[number % every :: every]


def test_invalid_requests_get_documented_errors(served: Sandbox, url: str, subtests: pytest.Subtests) -> None:
    """Broken bodies are always refused. Wrong values and unknown keys can be accepted."""
    socket = Socket(url)
    transport = documented(socket)

    def call(method: str, path: str, raw: bytes = b"") -> Answer:
        answer = transport(method, path, [JSON], raw)
        assert answer.status < 500, answer.raw[:300]
        assert answer.json is not None
        assert answer.status < 400 or len(answer.raw) < 8192
        return answer

    for number, (method, path, operation) in enumerate(OPERATIONS):
        with subtests.test(operation[ID]):
            start_over(served)
            if method != "GET":
                for kind, raw in some(list(BROKEN_BODIES.items()), number, 11):
                    answer = call(method, filled(path), raw)
                    assert (answer.status, answer.error) == (400, "malformed_body"), kind
                for kind in ("text/plain", "", "application/json; charset=x"):
                    answer = transport(method, filled(path), [("Content-Type", kind)], b"{")
                    assert answer.status == 400, kind
                for at, key in enumerate([*properties(operation), "no_such_key"]):
                    for value in some(VALUES, number + at, 9):
                        call(method, filled(path), encoded({key: value}))
            queried = [
                parameter["name"]
                for parameter in operation.get("parameters", ())
                if parameter["in"] == "query"
            ]
            for part in some(PARTS, number, 7):
                query = "&".join(f"{key}={quote(part, safe='%')}" for key in [*queried, "x"])
                call(method, f"{quote(filled(path, part), safe='/%')}?{query}")
    socket.close()
