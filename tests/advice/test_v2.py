"""Advice on what a v2.0 client does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox

RENEW = "/V2.0/domain/second.com/renew"


@pytest.fixture
def call(sandbox: Sandbox) -> Callable[..., str]:
    """Sends a v2.0 request as ``main``; answers the request's id."""
    client = sandbox.client()

    def send(method: str, path: str, body: Any = None) -> str:
        return str(client.open(path, method=method, json=body).headers["X-Sandbox-Request"])

    return send


def found(sandbox: Sandbox) -> list[tuple[Any, ...]]:
    """What there is to say, without the words."""
    return [
        (one.rule, one.amount and str(one.amount), *one.entries) for one in sandbox.advice.list().findings
    ]


def expiry(sandbox: Sandbox) -> str:
    """When the name expires, as v2.0 says it."""
    return str(sandbox.client().get("/V2.0/domain/second.com").json["date_end"])


def test_a_renewal_without_the_guard(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """It was refused here; elsewhere it need not be."""
    requests = [call("PUT", RENEW, {"period": 1}) for _ in range(2)]
    ((rule, amount, *entries),) = found(sandbox)
    assert (rule, amount, entries) == ("renewed_without_guard", None, requests)
    assert "current_expiry_date" in sandbox.advice.list().findings[0].instead


def test_a_renewal_with_the_guard(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """Sent again with the date it was sent with, it is refused and has cost nothing."""
    body = {"period": 1, "current_expiry_date": expiry(sandbox)}
    call("PUT", RENEW, body)
    call("PUT", RENEW, body)
    assert found(sandbox) == []


def test_a_guard_that_is_read_anew_guards_nothing(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """A job that runs twice reads the new date, sends it, and pays again."""
    first = call("PUT", RENEW, {"period": 1, "current_expiry_date": expiry(sandbox)})
    second = call("PUT", RENEW, {"period": 1, "current_expiry_date": expiry(sandbox)})
    assert found(sandbox) == [("renewed_twice", "12.00", first, second)]


def test_one_renewal_in_each_generation(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """It is one registry, and one balance."""
    first = call("PUT", RENEW, {"period": 1, "current_expiry_date": expiry(sandbox)})
    second = call("POST", "/v3/domains/renewDomain/second.com")
    assert found(sandbox) == [("renewed_twice", "12.00", first, second)]


def test_a_transfer_asked_for_again_after_a_lost_answer(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """As in v3."""
    sandbox.faults.add(
        "error",
        error="internal_error",
        match={"operation": "v2.transfer.request"},
        when={"phase": "after", "times": 1},
    )
    asked = ("POST", "/V2.0/domain/theirs.com/transfer", {"transfer_code": "let-me-in"})
    requests = [call(*asked) for _ in range(2)]
    assert found(sandbox) == [("transfer_repeated", "9.00", *requests)]


def test_polling_a_transfer(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """Which takes days."""
    sandbox.clock.run()
    requests = [call("GET", "/V2.0/domain/arriving.com/transfer") for _ in range(6)]
    assert found(sandbox) == [("polled_without_pause", None, *requests)]


def test_a_token_in_the_query_string(sandbox: Sandbox, call: Callable[..., str]) -> None:
    """It is not even looked for there, and yet every log on the way has it now; ours has not."""
    request = call("GET", "/V2.0/domain/second.com?X-Auth-Token=a-token-nobody-has")
    assert ("credentials_in_query", None, request) in found(sandbox)
    assert "nobody-has" not in sandbox.world.journal.get(request).target
