"""Wrong input to every control operation, over a real socket: a JSON answer, and never a failure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, Socket
from tests.documented import ID, document, documented
from tests.registry import REGISTRY
from tests.wrong import BROKEN_BODIES, PARTS, VALUES, encoded

OPERATIONS = [
    (operation[ID], method.upper(), path, operation)
    for path, operations in document("control").content["paths"].items()
    for method, operation in operations.items()
]
IDS = [name for name, *_ in OPERATIONS]
WRITING = [row for row in OPERATIONS if row[1] != "GET"]


@pytest.fixture(scope="module")
def thrown_away() -> Iterator[tuple[Sandbox, str]]:
    """A server of its own, since control may do anything to it."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


@pytest.fixture
def control(thrown_away: tuple[Sandbox, str]) -> Iterator[Api]:
    """A client of that server."""
    sandbox, url = thrown_away
    sandbox.engine.start_over()
    account = sandbox.account()
    socket = Socket(url)
    yield Api(documented(socket), url, account.key, account.secret)
    socket.close()


def filled(path: str, part: str = "x") -> str:
    """The path with its placeholders filled."""
    import re

    return re.sub(r"\{\w+\}", lambda _: part, path)


def properties(operation: Any) -> list[str]:
    """The keys that an operation's body may have."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document("control").content["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return list(schema.get("properties", {}))


@pytest.mark.parametrize(("name", "method", "path", "operation"), WRITING, ids=[row[0] for row in WRITING])
def test_a_broken_body_is_refused(control: Api, name: str, method: str, path: str, operation: Any) -> None:
    """By every operation that does something, those that take an empty one too."""
    for kind, raw in BROKEN_BODIES.items():
        answer = control.call(method, filled(path), raw)
        assert 400 <= answer.status < 500, (kind, answer.raw[:300])
        assert answer.error, kind


@pytest.mark.parametrize(("name", "method", "path", "operation"), WRITING, ids=[row[0] for row in WRITING])
def test_a_wrong_value_does_no_harm(control: Api, name: str, method: str, path: str, operation: Any) -> None:
    """In the place of any key, and with a key that nobody knows."""
    for key in [*properties(operation), "no_such_key"]:
        for value in VALUES:
            answer = control.call(method, filled(path), encoded({key: value}))
            assert answer.status < 500, (key, value, answer.raw[:300])
            assert answer.json is not None


@pytest.mark.parametrize(("name", "method", "path", "operation"), OPERATIONS, ids=IDS)
def test_a_wrong_path_or_query_does_no_harm(
    control: Api, name: str, method: str, path: str, operation: Any
) -> None:
    """Whatever stands in the place of a name or a number."""
    from urllib.parse import quote

    queried = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    for part in PARTS:
        query = "&".join(f"{name}={quote(part, safe='%')}" for name in [*queried, "x"])
        answer = control.call(method, f"{quote(filled(path, part), safe='/%')}?{query}")
        assert answer.status < 500, (part, answer.raw[:300])
        assert answer.json is not None
