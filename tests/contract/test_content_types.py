"""What answers are declared as: each interface's own type, whatever is answered and whoever answers it."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests import registry
from tests.clients import JSON, Answer, InProcess
from tests.v2.client import REGISTRY, Client, connect
from tests.v2.works import WORKS

V3 = "application/json"
V2 = "application/json; charset=utf-8"


def declared(answer: Answer) -> str:
    """The content type of an answer."""
    return answer.headers["content-type"]


def test_every_success_and_refusal_of_v2_names_its_charset(subtests: pytest.Subtests) -> None:
    """A success, a missing token, an unknown token, and an injected error."""
    sandbox = Sandbox(REGISTRY)
    for operation, ask in WORKS.items():
        with subtests.test(operation=operation):
            sandbox.reset(original=True)
            client = connect(sandbox)
            sandbox.faults.clear()
            unknown = Client(client.transport, "nobody")
            sandbox.faults.add(name="broken", kind="error", error="internal_error", when={"nth": 3})
            answers = [ask.send(one) for one in (client, client, client, unknown)]
            answers.append(client.call(ask.method, ask.path, ask.body, [JSON]))
            assert answers[0].status == 200
            assert [declared(answer) for answer in answers] == [V2] * 5


def test_what_no_operation_of_v2_takes_names_its_charset() -> None:
    """Unmatched paths and methods, versions that are not served, bodies that are too large or no JSON."""
    client = connect(Sandbox(REGISTRY))
    answers = [
        client.get("/nothing"),
        client.call("PATCH", "/customer"),
        Client(client.transport, client.token, version="V9.9").get("/customer/7"),
        client.post("/customer", b" " * ((1 << 20) + 1)),
        client.post("/customer", b"{"),
    ]
    assert [answer.status for answer in answers] == [404, 405, 501, 413, 400]
    assert [declared(answer) for answer in answers] == [V2] * 5


def test_v3_and_control_name_no_charset() -> None:
    """As their documents have it."""
    sandbox = Sandbox(registry.REGISTRY)
    send = InProcess(sandbox.app)
    api = registry.connect(sandbox)
    answers = [api.get("/v3/balance"), api.get("/v3/nothing"), send("GET", "/_sandbox/health", [], b"")]
    assert [declared(answer) for answer in answers] == [V3] * 3
