"""The contract's table of v2.0 errors: 27 operations times 30 errors, over a real socket.

Each of the 185 documented pairs is a test by itself, with the request that raises it; for each operation
another test holds everything it declares to be able to say against its column of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import INTERNAL_ERROR
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.interface import V2
from tests.clients import JSON, Socket
from tests.contract.v2_pairs import PAIRS
from tests.v2.client import REGISTRY, Client, refusal
from tests.v2.works import WORKS

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
def served() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox behind a socket."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


def test_the_table_is_the_contracts() -> None:
    """27 operations, 30 errors, 185 pairs, and a request for each."""
    assert (len(IDS), len(ERRORS), len(DOCUMENTED)) == (27, 30, 185)
    assert set(PAIRS) == set(DOCUMENTED)
    assert set(WORKS) == set(IDS)


@pytest.mark.parametrize(("operation", "message"), sorted(DOCUMENTED), ids=lambda value: value)
def test_the_error_is_raised(served: tuple[Sandbox, str], operation: str, message: str) -> None:
    """The request raises the error as it is documented, and changes nothing."""
    sandbox, url = served
    pair = PAIRS[operation, message]
    sandbox.reset()
    if pair.arrange is not None:
        pair.arrange(sandbox)
    before = sandbox.world.state
    client = Client(Socket(url), _token(sandbox, pair.account))
    if not pair.account:
        client.own = [JSON]
    headers = [JSON] if not pair.account else None
    answer = client.call(pair.ask.method, pair.ask.path, pair.ask.body, headers)
    client.transport.close()  # type: ignore[attr-defined]

    code, said, _ = refusal(answer)
    assert code == DOCUMENTED[operation, message]
    assert said == pair.said
    assert _template(message).fullmatch(said)
    assert sandbox.world.state is before


@pytest.mark.parametrize("operation", IDS)
def test_an_operation_says_what_is_documented_and_nothing_else(operation: str) -> None:
    """All that its row declares, and every way to put it, is its column of the table."""
    endpoint = next(endpoint for endpoint in V2.endpoints if endpoint.id == operation)
    rules = [*V2.common, *endpoint.refuses, INTERNAL_ERROR]
    said = {error for rule in rules for error in errors.all_of(operation, rule)}
    plain = {(error.code, re.sub(r"\{(\w+)\}", r"{{ \1 }}", error.message)) for error in said}
    assert plain == {(code, message) for (one, message), code in DOCUMENTED.items() if one == operation}


@pytest.mark.parametrize("operation", IDS)
def test_the_row_is_the_contracts(operation: str) -> None:
    """Method and path."""
    endpoint = next(endpoint for endpoint in V2.endpoints if endpoint.id == operation)
    contract = next(one for one in OPERATIONS if one["id"] == operation)
    assert endpoint.method == contract["method"]
    assert contract["path"] in endpoint.paths


def _token(sandbox: Sandbox, account: str) -> str:
    return "no-token-of-anybody" if account == "nobody" else sandbox.account(account or "main").token


def test_a_failure_of_the_sandbox_itself_says_the_same(
    served: tuple[Sandbox, str], caplog: pytest.LogCaptureFixture
) -> None:
    """The last resort, here for a customer with an order that is none; a line in the log says so."""
    sandbox, url = served
    sandbox.reset()
    ask = WORKS["v2.customer.info"]
    world = sandbox.world
    linked = world.state.linked.add(("customer", int(ask.path.rpartition("/")[2]), 999_999))
    world.moment = replace(world.moment, state=replace(world.state, linked=linked))
    before = world.state
    client = Client(Socket(url), _token(sandbox, "main"))
    answer = client.call(ask.method, ask.path, ask.body)
    client.transport.close()  # type: ignore[attr-defined]
    assert refusal(answer)[:2] == (500, "System Error")
    assert world.state is before
    assert [record.message.split(":")[0] for record in caplog.records] == ["v2.customer.info failed"]


def _template(message: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".+", re.escape(message)))
