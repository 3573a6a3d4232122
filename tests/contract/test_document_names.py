"""What a document calls a thing is what the server takes and what it answers: every name of every row.

That answers have no other keys than the documented ones is held for each answer that any test gets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema_rs import ValidationError

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, InProcess
from tests.documented import ID, document
from tests.powers.doors import operation
from tests.registry import REGISTRY

ROWS = [
    (path, method)
    for path, row in document("control").content["paths"].items()
    for method, said in row.items()
    if "event-stream" not in json.dumps(said)
]
#: Something of every type: some name will be refused for it, but none as unknown.
ANYTHING: tuple[Any, ...] = ("x", 1, True, [], {})


@pytest.fixture
def own() -> Sandbox:
    """A sandbox for this test alone, for what is tried may well replace its world."""
    return Sandbox(REGISTRY)


def names(path: str, method: str) -> Iterator[tuple[str, str]]:
    """Where each thing that an operation can be told belongs, and its name."""
    content = document("control").content
    said = content["paths"][path][method]
    for one in said["parameters"]:
        if one["in"] == "query":
            yield "query", one["name"]
    if "requestBody" in said:
        schema = said["requestBody"]["content"]["application/json"]["schema"]
        if "$ref" in schema:
            schema = content["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        yield from (("body", name) for name in schema.get("properties", {}))


def ask(sandbox: Sandbox, path: str, method: str, told: dict[str, Any], place: str) -> Answer:
    """What control answers to what it is told."""
    target = path.replace("{document}", "v3.json").replace("{", "").replace("}", "")
    if place == "query":
        target += "?" + "&".join(f"{name}={quote(json.dumps(value))}" for name, value in told.items())
    body = json.dumps(told).encode() if place == "body" else b""
    return InProcess(sandbox.app)(method.upper(), target, [JSON], body)


def unknown(answer: Answer, name: str) -> bool:
    """Whether a name is refused because nothing has it."""
    return answer.status >= 400 and f"{name} is not known" in answer.message


@pytest.mark.parametrize(("path", "method"), ROWS)
def test_control_takes_what_its_document_names(own: Sandbox, path: str, method: str) -> None:
    """Under that name; whatever is wrong with the value, it is not that nobody knows the name."""
    for place, name in names(path, method):
        for value in ANYTHING:
            answer = ask(own, path, method, {name: value}, place)
            assert answer.status < 500
            assert not unknown(answer, name), f"{place}: {name}"


@pytest.mark.parametrize(("path", "method"), ROWS)
def test_control_takes_nothing_else(own: Sandbox, path: str, method: str) -> None:
    """Neither the name that a field has in the code, nor any other."""
    known = {name for _, name in names(path, method)}
    said = document("control").content["paths"][path][method]
    code = {one.name for one in _parameters(said[ID])} | {"colour"}
    for name in code - known - set(path.split("/")):
        place = "query" if method == "get" else "body"
        if f"{{{name}}}" not in path:
            assert unknown(ask(own, path, method, {name: "x"}, place), name), name


def _parameters(id_: str) -> tuple[Any, ...]:
    """What the power's method takes, by its names in Python."""
    try:
        return operation(id_.removeprefix("control.")).parameters
    except (KeyError, StopIteration):  # the documents themselves are no power
        return ()


def test_a_sandbox_outlives_what_takes_its_modules_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytester does that after each run in its process, to whatever was imported meanwhile."""
    client = Sandbox().client()
    monkeypatch.delitem(sys.modules, "reseller_sandbox.control.documents")
    for name in ("v3", "v2", "control"):
        assert client.get(f"/_sandbox/openapi/{name}.json").status_code == 200


def test_a_key_that_no_document_has_fails_whoever_gets_it(api: Api) -> None:
    """As a test's client sees it."""
    whole = document("v3")
    found = whole.operation("GET", "/v3/balance")
    assert found is not None
    balance = api.get("/v3/balance").json
    whole.validate(found, 200, balance)
    with pytest.raises(ValidationError, match="colour"):
        whole.validate(found, 200, [{**balance[0], "colour": "red"}])
