"""Wrong input to every control operation, over a real socket: a JSON answer, and never a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Socket
from tests.documented import ID, document, documented
from tests.registry import REGISTRY
from tests.wrong import BROKEN_BODIES, PARTS, VALUES, encoded

OPERATIONS = [
    (operation[ID], method.upper(), path, operation)
    for path, operations in document("control").content["paths"].items()
    for method, operation in operations.items()
]


class Control:
    """A client of a server that any call may change."""

    def __init__(self, sandbox: Sandbox, socket: Socket) -> None:
        self._sandbox = sandbox
        self._transport = documented(socket)

    def call(self, method: str, path: str, raw: bytes = b"") -> Answer:
        """Send a request; the answer is JSON of a documented form, and no failure."""
        answer = self._transport(method, path, [JSON], raw)
        assert answer.status < 500, answer.raw[:300]
        assert answer.json is not None
        return answer

    def start_over(self) -> None:
        """Take the world back to how it began, and delete the others."""
        for world in list(self._sandbox.worlds)[1:]:
            self._sandbox.worlds.remove(world.name)
        self._sandbox.reset(original=True)


@pytest.fixture(scope="module")
def control() -> Iterator[Control]:
    """A client of a server for this module alone."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        socket = Socket(server.url)
        yield Control(sandbox, socket)
        socket.close()


def filled(path: str, part: str = "x") -> str:
    """Return the path with its placeholders filled."""
    return re.sub(r"\{\w+\}", lambda _: part, path)


def properties(operation: Any) -> list[str]:
    """Return the keys that an operation's body may have."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document("control").content["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return list(schema.get("properties", {}))


def some(of: Sequence[Any], number: int, every: int) -> Sequence[Any]:
    """Return one of so many; with consecutive numbers each comes up."""
    return of[number % every :: every]


@pytest.mark.parametrize("part", range(4))
def test_wrong_input_is_no_failure(control: Control, part: int, subtests: pytest.Subtests) -> None:
    """Broken bodies are refused; wrong values and unknown keys, paths and queries may be."""
    for number, (name, method, path, operation) in list(enumerate(OPERATIONS))[part::4]:
        with subtests.test(name):
            control.start_over()
            if method != "GET":
                for kind, raw in some(list(BROKEN_BODIES.items()), number, 6):
                    assert control.call(method, filled(path), raw).error, kind
                for at, key in enumerate([*properties(operation), "no_such_key"]):
                    for value in some(VALUES, number + at, 4):
                        control.call(method, filled(path), encoded({key: value}))
            queried = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            for part_ in some(PARTS, number, 4):
                query = "&".join(f"{key}={quote(part_, safe='%')}" for key in [*queried, "x"])
                control.call(method, f"{quote(filled(path, part_), safe='/%')}?{query}")


def test_each_kind_of_broken_body_is_refused(control: Control) -> None:
    for kind, raw in BROKEN_BODIES.items():
        answer = control.call("POST", "/_sandbox/clock/advance", raw)
        assert (answer.status, answer.error) == (400, "malformed_body"), (kind, answer.raw[:300])
