"""The OpenAPI document of v3: valid, complete, and true of the requests and answers of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.contract.test_v3 import CASES, OPERATIONS
from tests.documented import Document
from tests.documented import document as served_document


@pytest.fixture(scope="module")
def document() -> Document:
    """The document as it is served."""
    return served_document("v3")


@pytest.mark.parametrize("name", ["v3", "control"])
def test_a_document_is_valid(wire: Api, name: str) -> None:
    """By the OpenAPI specification's own schema."""
    content = wire.get(f"/_sandbox/openapi/{name}.json").json
    validate(content)
    ids = [row["operationId"] for path in content["paths"].values() for row in path.values()]
    assert len(set(ids)) == len(ids) > 5
    paths = {re.sub(r"\{\w+\}", "{}", path) for path in content["paths"]}
    assert len(paths) == len(content["paths"]), "a path under two names of its parameters"


@pytest.mark.parametrize("name", ["v3", "v2", "control"])
def test_no_shape_takes_back_what_another_part_of_it_allows(wire: Api, name: str) -> None:
    """A type beside alternatives would rule out all of another type."""

    def parts(shape: Any) -> Iterator[dict[str, Any]]:
        if isinstance(shape, dict):
            yield shape
        for part in shape.values() if isinstance(shape, dict) else shape if isinstance(shape, list) else ():
            yield from parts(part)

    found = list(parts(wire.get(f"/_sandbox/openapi/{name}.json").json))
    choices = [(shape, shape[key]) for shape in found for key in ("oneOf", "anyOf") if key in shape]
    both = [others for shape, others in choices if "type" in shape]
    assert choices
    assert [others for others in both if any(other.keys() != {"required"} for other in others)] == []


def test_an_unknown_document_is_told_of_the_others(wire: Api) -> None:
    """By their names."""
    answer = wire.get("/_sandbox/openapi/v9.json")
    assert (answer.status, answer.error) == (404, "unknown_document")
    assert "v3.json" in answer.message


def test_every_operation_is_described(document: Document) -> None:
    """Under every path, with a summary of its own."""
    summaries = set()
    for row in OPERATIONS:
        for path in (row["path"], *row.get("also", ())):
            summary = document.content["paths"][path][row["method"].lower()]["summary"]
            assert summary.endswith(".")
        summaries.add(summary)
    assert len(summaries) == len(OPERATIONS)


def test_requests_and_answers_of_the_contract_are_described(
    document: Document, subtests: pytest.Subtests
) -> None:
    for case in CASES:
        row = next(row for row in OPERATIONS if row["id"] == case.operation)
        operation = document.operation(row["method"], case.target.partition("?")[0])
        with subtests.test(target=case.target):
            assert operation is not None
            if case.body is not None:
                document.requests(operation["requestBody"]).validate(case.body)
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            _described(document, case.shape, schema)


def _described(document: Document, shape: Any, schema: dict[str, Any]) -> None:
    if "$ref" in schema:
        schema = document.content["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(shape, list):
        _described(document, shape[0], schema["items"])
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            _described(document, inner, schema["properties"][key])


def test_a_document_names_the_headers_of_the_credentials(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, list[str]]] = [
        ({}, "v3", ["X-SVC-APIKEY", "X-SVC-SIGNATURE"]),
        ({"header_prefix": "X-Mine-"}, "v3", ["X-Mine-APIKEY", "X-Mine-SIGNATURE"]),
        ({}, "v2", ["X-Auth-Token"]),
        ({}, "control", []),
        ({"control_token": "open-sesame"}, "control", ["X-Sandbox-Token"]),
    ]
    for settings, name, headers in cases:
        with subtests.test(settings=settings, document=name):
            token = {"X-Sandbox-Token": settings.get("control_token", "")}
            client = Sandbox(**settings).app.test_client()
            shown = client.get(f"/_sandbox/openapi/{name}.json", headers=token).json
            assert shown["security"] == [{name: [] for name in headers}]
            schemes = shown["components"].get("securitySchemes", {})
            assert sorted(scheme["name"] for scheme in schemes.values()) == headers
            assert all(scheme["in"] == "header" for scheme in schemes.values())
