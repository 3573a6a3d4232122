"""The OpenAPI document of v2.0: valid, complete, and true of the requests and errors of the contract."""

from __future__ import annotations

import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.contract.test_v2_errors import DOCUMENTED, OPERATIONS
from tests.documented import ID, document
from tests.v2.works import WORKS


def _operation(operation: str) -> dict[str, Any]:
    row = next(row for row in OPERATIONS if row["id"] == operation)
    found: dict[str, Any] = document("v2").content["paths"][row["path"]][row["method"].lower()]
    return found


def test_the_document_is_valid() -> None:
    """By the OpenAPI specification's own schema; each operation once under its id."""
    content = document("v2").content
    validate(content)
    rows = [row for path in content["paths"].values() for row in path.values()]
    assert len({row["operationId"] for row in rows}) == len(rows) >= len(WORKS)
    assert set(WORKS) <= {row[ID] for row in rows}


def test_requests_and_errors_of_the_contract_are_described(subtests: pytest.Subtests) -> None:
    for operation, ask in WORKS.items():
        with subtests.test(operation=operation):
            row = _operation(operation)
            if ask.body:
                document("v2").requests(row["requestBody"]).validate(ask.body)
            said = {
                (int(code), re.sub(r"\{(\w+)\}", r"{{ \1 }}", words))
                for code, response in row["responses"].items()
                for words in re.findall(r"^\* `(.*?)` \(", response["description"], re.MULTILINE)
            }
            contract = {(code, message) for (one, message), code in DOCUMENTED.items() if one == operation}
            assert contract <= said
            assert {code for code, _ in said - contract} <= {400, 404, 413, 415, 501}
