"""The examples of the OpenAPI documents: recorded, never typed, and still what the sandbox answers."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Socket
from tests.contract.recording import BROWSER, LONGEST, NAMES, Sender, file_of, kept, recorded
from tests.documented import document

#: Streams, pages, a browser's session, and answers that are too long to be read.
WITHOUT = {
    *("clockWatch", "eventsFollow", "journalFollow"),
    *("manual", "manualPage", "page", "pageAddresses", "pageFile", "reader", "readerFile", "openapi"),
    *("session", "sessionBegin", "sessionEnd", "forms"),
    *("adviceList", "assumptionsList", "assumptionsSet", "recordingGet", "domainZonesAll", "faultsKinds"),
    *("historyExport", "ledgerStatement"),
}


@pytest.mark.parametrize("name", NAMES)
def test_openapi_example_requests_succeed_in_order_on_a_new_server(name: str) -> None:
    order, sandbox = kept(name)["operations"], Sandbox()
    with sandbox.serve() as server, closing(Socket(server.url)) as socket:
        rows = socket("GET", f"/_sandbox/openapi/{name}.json", [], b"").json["paths"].values()
        shown = {row["operationId"]: row for methods in rows for row in methods.values()}
        sender = Sender(sandbox, socket, server.url)
        sender.prepare(name)
        answers = {key: sender.send(name, key, **_request(shown[key])) for key in order}
    wrong = {
        operation: answer.raw
        for operation, answer in answers.items()
        if answer.status != int(min(shown[operation]["responses"]))
    }
    assert wrong == {}
    assert set(shown) - set(order) <= BROWSER


def _request(operation: dict[str, Any]) -> dict[str, Any]:
    parameters = {row["name"]: row["example"] for row in operation["parameters"] if "example" in row}
    body = operation.get("requestBody", {"content": {"application/json": {}}})
    return {"parameters": parameters, "body": body["content"]["application/json"].get("example")}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_recorded_openapi_examples_equal_the_current_responses(name: str) -> None:
    before, now = file_of(name).read_text("utf-8").splitlines(), recorded(name).splitlines()
    assert [line for line in now if line not in before] == []
    assert [line for line in before if line not in now] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_and_error_has_openapi_examples_that_match_the_schemas(name: str) -> None:
    whole, shown, lacking = document(name), 0, set()
    operations = [row for methods in whole.content["paths"].values() for row in methods.values()]
    for operation in operations:
        body = operation.get("requestBody", {"content": {}, "required": False})
        requests = [row["example"] for row in body["content"].values() if "example" in row]
        for request in requests:
            whole.requests(body).validate(request)
        success = operation["responses"][min(operation["responses"])]["content"]
        if "example" not in success.get("application/json", {}) or (body["required"] and not requests):
            lacking.add(operation["operationId"])
        for status, described in operation["responses"].items():
            content = described["content"].get("application/json", {})
            values = [content["example"]] if "example" in content else []
            for row in content.get("examples", {}).values():
                key = row["$ref"].rpartition("/")[2]
                values.append(whole.content["components"]["examples"][key]["value"])
            for value in values:
                whole.validate(operation, int(status), value)
                assert len(json.dumps(value)) <= LONGEST
                shown += 1
    assert shown > 200
    assert lacking == WITHOUT & {row["operationId"] for row in operations}


def test_each_v3_error_that_example_requests_can_cause_has_an_example() -> None:
    codes = {
        code
        for name, schema in document("v3").content["components"]["schemas"].items()
        for code in schema.get("enum", ())
        if re.search(r"^Error[A-Z]|Error[0-9]+Error$", name)
    }
    assert codes - kept("v3")["errors"].keys() == {
        *("internal_error", "over_spend_limit", "unknown_keys", "unknown_path")
    }
