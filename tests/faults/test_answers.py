"""Faults that replace the answer of an operation, or change it."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.faults.conftest import Dialler, balance, charges, register
from tests.registry import Make

CREATE = "/v3/domains/createDomain"
BALANCE = "/v3/balance"
ACTIVE = "/v3/domains/getDomain/active.com"
FUNDS = "Not enough funds on the balance sheet"


def test_an_error_replaces_the_answer(sandbox: Sandbox, subtests) -> None:
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


def test_v3_renders_any_error(sandbox: Sandbox, make: Make, subtests) -> None:
    for error, facts, status, message in (
        ("name_taken", {}, 409, "new.com is registered already."),
        ("name_taken", {"name": "else.com"}, 409, "else.com is registered already."),
        ("insufficient_funds", {"amount": "1.00", "currency": "USD"}, 402, "1.00 USD are needed and"),
        ("insufficient_funds", {}, 402, "More than 10000.00 USD are needed"),
        ("internal_error", {}, 500, "The service failed while answering."),
        ("zone_out_of_service", {"zone": "com"}, 503, "The zone com is out of service."),
        ("maintenance", {}, 503, "The service is down for maintenance"),
        ("period_too_long", {}, 400, "years is …; new.com takes at most 10."),
        ("System Error", {}, 500, ""),  # an error of v2.0 that v3 does not have
    ):
        with subtests.test(error, facts=facts):
            sandbox.faults.replace([{"kind": "error", "error": error, **({"facts": facts} if facts else {})}])
            answer = sandbox.client().post(CREATE, json=register("new.com"))
            assert answer.status_code == status
            assert set(answer.json) == {"error", "message"}
            assert answer.json["message"].startswith(message)
    always_200 = make(assume={"v3.errors.http_status": "always_200"})
    always_200.faults.add("error", error="insufficient_funds")
    answer = always_200.client().get(BALANCE)
    assert (answer.status_code, answer.json["error"]) == (200, "insufficient_funds")


def test_v2_renders_any_error(sandbox: Sandbox, subtests) -> None:
    for error, facts, code, message in (
        (FUNDS, {}, 403, FUNDS),
        ("Not enough parameter: {{ info }}", {"info": "period"}, 400, "Not enough parameter: period"),
        ("Invalid {{ param_name }}", {"param_name": "mail"}, 400, "Invalid mail"),
        ("insufficient_funds", {}, 403, FUNDS),
        ("internal_error", {}, 500, "System Error"),
        ("service_unavailable", {}, 503, "The service is not available; try again later."),
        ("mail_taken", {}, 403, "Mail already registered"),  # not documented for this operation
        ("signature_mismatch", {}, 500, "System Error"),  # no operation has it
        ("invalid_ip", {}, 400, "Not the correct IPv4: …"),  # or IPv6: only the facts can decide
    ):
        with subtests.test(error, facts=facts):
            sandbox.faults.replace([{"kind": "error", "error": error, **({"facts": facts} if facts else {})}])
            answer = sandbox.client().get("/V2.0/domain/active.com")
            assert answer.status_code == code
            assert answer.json == {"code": code, "msg": message, "status": False}


def test_a_limit_of_years_without_facts_is_that_of_the_zone(sandbox: Sandbox, subtests) -> None:
    for error, facts, message in (
        ("period_too_long", {}, "maximum value period: 10"),
        ("period_too_short", {}, "minimum value period: 1"),
        ("period_too_long", {"limit": 3}, "maximum value period: 3"),
        ("maximum value period: {{ info }}", {"info": 4}, "maximum value period: 4"),
        ("maximum value period: {{ info }}", {}, "maximum value period: …"),
    ):
        for method, path in (("PUT", "active.com/renew"), ("POST", "new.com")):
            with subtests.test(error, facts=facts, method=method):
                sandbox.faults.replace(
                    [{"kind": "error", "error": error, **({"facts": facts} if facts else {})}]
                )
                body = {"current_expiry_date": "2026-11-21", "period": 1}
                answer = sandbox.client().open(f"/V2.0/domain/{path}", method=method, json=body)
                assert (answer.status_code, answer.json["msg"]) == (400, message)


def test_v2_renders_every_documented_error_in_every_operation(sandbox: Sandbox) -> None:
    """With a code, and a message without blanks."""
    client = sandbox.client()
    items = sandbox.coverage.items().items
    errors = sorted({item.item.partition(" ")[2] for item in items if item.area == "errors"})
    assert len(errors) > 50
    sandbox.faults.replace(
        [
            {"kind": "error", "error": error, "match": {"query": {"e": str(number)}}}
            for number, error in enumerate(errors)
        ]
    )
    wrong = []
    for path, operations in client.get("/_sandbox/openapi/v2.json").json["paths"].items():
        for method in operations.keys() & {"get", "post", "put", "delete"}:
            target = path.replace("{version}", "V2.0").replace("{", "").replace("}", "")
            for number, error in enumerate(errors):
                answer = client.open(f"{target}?e={number}", method=method)
                message = answer.json.get("msg", "")
                if not 400 <= answer.status_code < 600 or not message or message.rstrip(" :") != message:
                    wrong.append((method, path, error, answer.json))
    assert wrong == []


def test_raw_statuses_and_bodies(sandbox: Sandbox, subtests) -> None:
    """And another status and Retry-After for a documented error."""
    html, json = "text/html; charset=utf-8", "application/json"
    for rule, content_type, raw in (
        ({"status": 502, "body": "<h1>Bad gateway</h1>"}, html, b"<h1>Bad gateway</h1>"),
        ({"status": 500}, html, b""),
        ({"status": 400, "body": {"oops": [1, None]}}, json, b'{"oops":[1,null]}'),
        ({"status": 200, "body": "{", "content_type": "application/json"}, json, b"{"),
    ):
        with subtests.test(rule=rule), sandbox.faults.add("error", **rule):
            answer = sandbox.client().get(BALANCE)
            assert (answer.status_code, answer.content_type, answer.data) == (
                rule["status"],
                content_type,
                raw,
            )
    sandbox.faults.add("error", error="internal_error", status=502, retry_after=30)
    answer = sandbox.client().get(BALANCE)
    assert (answer.status_code, answer.json["error"], answer.headers["Retry-After"]) == (
        502,
        "internal_error",
        "30",
    )


def test_mutate(sandbox: Sandbox, subtests) -> None:
    client = sandbox.client()
    name = "domain.contacts.reg-contact.name"
    for target, rule, change in (
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
            {"path": name, "type": "object"},
            lambda body: body["domain"]["contacts"]["reg-contact"].update(name={"value": "Main Holder"}),
        ),
    ):
        with subtests.test(rule=rule):
            expected = client.get(target).json
            change(expected)
            with sandbox.faults.add("mutate", **rule) as placed:
                assert client.get(target).json == expected
                assert (placed.matched, placed.struck) == (1, 1)
            assert client.get(target).json != expected, "the world itself is unchanged"
    with sandbox.faults.add("mutate", path="[7].balance", drop=True) as placed:
        assert "X-Sandbox-Fault" not in client.get(BALANCE).headers
        assert (placed.matched, placed.struck) == (1, 0)


def test_several_changes_and_a_cut(dial: Dialler, served: Sandbox) -> None:
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


def test_the_journal_tells_an_error_after_the_effect_from_the_retry(sandbox: Sandbox) -> None:
    sandbox.faults.add("error", status=500, when={"phase": "after", "times": 1})
    first, second = (sandbox.client().post(CREATE, json=register("new.com")) for _ in range(2))
    assert (first.status_code, second.status_code, second.json["error"]) == (500, 409, "name_taken")
    assert charges(sandbox, "new.com") == [(first.headers["X-Sandbox-Request"], "-10.00")]
    struck, retry = (sandbox.journal.get(request) for request in ("r1", "r2"))
    assert (struck.fault, struck.fault_kind, struck.answer.lost, struck.refused) == (
        "error",
        "error",
        True,
        None,
    )
    assert struck.changes
    assert retry.refused is not None
    assert (retry.fault, retry.answer.lost, retry.changes) == (None, False, ())
