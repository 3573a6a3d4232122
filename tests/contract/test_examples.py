"""The examples of the OpenAPI documents: recorded, never typed, and still what the sandbox answers."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Socket
from tests.contract.example_requests import Asked
from tests.contract.recording import LONGEST, NAMES, Sender, file_of, recorded
from tests.documented import document


def operations(name: str) -> list[dict[str, Any]]:
    """The operations of a document."""
    return [operation for row in document(name).content["paths"].values() for operation in row.values()]


@pytest.mark.parametrize("name", NAMES)
def test_the_requests_work_one_after_another_on_a_fresh_server(name: str) -> None:
    """As the served document shows them, in the order of the file, under the status that it documents."""
    order, sandbox = json.loads(file_of(name).read_text("utf-8"))["operations"], Sandbox()
    with sandbox.serve() as server, closing(Socket(server.url)) as socket:
        rows = socket("GET", f"/_sandbox/openapi/{name}.json", [], b"").json["paths"].values()
        shown = {one["operationId"]: one for row in rows for one in row.values()}
        sender = Sender(sandbox, socket, server.url)
        sender.set_the_stage(name)
        came = {one: sender.send(name, one, _asked(shown[one])) for one in order}
    wrong = [one for one in order if came[one].status != int(min(shown[one]["responses"]))]
    assert {one: came[one].raw for one in wrong} == {}
    assert set(shown) - set(order) <= {"session", "sessionBegin", "sessionEnd"}  # these need a browser


def _asked(operation: dict[str, Any]) -> Asked:
    """The request that a document shows for an operation."""
    parameters = {one["name"]: one["example"] for one in operation["parameters"] if "example" in one}
    body = operation.get("requestBody", {"content": {"application/json": {}}})
    return Asked(parameters, body["content"]["application/json"].get("example"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_what_the_sandbox_answers(name: str) -> None:
    """Where they are not, ``make examples`` records them anew, and the change is there to be looked at."""
    kept, now = file_of(name).read_text("utf-8").splitlines(), recorded(name).splitlines()
    assert [line for line in now if line not in kept] == []
    assert [line for line in kept if line not in now] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_an_example(name: str) -> None:
    """Of its request, if it takes one, and of its answer, unless that goes on or is very long."""
    lacking = set()
    for operation in operations(name):
        said = operation["responses"][min(operation["responses"])]["content"].get("application/json", {})
        body = operation.get("requestBody", {"content": {"application/json": {"example": {}}}})
        if "example" not in said or (
            "example" not in body["content"]["application/json"] and body["required"]
        ):
            lacking.add(operation["operationId"])
    assert lacking == WITHOUT & {one["operationId"] for one in operations(name)}


#: Streams, pages, a browser's session, and answers that are too long to be read.
WITHOUT = {
    *("clockWatch", "eventsFollow", "journalFollow"),
    *("manual", "manualPage", "page", "pageFile", "reader", "readerFile", "openapi"),
    *("session", "sessionBegin", "sessionEnd"),
    *("adviceList", "assumptionsList", "assumptionsSet", "capsuleGet", "domainZonesAll", "faultsKinds"),
    "historyExport",
}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_fits_its_schema(name: str) -> None:
    """Requests and answers, and an error wherever it is documented."""
    whole, seen = document(name), 0
    for operation in operations(name):
        for asked in operation.get("requestBody", {}).get("content", {}).values():
            if "example" in asked:
                whole.requests(operation["requestBody"]).validate(asked["example"])
        for status, said in operation["responses"].items():
            told = said["content"].get("application/json", {})
            shown = [told["example"]] if "example" in told else []
            for one in told.get("examples", {}).values():
                key = one["$ref"].rpartition("/")[2]
                shown.append(whole.content["components"]["examples"][key]["value"])
            for value in shown:
                whole.validate(operation, int(status), value)
                assert len(json.dumps(value)) <= LONGEST
                seen += 1
    assert seen > 200


def test_nearly_every_error_of_v3_has_an_example() -> None:
    """Those that no request of one's own leads to have none."""
    codes = {
        code
        for schema in document("v3").content["components"]["schemas"].values()
        for code in schema.get("properties", {}).get("error", {}).get("enum", ())
    }
    kept = json.loads(file_of("v3").read_text("utf-8"))["errors"].keys()
    assert codes - kept == {"internal_error", "unknown_keys", "unknown_path"}
