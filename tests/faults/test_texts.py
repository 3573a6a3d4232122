"""The texts of a rule reach headers, bodies and matching, and can do no harm."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox

BALANCE = "/v3/balance"


def test_an_error_fault_sends_the_headers_of_its_rule(sandbox: Sandbox) -> None:
    headers = {"X-RateLimit-Reset": "30", "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}
    for error in ({"error": "service_unavailable"}, {"status": 503, "body": {}}):
        for phase in ("before", "after"):
            with sandbox.faults.add("error", **error, headers=headers, when={"phase": phase}):
                answer = sandbox.client().get(BALANCE)
            assert answer.status_code == 503
            wanted = {**headers, "X-Sandbox-Fault": "error"}
            assert {name: answer.headers.get(name) for name in wanted} == wanted


def test_a_fault_rule_with_invalid_response_headers_is_refused(sandbox: Sandbox, subtests) -> None:
    headers: list[Any] = [
        *({"X-A": value} for value in ("a\r\nX-Evil: 1", "a\nb", "\x00", "é", " a", 5, None, "a" * 5000)),
        *({name: "a"} for name in ("X A", "X-A:", "", "X-Sandbox-World", "Connection")),
        {"Content-Length": "5"},
        {"transfer-encoding": "chunked"},
        {"Content-Type": "text/plain"},
        {f"X-{number}": "a" for number in range(60)},
        {},
        [],
    ]
    types: list[Any] = ["", "text", "a/b\r\nX: 1", "a/b;c", "é/b", "text/html; charset=\x00", "a/b/c", 7]
    for name, values in (("headers", headers), ("content_type", types)):
        for value in values:
            with subtests.test(value=value), pytest.raises(Refused, match=name):
                sandbox.faults.add("error", status=500, **{name: value})
