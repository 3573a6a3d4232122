"""The control interface accepts the names of its document and no others.

Every test client checks that answers have only documented keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema_rs import ValidationError

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, InProcess
from tests.documented import document
from tests.registry import REGISTRY

ROWS = [
    (path, method)
    for path, row in document("control").content["paths"].items()
    for method, said in row.items()
    if "event-stream" not in json.dumps(said)
]
#: Something of every type: some name will be refused for it, but none as unknown.
ANYTHING: tuple[Any, ...] = ("x", 1, {})


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


def test_control_accepts_the_documented_names_and_no_other(subtests: pytest.Subtests) -> None:
    for path, method in ROWS:
        with subtests.test(path=path, method=method):
            sandbox = Sandbox(REGISTRY)  # some requests replace its world
            for place, name in names(path, method):
                for value in ANYTHING:
                    answer = ask(sandbox, path, method, {name: value}, place)
                    assert answer.status < 500
                    assert not unknown(answer, name), f"{place}: {name}"
            place = "query" if method == "get" else "body"
            assert unknown(ask(sandbox, path, method, {"colour": "x"}, place), "colour")


def test_a_key_that_no_document_has_fails_whoever_gets_it(api: Api) -> None:
    """As a test's client sees it."""
    whole = document("v3")
    found = whole.operation("GET", "/v3/balance")
    assert found is not None
    balance = api.get("/v3/balance").json
    whole.validate(found, 200, balance)
    with pytest.raises(ValidationError, match="colour"):
        whole.validate(found, 200, [{**balance[0], "colour": "red"}])
