"""Requests that no operation takes, and failures of the sandbox itself: always JSON, never a traceback."""

from __future__ import annotations

import logging
import re
from collections import Counter
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core import orders
from reseller_sandbox.core.state import Draft
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web import nearest
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.nearest import Rows
from tests.benchmarks import unmatched
from tests.clients import Answer, Api
from tests.registry import Make, connect, order_of

ERROR = {"error", "message"}


def told(answer: Answer, status: int, error: str) -> str:
    """The message of a refusal of that status and code."""
    assert (answer.status, answer.error) == (status, error), answer.raw
    assert set(answer.json) == ERROR
    return answer.message


NEAREST = [
    ("GET", "/v3/balanse", "the nearest is GET /v3/balance"),
    ("GET", "/v3/balnace", "the nearest is GET /v3/balance"),
    ("POST", "/v3/domains/createDomains", "the nearest is POST /v3/domains/createDomain"),
    ("GET", "/v3/domains/getDomain", "the nearest is GET /v3/domains/getDomain/{domainName}"),
    ("POST", "/v3/domains/unlock/", "the nearest is POST /v3/domains/unlock/{domainName}"),
    ("POST", "/v3/domains/lockDomain/a.com", "the nearest is POST /v3/domains/lock/{domainName}"),
    ("POST", "/v3/lock/a.com", "the nearest is POST /v3/domains/lock/{domainName}"),
    ("GET", "/v3//balance", "the nearest is GET /v3/balance"),
    ("GET", "/v4/balance", "the nearest is GET /v3/balance"),
    ("GET", "/api/v3/balance", "the nearest is GET /v3/balance"),
    ("GET", "/domains/getDomain/a.com", "the nearest is GET /v3/domains/getDomain/{domainName}"),
    ("GET", "/v3", "the contract's v3 has nothing like it"),
    ("DELETE", "/v3/domains/deleteDnssec/a.com", "the contract's v3 has no operations on dnssec"),
    (
        "POST",
        "/v3/domains/createUrlForwarding/a.com",
        "the contract's v3 has no operations on url forwarding",
    ),
    ("GET", "/v3/webhooks", "the contract's v3 has no operations on webhooks"),
    ("POST", "/v3/domains/deleteDomain/a.com", "the contract's v3 has nothing like it"),
    ("GET", "/", "paths begin with /v3, with a version such as /V2.0, or with /_sandbox"),
    ("GET", "/robots.txt", "paths begin with /v3, with a version such as /V2.0, or with /_sandbox"),
]


@pytest.mark.parametrize(("method", "target", "nearest"), NEAREST)
def test_an_unknown_path_is_told_of_the_nearest(wire: Api, method: str, target: str, nearest: str) -> None:
    """With the method that goes with it; or, where nothing is near, what there are no operations on."""
    message = told(wire.call(method, target), 404, "unknown_path")
    assert f"{method} {target} is no operation: " in message
    assert nearest in message


@pytest.mark.parametrize(
    ("method", "target", "nearest"),
    [
        ("GET", "/V2.0/domains/a.com/check", "the nearest is GET /{version}/domain/{domain_name}/check"),
        ("DELETE", "/V2.0/domain/a.com/dnssec", "the contract's v2.0 has no operations on dnssec"),
        ("POST", "/V2.0/deleteDnssec", "the contract's v2.0 has no operations on dnssec"),
        ("GET", "/V2.0/balance", "the contract's v2.0 has no operations on balance"),
    ],
)
def test_an_unknown_path_is_told_of_its_own_generation_alone(
    wire: Api, method: str, target: str, nearest: str
) -> None:
    """Whoever calls v2.0 is not sent to v3."""
    message = wire.call(method, target).headers["x-sandbox-refusal"]
    assert nearest in message
    assert "/v3" not in message


#: Those that have a path like no other; a slip in that of the zones is the name of a domain.
ROWS = [row for row in (*V3.endpoints, *V2.endpoints) if row.id != "v2.domain.zones"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_each_operation_is_the_nearest_to_a_slip_in_its_own_name(row: Endpoint) -> None:
    """A letter twice, two letters swapped, or the last segment left out."""
    rows = Rows((*V3.endpoints, *V2.endpoints))
    own = {f"{row.method} {path}" for path in row.paths}
    for path in row.paths:
        segments = re.sub(r"\{\w*(?:[pP]age|limit|start)\}", "7", path.replace("{version}", "V2.0")).split(
            "/"
        )
        for at, segment in enumerate(segments):
            if segment.isalpha() and len(segment) > 4:
                slips = (segment[0] + segment, segment[:2] + segment[3] + segment[2] + segment[4:])
                for slip in slips:
                    asked = re.sub(r"\{\w+\}", "a.com", "/".join([*segments[:at], slip, *segments[at + 1 :]]))
                    assert own & set(rows.nearest(row.method, asked)), asked


@pytest.mark.parametrize("path", unmatched.PATHS.values(), ids=unmatched.PATHS)
def test_few_words_are_compared_letter_by_letter(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However unlike anything a path is: that takes long, and there are some hundred pairs of words."""
    rows, edits, compared = Rows((*V3.endpoints, *V2.endpoints)), nearest._edits, Counter[str]()

    def counted(one: str, other: str) -> int:
        compared[asked] += 1
        return edits(one, other)

    monkeypatch.setattr(nearest, "_edits", counted)
    nearest.likeness.cache_clear()
    for asked in unmatched.new(path):
        if not rows.nearest("GET", asked):
            rows.strange(asked)
    assert 0 < max(compared.values()) < 60


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("POST", "/v3/balance", "GET"),
        ("GET", "/v3/domains/lock/active.com", "POST"),
        ("PATCH", "/v3/domains/glueRecords/active.com/ns1", "DELETE, GET, PUT"),
        ("DELETE", "/v3/domains/glueRecords/active.com", "GET, POST"),
        ("OPTIONS", "/v3/balance", "GET"),
        ("TRACE", "/v3/balance", "GET"),
    ],
)
def test_a_wrong_method_is_told_of_the_right_ones(wire: Api, method: str, target: str, allowed: str) -> None:
    """In the message and in the Allow header."""
    answer = wire.call(method, target)
    assert allowed in told(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


def test_a_head_request_has_a_head_and_no_body(wire: Api) -> None:
    """As HTTP wants it."""
    answer = wire.call("HEAD", "/v3/balance")
    assert (answer.status, answer.raw) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


def test_a_body_that_is_too_large_is_not_read(wire: Api) -> None:
    """One byte too many, and after it the connection can be used no more but another can."""
    raw = b'{"domainNames":["' + b"a" * ((1 << 20) - 20) + b'"]}'
    target = "/v3/domains/checkAvailability"
    assert wire.call("POST", target, raw.ljust(1 << 20)).status == 200
    answer = wire.call("POST", target, raw.ljust((1 << 20) + 1))
    assert "1048576 bytes" in told(answer, 413, "body_too_large")
    assert answer.headers["connection"] == "close"
    assert wire.get("/v3/balance").status == 200


@pytest.mark.parametrize("world", ["nowhere", "", "a%20b", "..", "x" * 3000])
def test_an_unknown_world_is_named(wire: Api, world: str) -> None:
    """Before anything else is looked at."""
    message = told(wire.call("GET", f"/_worlds/{world}/v3/balance"), 404, "unknown_world")
    assert message.startswith("There is no world '")


def test_an_unknown_world_is_named_in_its_own_letters(wire: Api) -> None:
    """As it was asked for, not byte by byte."""
    message = told(wire.call("GET", f"/_worlds/{quote('світ')}/v3/balance"), 404, "unknown_world")
    assert message == "There is no world 'світ'."


def test_every_answer_has_the_date_of_the_world(wire: Api) -> None:
    """Those of strays too."""
    for target in ("/v3/balance", "/v3/nothing", "/"):
        assert wire.get(target).headers["date"] == "Sun, 01 Mar 2026 12:00:00 GMT"


def _broken(*_: Any, **__: Any) -> None:
    raise RuntimeError("the inner secret\nof the machine")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_failure_inside_is_one_line_in_the_log(
    sandbox: Sandbox, api: Api, method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer says that it failed, not how; the log how and where; nothing has changed."""
    monkeypatch.setattr(orders, "own", _broken)
    target = {"GET": "/v3/domains/getDomain/active.com", "POST": "/v3/domains/lock/active.com"}[method]
    before = sandbox.world.state
    with caplog.at_level(logging.DEBUG):
        answer = api.call(method, target)
    message = told(answer, 500, "internal_error")
    assert "secret" not in message
    assert "Traceback" not in answer.raw.decode()
    (record,) = [record for record in caplog.records if record.name.startswith("reseller_sandbox")]
    assert record.levelname == "ERROR"
    assert "RuntimeError" in record.getMessage()
    assert "\n" not in record.getMessage()
    assert "test_unmatched.py" in record.getMessage()
    assert sandbox.world.state is before


def test_a_failure_over_a_socket_ends_nothing(
    wire: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The same connection goes on."""
    with monkeypatch.context() as broken, caplog.at_level(logging.CRITICAL, "reseller_sandbox"):
        broken.setattr(orders, "own", _broken)
        told(wire.get("/v3/domains/getDomain/active.com"), 500, "internal_error")
    assert wire.get("/v3/domains/getDomain/active.com").status == 200


def test_a_state_that_cannot_be_shown_is_no_traceback(
    sandbox: Sandbox, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    """Should a record be missing, the answer is the same."""
    from dataclasses import replace

    world = sandbox.world
    contact = world.state.contacts[order_of(sandbox, "active.com").contacts.registrant]
    draft = Draft(world.state, world.now(), world.assumptions, "")
    draft.remove(contact)
    world.moment = replace(world.moment, state=draft.state)
    with caplog.at_level(logging.CRITICAL, "reseller_sandbox"):
        told(api.get("/v3/domains/getDomain/active.com"), 500, "internal_error")


def test_an_undeclared_refusal_is_a_failure(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An operation cannot refuse by a rule that its row, and so its document, does not name."""
    from reseller_sandbox.core.refusals import NAME_TAKEN, Refused

    def refuse(*_: Any) -> None:
        raise Refused(NAME_TAKEN, name="active.com")

    monkeypatch.setattr(orders, "own", refuse)
    with caplog.at_level(logging.CRITICAL, "reseller_sandbox"):
        told(api.get("/v3/domains/getDomain/active.com"), 500, "internal_error")


def test_failures_are_200_where_everything_is(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Under v3.errors.http_status = always_200."""
    api = connect(make(assume={"v3.errors.http_status": "always_200"}))
    monkeypatch.setattr(orders, "own", _broken)
    with caplog.at_level(logging.CRITICAL, "reseller_sandbox"):
        told(api.get("/v3/domains/getDomain/active.com"), 200, "internal_error")
