"""The contract's v2.0: its operations, errors and versions are served and documented."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.documented import ID, document
from tests.golden.transcripts import exchanges
from tests.v2.client import REGISTRY, connect
from tests.v2.works import CONTRACT, WORKS, documented_errors, pattern

OPERATIONS = yaml.safe_load((CONTRACT / "v2_operations.yaml").read_text("utf-8"))


def test_the_golden_file_has_each_documented_error_of_each_operation() -> None:
    """The contract documents 30 errors for 27 operations in 185 pairs."""
    documented = documented_errors()
    assert set(WORKS) == {row["id"] for row in OPERATIONS} == {operation for operation, _ in documented}
    assert (len(WORKS), len({message for _, message in documented}), len(documented)) == (27, 30, 185)
    recorded = [
        (operation[ID], exchange.status, json.loads(exchange.body)["msg"])
        for exchange in exchanges("v2")
        if (operation := document("v2").operation(exchange.method, exchange.target))
        and exchange.status >= 400
    ]
    missing = {
        (operation, message)
        for (operation, message), code in documented.items()
        if not [
            text
            for name, status, text in recorded
            if (name, status) == (operation, code) and pattern(message).fullmatch(text)
        ]
    }
    assert missing == set()


def test_the_document_describes_each_operation_and_its_errors(subtests: pytest.Subtests) -> None:
    for row in OPERATIONS:
        with subtests.test(operation=row["id"]):
            described = document("v2").content["paths"][row["path"]][row["method"].lower()]
            assert described[ID] == row["id"]
            if body := WORKS[row["id"]].body:
                document("v2").requests(described["requestBody"]).validate(body)
            errors = {
                (int(code), re.sub(r"\{(\w+)\}", r"{{ \1 }}", words))
                for code, response in described["responses"].items()
                for words in re.findall(r"^\* `(.*?)` \(", response["description"], re.MULTILINE)
            }
            contract = {
                (code, message) for (key, message), code in documented_errors().items() if key == row["id"]
            }
            assert contract <= errors
            assert {code for code, _ in errors - contract} <= {400, 404, 413, 415, 501}


def test_only_a_served_version_has_an_implementation(subtests: pytest.Subtests) -> None:
    client = connect(Sandbox(REGISTRY))
    for version, status in {
        **{"v2.0": 200, "V1.0": 501, "v2.1": 501, "V20.0": 501, "V2.00": 501},
        **{"V2": 404, "2.0": 404, "V2.0.1": 404, "Vx.y": 404, "W2.0": 404, "v3": 404},
    }.items():
        with subtests.test(version=version):
            target = f"/{version}/domain/new.com/check"
            answer = client.transport("GET", target, [("X-Auth-Token", client.token)], b"")
            assert answer.status == status
            if status == 501:
                message = "no implementation for this version"
                assert answer.json == {"code": 501, "msg": message, "status": False}
                assert answer.assumptions["v2.versions"] == "V2.0"
