"""Requests that no operation takes, and failures of the sandbox itself: always JSON, never a traceback."""

from __future__ import annotations

import io
import logging
import re
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api
from tests.registry import contents


def refusal(answer: Answer, status: int, error: str) -> str:
    assert (answer.status, answer.error) == (status, error), answer.raw
    assert set(answer.json) == {"error", "message"}
    return answer.message


NEAREST = [
    ("GET", "/v3/balnace", "the nearest is GET /v3/balance"),
    ("POST", "/v3/domains/unlock/", "the nearest is POST /v3/domains/unlock/{domainName}"),
    ("GET", "/v3//balance", "the nearest is GET /v3/balance"),
    ("GET", "/api/v3/balance", "the nearest is GET /v3/balance"),
    ("GET", "/domains/getDomain/a.com", "the nearest is GET /v3/domains/getDomain/{domainName}"),
    ("DELETE", "/v3/domains/deleteDnssec/a.com", "the contract's v3 has no operations on dnssec"),
    ("GET", "/robots.txt", "paths begin with /v3, /V2.0 or /_sandbox"),
]
NEAREST_IN_V2 = [
    ("GET", "/V2.0/domains/a.com/check", "the nearest is GET /{version}/domain/{domain_name}/check"),
    ("DELETE", "/V2.0/domain/a.com/dnssec", "the contract's v2.0 has no operations on dnssec"),
    ("GET", "/V2.0/balance", "the contract's v2.0 has no operations on balance"),
]


def test_an_unknown_path_is_answered_with_the_most_similar_operations_of_its_interface(
    wire: Api, subtests: pytest.Subtests
) -> None:
    for method, target, nearest in NEAREST:
        with subtests.test(target=target):
            message = refusal(wire.call(method, target), 404, "unknown_path")
            assert f"{method} {target} is not an operation: " in message
            assert nearest in message
    for method, target, nearest in NEAREST_IN_V2:
        message = wire.call(method, target).headers["x-sandbox-refusal"]
        assert (nearest in message, "/v3" in message) == (True, False), message


class _Broken(io.RawIOBase):
    """The body of a request whose connection fails."""

    def read(self, size: int = -1) -> bytes:
        raise RuntimeError("the inner secret\nof the machine")

    readinto = readline = read  # type: ignore[assignment]


def broken(sandbox: Sandbox, target: str = "/v3/domains/lock/active.com", token: str = "") -> Answer:
    """Send a request whose body cannot be read."""
    builder = EnvironBuilder(target, method="POST", headers=[("X-Auth-Token", token)])
    environ: Any = {**builder.get_environ(), "wsgi.input": _Broken(), "CONTENT_LENGTH": "9"}
    chunks, status, headers = run_wsgi_app(sandbox.app, environ, buffered=True)
    named = {name.lower(): value for name, value in headers}
    return Answer(int(status.split()[0]), named, b"".join(chunks))


def test_an_internal_failure_is_a_single_line_in_the_log_and_changes_nothing(
    sandbox: Sandbox, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    before = contents(sandbox)
    with caplog.at_level(logging.DEBUG):
        answer = broken(sandbox)
        in_v2 = broken(sandbox, "/V2.0/customer", sandbox.accounts["main"].token)
    assert "secret" not in refusal(answer, 500, "internal_error")
    assert "Traceback" not in answer.raw.decode()
    assert in_v2.json == {"code": 500, "msg": "System Error", "status": False}
    records = [record for record in caplog.records if record.name.startswith("reseller_sandbox")]
    assert [record.levelname for record in records] == ["ERROR"] * 2
    for record, operation in zip(records, ("v3.lock", "v2.customer.create"), strict=True):
        assert re.fullmatch(f"{operation} failed: .*RuntimeError.*test_unmatched.py.*", record.getMessage())
    assert contents(sandbox) == before
    assert api.get("/v3/domains/getDomain/active.com").status == 200
    sandbox.assumptions.set({"v3.errors.http_status": "always_200"})
    refusal(broken(sandbox), 200, "internal_error")
