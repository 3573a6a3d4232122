"""The contract's v2.0 over a real socket: each documented error occurs.

The contract documents 30 errors for 27 operations in 185 pairs. Each pair has a request that causes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.clients import Socket
from tests.contract.v2_pairs import PAIRS, fail
from tests.documented import ID, document
from tests.registry import contents
from tests.v2.client import REGISTRY, Client, refusal
from tests.v2.works import WORKS
from tests.v3.test_unmatched import broken

_HERE = Path(__file__).parent
OPERATIONS = yaml.safe_load((_HERE / "v2_operations.yaml").read_text("utf-8"))
ERRORS = yaml.safe_load((_HERE / "v2_errors.yaml").read_text("utf-8"))
IDS = [operation["id"] for operation in OPERATIONS]
DOCUMENTED = {
    (operation, error["message"]): error["code"]
    for error in ERRORS
    for operation in (IDS if error["operations"] == "all" else error["operations"])
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(REGISTRY)


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Iterator[Client]:
    """The account ``main`` over a socket."""
    with sandbox.serve() as server:
        socket = Socket(server.url)
        yield Client(socket, sandbox.accounts["main"].token)
        socket.close()


def test_the_table_of_errors_is_complete() -> None:
    assert (len(IDS), len(ERRORS), len(DOCUMENTED)) == (27, 30, 185)
    assert set(PAIRS) == set(DOCUMENTED)
    assert set(WORKS) == set(IDS)


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
            contract = {(code, message) for (key, message), code in DOCUMENTED.items() if key == row["id"]}
            assert contract <= errors
            assert {code for code, _ in errors - contract} <= {400, 404, 413, 415, 501}


def test_each_documented_error_occurs_and_changes_nothing(
    sandbox: Sandbox, client: Client, subtests: pytest.Subtests
) -> None:
    for (operation, message), code in sorted(DOCUMENTED.items()):
        with subtests.test(operation=operation, message=message):
            pair = PAIRS[operation, message]
            sandbox.reset(original=True)
            pair.arrange(sandbox)
            assert refusal(pair.send(sandbox, client))[:2] == (code, pair.said)
            template = re.sub(r"\\\{\\\{.*?\\\}\\\}", ".+", re.escape(message))
            assert re.fullmatch(template, pair.said)
            (entry,) = sandbox.journal.find(limit=1).requests
            assert entry.changes == ()
            assert (entry.fault is not None) is (pair.arrange is fail)
            sandbox.faults.clear()


def test_an_internal_failure_is_a_system_error_and_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sandbox = Sandbox(REGISTRY)
    before = contents(sandbox)
    answer = broken(sandbox, "/V2.0/customer", sandbox.accounts["main"].token)
    assert refusal(answer)[:2] == (500, "System Error")
    assert contents(sandbox) == before
    assert [record.message.split(":")[0] for record in caplog.records] == ["v2.customer.create failed"]


def test_only_a_served_version_has_an_implementation(client: Client, subtests: pytest.Subtests) -> None:
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
