"""The contract's table of v2.0 errors: 27 operations times 30 errors, over a real socket.

Each of the 185 documented pairs has a request that causes it.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.clients import JSON, Socket
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


def test_the_table_is_complete_and_the_sandbox_serves_its_operations() -> None:
    assert (len(IDS), len(ERRORS), len(DOCUMENTED)) == (27, 30, 185)
    assert set(PAIRS) == set(DOCUMENTED)
    assert set(WORKS) == set(IDS)
    paths = document("v2").content["paths"]
    for row in OPERATIONS:
        assert paths[row["path"]][row["method"].lower()][ID] == row["id"]


def test_each_documented_error_occurs_and_changes_nothing(subtests: pytest.Subtests) -> None:
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server, closing(Socket(server.url)) as socket:
        for (operation, message), code in sorted(DOCUMENTED.items()):
            with subtests.test(operation=operation, message=message):
                pair = PAIRS[operation, message]
                sandbox.reset(original=True)
                before = contents(sandbox)
                if pair.arrange is not None:
                    pair.arrange(sandbox)
                    before = contents(sandbox) if pair.arrange is not fail else before
                known = pair.account != "nobody"
                token = sandbox.account(pair.account or "main").token if known else "no-token-of-anybody"
                headers = None if pair.account else [JSON]
                answer = Client(socket, token).call(pair.ask.method, pair.ask.path, pair.ask.body, headers)
                assert refusal(answer)[:2] == (code, pair.said)
                assert _template(message).fullmatch(pair.said)
                sandbox.faults.clear()
                assert contents(sandbox) == before


def test_an_internal_failure_is_a_system_error_and_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    sandbox = Sandbox(REGISTRY)
    before = contents(sandbox)
    answer = broken(sandbox, "/V2.0/customer", sandbox.account().token)
    assert refusal(answer)[:2] == (500, "System Error")
    assert contents(sandbox) == before
    assert [record.message.split(":")[0] for record in caplog.records] == ["v2.customer.create failed"]


def _template(message: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".+", re.escape(message)))
