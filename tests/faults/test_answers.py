"""Answers that are not the operation's, or not quite."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.assembly import operations, vocabulary
from reseller_sandbox.v2 import injected
from tests.faults.conftest import Dialler, Register, balance, charges
from tests.registry import Make

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"
ACTIVE = "/v3/domains/getDomain/active.com"


@pytest.mark.parametrize(("phase", "left"), [("before", "10000.00"), ("after", "9990.00")])
def test_an_error_in_place_of_the_answer(
    dial: Dialler, served: Sandbox, register: Register, phase: str, left: str
) -> None:
    served.faults.add(kind="error", error="insufficient_funds", when={"phase": phase})
    answer = dial.post(CREATE, register("new.com"))
    assert (answer.status, answer.error) == (402, "insufficient_funds")
    assert answer.headers["x-sandbox-fault"] == "error"
    assert balance(served) == left


@pytest.mark.parametrize(
    ("error", "facts", "status", "message"),
    [
        ("name_taken", {}, 409, "new.com is registered already."),
        ("name_taken", {"name": "else.com"}, 409, "else.com is registered already."),
        ("insufficient_funds", {"amount": "1.00", "currency": "USD"}, 402, "1.00 USD are needed and"),
        ("insufficient_funds", {}, 402, "More than 10000.00 USD are needed and the balance is 10000.00 USD."),
        ("internal_error", {}, 500, "The service failed while answering."),
        ("zone_out_of_service", {"zone": "com"}, 503, "The zone com is out of service."),
        ("maintenance", {}, 503, "The service is down for maintenance"),
        ("period_too_long", {}, 400, "years is …; new.com takes at most 10."),
        ("System Error", {}, 500, ""),  # v2.0's own is no error of v3
    ],
)
def test_v3_renders_any_error_in_its_way(
    dial: Dialler, served: Sandbox, register: Register, error: str, facts: Any, status: int, message: str
) -> None:
    served.faults.add(kind="error", error=error, **({"facts": facts} if facts else {}))
    answer = dial.post(CREATE, register("new.com"))
    assert answer.status == status
    assert set(answer.json) == {"error", "message"}
    assert answer.message.startswith(message)


def test_v3_renders_an_error_as_the_assumptions_have_it(make: Make) -> None:
    sandbox = make(assume={"v3.errors.http_status": "always_200"})
    sandbox.faults.add(kind="error", error="insufficient_funds")
    answer = sandbox.client().get(BALANCE)
    assert (answer.status_code, answer.json["error"]) == (200, "insufficient_funds")


@pytest.mark.parametrize(
    ("error", "facts", "code", "message"),
    [
        ("Not enough funds on the balance sheet", {}, 403, "Not enough funds on the balance sheet"),
        ("Not enough parameter: {{ info }}", {"info": "period"}, 400, "Not enough parameter: period"),
        ("Invalid {{ param_name }}", {"param_name": "mail"}, 400, "Invalid mail"),
        ("insufficient_funds", {}, 403, "Not enough funds on the balance sheet"),
        ("internal_error", {}, 500, "System Error"),
        ("service_unavailable", {}, 503, "The service is not available; try again later."),
        ("mail_taken", {}, 403, "Mail already registered"),  # which this operation does not document
        ("signature_mismatch", {}, 500, "System Error"),  # which no operation has
        ("invalid_ip", {}, 400, "Not the correct IPv4: …"),  # or IPv6, which only the facts can tell
    ],
)
def test_v2_renders_any_error_in_its_way(
    dial: Dialler, served: Sandbox, error: str, facts: Any, code: str, message: str
) -> None:
    served.faults.add(kind="error", error=error, **({"facts": facts} if facts else {}))
    answer = dial.get("/V2.0/domain/active.com")
    assert answer.status == code
    assert answer.json == {"code": code, "msg": message, "status": False}


@pytest.mark.parametrize(
    ("error", "facts", "message"),
    [
        ("period_too_long", {}, "maximum value period: 10"),
        ("period_too_short", {}, "minimum value period: 1"),
        ("period_too_long", {"limit": 3}, "maximum value period: 3"),
        ("period_too_short", {"limit": 2}, "minimum value period: 2"),
        ("maximum value period: {{ info }}", {"info": 4}, "maximum value period: 4"),
        ("maximum value period: {{ info }}", {}, "maximum value period: …"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("PUT", "active.com/renew"), ("POST", "new.com")])
def test_a_limit_of_years_is_the_zones_where_none_is_told(
    dial: Dialler, served: Sandbox, method: str, path: str, error: str, facts: Any, message: str
) -> None:
    """In the operations that v2.0 documents it for."""
    served.faults.add(kind="error", error=error, **({"facts": facts} if facts else {}))
    asked = {"current_expiry_date": "2026-11-21", "period": 1}
    answer = dial.send(method, f"/V2.0/domain/{path}", asked).answer()
    assert (answer.status, answer.json["msg"]) == (400, message)


def test_v2_has_words_for_every_error_in_every_operation() -> None:
    for operation in (one for one in operations() if one.startswith("v2.")):
        for error in vocabulary().errors:
            code, message, _ = injected.words(operation, error, {})
            assert 400 <= code < 600, (operation, error)
            assert message, (operation, error)
            assert message.rstrip(" :") == message, "a place is left blank"


def test_another_status_and_retry_after(dial: Dialler, served: Sandbox) -> None:
    served.faults.add(kind="error", error="internal_error", status=502, retry_after=30)
    answer = dial.get(BALANCE)
    assert (answer.status, answer.error, answer.headers["retry-after"]) == (502, "internal_error", "30")


@pytest.mark.parametrize(
    ("rule", "content_type", "raw"),
    [
        (
            {"status": 502, "body": "<h1>Bad gateway</h1>"},
            "text/html; charset=utf-8",
            b"<h1>Bad gateway</h1>",
        ),
        ({"status": 500}, "text/html; charset=utf-8", b""),
        ({"status": 400, "body": {"oops": [1, None]}}, "application/json", b'{"oops":[1,null]}'),
        ({"status": 200, "body": "{", "content_type": "application/json"}, "application/json", b"{"),
    ],
)
def test_a_raw_status_and_body(
    dial: Dialler, served: Sandbox, rule: dict[str, Any], content_type: str, raw: Any
) -> None:
    served.faults.add(kind="error", **rule)
    answer = dial.get(BALANCE)
    assert (answer.status, answer.headers["content-type"], answer.raw) == (rule["status"], content_type, raw)


@pytest.mark.parametrize(
    ("target", "rule", "expected"),
    [
        (BALANCE, {"path": "[0].balance", "value": "0.00"}, lambda body: body[0].update(balance="0.00")),
        (BALANCE, {"path": "[0].balance", "type": "number"}, lambda body: body[0].update(balance=10000)),
        (BALANCE, {"path": "[0].currency", "type": "number"}, lambda body: body[0].update(currency=0)),
        (BALANCE, {"path": "[0].currency", "type": "null"}, lambda body: body[0].update(currency=None)),
        (BALANCE, {"path": "[0].currency", "type": "array"}, lambda body: body[0].update(currency=["USD"])),
        (BALANCE, {"path": "[0].client-id", "drop": True}, lambda body: body[0].pop("client-id")),
        (BALANCE, {"path": "[0]", "drop": True}, lambda body: body.clear()),
        (
            ACTIVE,
            {"path": "domain.premium", "type": "string"},
            lambda body: body["domain"].update(premium="false"),
        ),
        (ACTIVE, {"path": "domain.premium", "value": 7.5}, lambda body: body["domain"].update(premium=7.5)),
        (
            ACTIVE,
            {"path": "domain.nameservers[*]", "drop": True},
            lambda body: body["domain"]["nameservers"].clear(),
        ),
        (
            ACTIVE,
            {"path": "domain.contacts.reg-contact.name", "type": "object"},
            lambda body: body["domain"]["contacts"]["reg-contact"].update(name={"value": "Main Holder"}),
        ),
    ],
)
def test_mutate(dial: Dialler, served: Sandbox, target: str, rule: dict[str, Any], expected: Any) -> None:
    body = dial.get(target).json
    placed = served.faults.add(kind="mutate", **rule)
    expected(body)
    answer = dial.get(target)
    assert json.loads(answer.raw) == body
    assert (placed.matched, placed.struck) == (1, 1)
    assert dial.control("DELETE", "/faults") == {"faults": []}
    assert dial.get(target).json != body, "the world itself is as it was"


def test_mutate_does_not_strike_where_there_is_nothing_to_change(dial: Dialler, served: Sandbox) -> None:
    placed = served.faults.add(kind="mutate", path="[7].balance", drop=True)
    answer = dial.get(BALANCE)
    assert answer.status == 200
    assert "x-sandbox-fault" not in answer.headers
    assert (placed.matched, placed.struck) == (1, 0)


def test_several_changes_then_a_cut(dial: Dialler, served: Sandbox) -> None:
    served.faults.replace(
        [
            {"kind": "mutate", "path": "[0].balance", "drop": True},
            {"kind": "mutate", "path": "[0].serverTime", "drop": True, "name": "again"},
            {"kind": "truncate", "keep": 40},
        ]
    )
    connection = dial.send("GET", BALANCE)
    assert connection.head()[1]["x-sandbox-fault"] == "mutate, again, truncate"
    assert connection.rest() == b'[{"client-id":"1001","currency":"USD"}]'[:-1]


def test_an_error_after_the_effect_and_the_retry_can_be_told_apart(
    dial: Dialler, served: Sandbox, register: Register
) -> None:
    served.faults.add(kind="error", status=500, when={"phase": "after", "times": 1})
    first = dial.post(CREATE, register("new.com"))
    second = dial.post(CREATE, register("new.com"))
    assert (first.status, second.status, second.error) == (500, 409, "name_taken")
    assert charges(served, "new.com") == [(first.headers["x-sandbox-request"], "-10.00")]
    one, other = served.world.journal
    assert (one.fault, one.fault_kind, one.lost, one.refused) == ("error", "error", True, None)
    assert one.changes
    assert other.refused is not None
    assert (other.fault, other.lost, other.changes) == (None, False, ())
