"""Faults that replace the answer of an operation, or change it."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.faults.conftest import Dialler, balance, charges, register
from tests.registry import Make

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"
ACTIVE = "/v3/domains/getDomain/active.com"
FUNDS = "Not enough funds on the balance sheet"
LIMIT = "maximum value period: {{ info }}"


def place_error(sandbox: Sandbox, error: str, facts: dict[str, Any]) -> None:
    sandbox.faults.replace([{"kind": "error", "error": error, **({"facts": facts} if facts else {})}])


def test_an_error_fault_replaces_the_response(sandbox: Sandbox, subtests) -> None:
    """The effect of the operation stays in phase ``after`` alone."""
    for phase, left in (("before", "10000.00"), ("after", "9990.00")):
        with (
            subtests.test(phase),
            sandbox.faults.add("error", error="insufficient_funds", when={"phase": phase}),
        ):
            answer = sandbox.client().post(CREATE, json=register("new.com"))
            assert (answer.status_code, answer.json["error"]) == (402, "insufficient_funds")
            assert answer.headers["X-Sandbox-Fault"] == "error"
            assert balance(sandbox) == left
    first, retry = sandbox.journal
    assert (first.fault, first.fault_kind, first.carried_out) == ("error", "error", False)
    lost = sandbox.journal.get(retry.id)
    assert (lost.answer.lost, lost.refused) == (True, None)
    assert lost.changes
    assert sandbox.client().post(CREATE, json=register("new.com")).json["error"] == "name_taken"
    assert charges(sandbox, "new.com") == [("r2", "-10.00")]


def test_an_error_fault_can_return_any_error_in_v3(sandbox: Sandbox, make: Make, subtests) -> None:
    for error, facts, status, message in (
        ("name_taken", {}, 409, "new.com is already registered."),
        ("name_taken", {"name": "else.com"}, 409, "else.com is already registered."),
        ("insufficient_funds", {"amount": "1.00", "currency": "USD"}, 402, "1.00 USD are needed and"),
        ("zone_out_of_service", {"zone": "com"}, 503, "The zone com is out of service."),
        ("period_too_long", {}, 400, "years is …; the maximum for new.com is 10."),
        ("System Error", {}, 500, ""),  # an error of v2.0 that v3 does not have
    ):
        with subtests.test(error, facts=facts):
            place_error(sandbox, error, facts)
            answer = sandbox.client().post(CREATE, json=register("new.com"))
            assert answer.status_code == status
            assert set(answer.json) == {"error", "message"}
            assert answer.json["message"].startswith(message)
    always_200 = make(assume={"v3.errors.http_status": "always_200"})
    always_200.faults.add("error", error="insufficient_funds")
    answer = always_200.client().get(BALANCE)
    assert (answer.status_code, answer.json["error"]) == (200, "insufficient_funds")


def test_an_error_fault_can_return_any_error_in_v2(sandbox: Sandbox, subtests) -> None:
    for error, facts, code, message in (
        (FUNDS, {}, 403, FUNDS),
        ("Not enough parameter: {{ info }}", {"info": "period"}, 400, "Not enough parameter: period"),
        ("insufficient_funds", {}, 403, FUNDS),
        ("internal_error", {}, 500, "System Error"),
        ("service_unavailable", {}, 503, "The service is not available; try again later."),
        ("mail_taken", {}, 403, "Mail already registered"),  # not documented for this operation
        ("signature_mismatch", {}, 500, "System Error"),  # no operation has it
        ("invalid_ip", {}, 400, "Not the correct IPv4: …"),  # or IPv6: only the facts can decide
        ("period_too_long", {}, 400, "maximum value period: 10"),  # that of the zone
        ("period_too_long", {"limit": 3}, 400, "maximum value period: 3"),
        (LIMIT, {"info": 4}, 400, "maximum value period: 4"),
        (LIMIT, {}, 400, "maximum value period: …"),
    ):
        with subtests.test(error, facts=facts):
            place_error(sandbox, error, facts)
            body = {"current_expiry_date": "2026-11-21", "period": 1}
            answer = sandbox.client().put("/V2.0/domain/active.com/renew", json=body)
            assert answer.status_code == code
            assert answer.json == {"code": code, "msg": message, "status": False}


def test_an_error_fault_can_return_any_status_and_body(sandbox: Sandbox, subtests) -> None:
    html, json = "text/html; charset=utf-8", "application/json"
    for rule, content_type, raw in (
        ({"status": 502, "body": "<h1>Bad gateway</h1>"}, html, b"<h1>Bad gateway</h1>"),
        ({"status": 500}, html, b""),
        ({"status": 400, "body": {"oops": [1, None]}}, json, b'{"oops":[1,null]}'),
        ({"status": 200, "body": "{", "content_type": "application/json"}, json, b"{"),
    ):
        with subtests.test(rule=rule), sandbox.faults.add("error", **rule):
            answer = sandbox.client().get(BALANCE)
            assert (answer.status_code, answer.data) == (rule["status"], raw)
            assert answer.content_type == content_type
    sandbox.faults.add("error", error="internal_error", status=502, retry_after=30)
    answer = sandbox.client().get(BALANCE)
    assert (answer.status_code, answer.json["error"]) == (502, "internal_error")
    assert answer.headers["Retry-After"] == "30"


def test_a_mutate_fault_changes_the_response_but_not_the_world(sandbox: Sandbox, subtests) -> None:
    client = sandbox.client()
    for rule, change in (
        ({"path": "[0].balance", "type": "number"}, lambda it: it[0].update(balance=10000)),
        ({"path": "[0].currency", "type": "number"}, lambda it: it[0].update(currency=0)),
        ({"path": "[0].currency", "type": "null"}, lambda it: it[0].update(currency=None)),
        ({"path": "[0].currency", "type": "array"}, lambda it: it[0].update(currency=["USD"])),
        ({"path": "[0].currency", "type": "object"}, lambda it: it[0].update(currency={"value": "USD"})),
        ({"path": "[0].currency", "value": 7.5}, lambda it: it[0].update(currency=7.5)),
        ({"path": "[0].client-id", "drop": True}, lambda it: it[0].pop("client-id")),
        ({"path": "[0]", "drop": True}, lambda it: it.clear()),
        ({"path": "0.currency", "value": "EUR"}, lambda it: it[0].update(currency="EUR")),
        ({"path": "0.limit", "add": {"of": 1}}, lambda it: it[0].update(limit={"of": 1})),
        ({"path": "[1]", "add": "more"}, lambda it: it.append("more")),
        ({"path": "domain.premium", "type": "string"}, lambda it: it["domain"].update(premium="false")),
        ({"path": "domain.nameservers[*]", "drop": True}, lambda it: it["domain"].update(nameservers=[])),
    ):
        with subtests.test(rule=rule):
            target = BALANCE if rule["path"][0] in "[0" else ACTIVE
            expected = client.get(target).json
            change(expected)
            with sandbox.faults.add("mutate", **rule) as placed:
                assert client.get(target).json == expected
                assert (placed.matched, placed.applied) == (1, 1)
            assert client.get(target).json != expected
    with sandbox.faults.add("mutate", path="[7].balance", drop=True) as placed:
        assert "X-Sandbox-Fault" not in client.get(BALANCE).headers
        assert (placed.matched, placed.applied) == (1, 0)


def test_two_mutate_faults_and_a_truncate_fault_apply_to_the_same_response(
    dial: Dialler, served: Sandbox
) -> None:
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
