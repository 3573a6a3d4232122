"""Each assumption about v2.0: every value has the effect that it describes, and the answer names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer
from tests.registry import Make, balance, edit_name, edit_zone
from tests.v2.client import FORM, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, WORKS, Ask

RENEW = WORKS["v2.domain.renew"]
LINKED = {"code": 403, "msg": "You can not delete the contact has active orders"}
ZONES = ["com", "com.ua", "net", "quiet", "shop"]
WRONG_ENDS: tuple[Any, ...] = ("2027-11-20", "2028-11-21", "2026-11-21", "2027-02-30", "soon", 5, [], {})
RIGHT_ENDS = ("2027-11-21", "2027-11-21 23:00:00", "2027-11-21T12:00:00Z")


def get(path: str) -> Ask:
    return Ask("GET", path)


def put(path: str, **body: Any) -> Ask:
    return Ask("PUT", path, body)


def register(name: str, **changes: Any) -> Ask:
    return Ask("POST", f"/domain/{name}", {**NAME, **changes})


def contact(handle: str, **changes: Any) -> Ask:
    return Ask("POST", f"/contact/{handle}", {**CARD, **changes})


def new_customer(keys: set[str]) -> Ask:
    return Ask("POST", "/customer", {key: CUSTOMER[key] for key in keys})


def nameservers(**changes: list[str]) -> Ask:
    return Ask("PUT", "/domain/active.com", {"ns": changes})


def availability(free: object, taken: object) -> list[tuple[Ask, Any]]:
    names = {"new.com": free, "active.com": taken, "theirs.com": taken, "nic.com": taken}
    return [(get(f"/domain/{name}/check"), {"avail": word}) for name, word in names.items()]


def too_long(limits: dict[int, int]) -> list[tuple[Ask, Any]]:
    renewals = {years: RENEW.with_(date_end=None, period=years) for years in limits}
    return [(renewals[years], f"400 maximum value period: {most}") for years, most in limits.items()]


def spelled(when_ascii: str, when_unicode: str) -> list[tuple[Ask, Any]]:
    body = {"current_expiry_date": "2026-11-21", "period": 1}
    again = {**body, "current_expiry_date": "2027-11-21"}
    return [
        (Ask("PUT", "/domain/xn--espaa-rta.com/renew", body), {"data": {"domain": when_ascii}}),
        (Ask("PUT", "/domain/espa%C3%B1a.com/renew", again), {"data": {"domain": when_unicode}}),
    ]


def ends(expected: Any, values: tuple[Any, ...]) -> list[tuple[Ask, Any]]:
    return [(RENEW.with_(date_end=value), expected) for value in values]


ENDS = {"date_end": "2026-11-21 12:00:00"}
POSTAL = {"address", "city", "country", "mail", "name", "phone", "zip"}
LOOSE_PHONE = contact("A", phone="+380 (48) 123-45-67")
ADDED, REMOVED = (nameservers(add=["NS1.home.net."]), nameservers(**{"del": ["ns9.home.net"]}))
OLD_SERVERS = (get("/domain/active.com"), {"ns": ["ns1.home.net", "ns2.home.net"]})
NO_ID = "400 Invalid customer_id"
NO_LICENSE = "400 Not the correct license"

#: For each value of an assumption, requests with the code and message of a refusal, or a part of the body.
#: The first answer names the assumption.
ROWS: dict[str, dict[Any, list[tuple[Ask, Any]]]] = {
    "v2.customer_edit.by": {
        "mail": [
            (put("/customer", mail="seven@example.com", name="A"), {}),
            (put("/customer", customer_id=7, mail="new@example.com"), {}),
            (put("/customer/7", mail="newer@example.com"), {}),
            (get("/customer/7"), {"data": {"mail": "newer@example.com"}}),
        ],
        "customer_id": [
            (put("/customer", mail="seven@example.com"), NO_ID),
            (put("/customer", customer_id=7, mail="new@example.com"), {}),
            (put("/customer/7", name="B"), {}),
            (put("/customer", customer_id="7"), NO_ID),
        ],
    },
    "v2.domain_info.shape": {
        "bare": [(get("/domain/active.com"), ENDS)],
        "wrapped": [(get("/domain/active.com"), {"status": True, "data": ENDS})],
    },
    "v2.domain_check.avail": {"string": availability("true", "false"), "boolean": availability(True, False)},
    "v2.zones.data": {
        "list": [(get("/domain/zones"), {"data": [{"zone": zone} for zone in ZONES]})],
        "object": [
            (get("/domain/zones"), {"data": {"zone": "com"}}),
            (get("/domain/zones/start/1"), {"data": {"zone": "com.ua"}}),
            (get("/domain/zones/start/99"), {"data": {}}),
        ],
    },
    "v2.customer_delete.refusal_status": {
        "true": [(Ask("DELETE", "/customer/7"), {**LINKED, "status": True})],
        "false": [(Ask("DELETE", "/customer/7"), {**LINKED, "status": False})],
    },
    "v2.extra_contact_params": {"fixture": [(contact("NEW", tax_number="12345678"), {})]},
    "v2.license": {
        "license": [
            (register("new.com.ua", license="123456"), {}),
            (register("two.com.ua", certificate="123456"), NO_LICENSE),
            (register("three.com"), {}),
        ],
        "certificate": [
            (register("new.com.ua", certificate="123456"), {}),
            (register("two.com.ua", license="123456"), NO_LICENSE),
        ],
    },
    "v2.contact.required": {
        "postal": [(contact("N", company="", fax="", region=""), {})],
        "all": [(contact("N", **{key: ""}), f"400 Not enough parameter: {key}") for key in CARD],
    },
    "v2.customer.required": {
        "mail_and_name": [(new_customer({"mail", "name"}), {})],
        "postal": [
            (new_customer(POSTAL), {}),
            *((new_customer(POSTAL - {k}), f"400 Invalid {k}") for k in POSTAL),
        ],
        "all": [(new_customer({*CUSTOMER} - {key}), f"400 Invalid {key}") for key in CUSTOMER],
    },
    "v2.phone": {
        "any": [(LOOSE_PHONE, {})],
        "dotted": [(LOOSE_PHONE, "400 Invalid value for extra param phone"), (contact("B"), {})],
    },
    "v2.arriving_status": {
        "processing": [(get("/domain/arriving.com"), {"status": "1"})],
        "requested": [(get("/domain/arriving.com"), {"status": "0"})],
    },
    "v2.ns.repeated": {
        "refused": [
            (ADDED, "400 Not the correct ns: NS1.home.net."),
            (REMOVED, "400 Not the correct ns: ns9.home.net"),
            OLD_SERVERS,
        ],
        "accepted": [(ADDED, {}), (REMOVED, {}), OLD_SERVERS],
    },
    "v2.names.form": {
        "as_asked": spelled("xn--espaa-rta.com", "españa.com"),
        "ascii": spelled("xn--espaa-rta.com", "xn--espaa-rta.com"),
        "unicode": spelled("españa.com", "españa.com"),
    },
    "v2.renew.maximum": {"remaining": too_long({10: 9, 11: 9}), "zone": too_long({10: 9, 11: 10})},
    "v2.renew.date_end": {
        "checked": ends("400 Not the correct current_expiry_date", WRONG_ENDS),
        "ignored": ends({"data": {"date_end": "2027-11-21 12:00:00"}}, (*WRONG_ENDS, *RIGHT_ENDS)),
    },
}

Check = Callable[[Sandbox, Client, Any], Answer]
#: The assumptions of which a value needs more than requests, with the values to try where not all are listed.
CHECKS: dict[str, tuple[Check, list[Any]]] = {}


def assumption(name: str, *values: Any) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        CHECKS[name] = check, list(values)
        return check

    return add


@assumption("v2.versions", "V2.0,v2.1")
def versions(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    client.version = "v2.0"
    assert "v2.versions" not in client.get("/domain/new.com/check").assumptions
    client.version = "V2.1"
    answer = client.get("/domain/new.com/check")
    assert done(answer)
    sandbox.assumptions.set({"v2.versions": "V3.0"})
    assert client.get("/domain/new.com/check").json["msg"] == "no implementation for this version"
    client.version = "V3.0"
    assert done(client.get("/domain/new.com/check"))
    return answer


@assumption("v2.token_headers", "X-Auth-Token,X-Token")
def token_headers(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    assert "v2.token_headers" not in client.get("/customer/1").assumptions
    answer = client.call("GET", "/domain/new.com/check", headers=[("x-token", "main-token")])
    assert done(answer)
    sandbox.assumptions.set({"v2.token_headers": "X-Token"})
    refused = client.get("/customer/1")
    assert refusal(refused) == (403, "Token not found", "token_missing")
    assert "--token-header X-Auth-Token would take" in refused.headers["x-sandbox-refusal"]
    return answer


@assumption("v2.http_status")
def http_status(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    answers = [client.get("/nothing"), client.get("/customer/9")]
    status = {"mirror": 404, "always_200": 200}[value]
    assert [(answer.status, answer.json["code"]) for answer in answers] == [(status, 404)] * 2
    return answers[1]


@assumption("v2.transfer_status")
def transfer_status(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    path = "/domain/leaving.com/transfer"
    ways: dict[tuple[str, str], Callable[[], object]] = {
        ("pending", "pending"): lambda: None,
        ("clientApproved", "approved"): lambda: done(client.put(f"{path}/approve")),
        ("clientRejected", "rejected"): lambda: done(client.put(f"{path}/reject")),
        ("clientCancelled", "cancelled"): lambda: done(connect(sandbox, "other").delete(path)),
        ("serverApproved", "approved"): lambda: sandbox.clock.advance("P5D"),
    }
    for words, end in ways.items():
        begin(sandbox, "v2.transfer_status", value)
        end()
        answer = client.get(path)
        assert answer.json["transfer_status"] == words[value == "plain"]
    return answer


@assumption("v2.request_format")
def request_format(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    client.own = [FORM]
    assert "v2.request_format" not in client.post("/domain/new.com", NAME).assumptions  # the body is JSON
    answer = client.post("/domain/elsewhere.com/transfer", b"customer_id=8&transfer_code=let-me-in")
    assert answer.status == (415 if value == "json" else 200), answer.raw
    return answer


@assumption("v2.order_processing", 60)
def order_processing(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    answer = client.post("/domain/new.com", NAME)
    for status in ("0", "1", "2"):
        assert client.get("/domain/new.com").json["status"] == status
        if status == "0":
            assert refusal(client.put("/domain/new.com", {"client_hold": 1}))[1] == "Not the correct status"
        sandbox.clock.advance(60)
    sandbox.reset(original=True)
    assert done(client.post("/domain/new.com", NAME))
    assert client.get("/domain/new.com").json["status"] == "2"
    return answer


@assumption("v2.active_orders")
def active_orders(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    counts = {"active": 1, "overdue": int(value == "unremoved"), "redemption": 0}
    for stage, count in counts.items():
        edit_name(sandbox, "active.com", stage=stage)
        answer = client.get("/customer/7")
        assert answer.json["data"]["count_active_orders"] == count
    edit_name(sandbox, "active.com", stage="overdue")
    assert client.delete("/customer/7").status == (403 if counts["overdue"] else 200)
    return answer


@assumption("v2.premium_names")
def premium_names(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    premium = {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}
    edit_zone(sandbox, "net", premium={"gold": premium})
    answer = client.get("/domain/gold.net/check")
    assert answer.json["avail"] == {"charged": "true", "refused": "false"}[value]
    assert "v2.premium_names" not in client.get("/domain/plain.net/check").assumptions
    answer = WORKS["v2.domain.register"].at("/domain/gold.net").send(client)
    compare(answer, {} if value == "charged" else "403 Domain is already registered")
    assert balance(sandbox) == (9000 if value == "charged" else 10_000)
    return answer


@assumption("v2.zones.no_promotion")
def no_promotion(sandbox: Sandbox, client: Client, value: Any) -> Answer:
    keys = sorted(f"{name}_{term}_action" for name in ("price", "date_end") for term in ("reg", "renew"))
    shown = {"regular": ["", "", 10.0, 12.0], "nulls": [None] * 4, "omitted": []}
    answer = client.get("/domain/zones/popular")
    com, net = answer.json["data"]
    assert [com[key] for key in keys if key in com] == shown[value]
    assert [net[key] for key in keys][2:] == [4.75, 5.0]
    return answer


def compare(answer: Answer, expected: Any) -> None:
    """Assert the code and message of a refusal, or a part of a body."""
    if isinstance(expected, str):
        assert "{} {}".format(*refusal(answer)[:2]) == expected
    else:
        assert answer.status == expected.get("code", 200), answer.raw
        compare_part(answer.json, expected)


def compare_part(value: Any, expected: Any) -> None:
    if isinstance(expected, dict) and expected:
        for key, inner in expected.items():
            compare_part(value[key], inner)
    elif isinstance(expected, list):
        for item, inner in zip(value, expected, strict=True):
            compare_part(item, inner)
    elif expected != {} or not isinstance(value, dict):
        assert (value, type(value)) == (expected, type(expected))


def begin(sandbox: Sandbox, name: str, value: Any) -> Client:
    """Return a client of the world as it began, but for one assumption."""
    sandbox.reset(original=True)
    sandbox.assumptions.set({name: value})
    return connect(sandbox)


@pytest.mark.parametrize("name", [*ROWS, *CHECKS])
def test_an_assumption_has_its_effect_and_is_named_in_the_response(
    sandbox: Sandbox, name: str, subtests
) -> None:
    takes = next(row.takes for row in sandbox.assumptions.list().assumptions if row.name == name)
    listed = takes.removeprefix("one of ").split(", ")
    if name in ROWS and takes.startswith("one of "):
        assert set(listed) == set(ROWS[name])
    for value in ROWS.get(name) or CHECKS[name][1] or listed:
        with subtests.test(value=value):
            client = begin(sandbox, name, value)
            if name in CHECKS:
                answer = CHECKS[name][0](sandbox, client, value)
            else:
                answer, *_ = [respond(sandbox, client, row) for row in ROWS[name][value]]
            assert answer.assumptions[name] == str(value).replace(",", "|")


def respond(sandbox: Sandbox, client: Client, row: tuple[Ask, Any]) -> Answer:
    """Send the request of a row, compare its answer, and undo a renewal, which the next row may repeat."""
    answer = row[0].send(client)
    compare(answer, row[1])
    if row[0].path == RENEW.path and answer.status == 200:
        sandbox.rewind(answer.headers["x-sandbox-request"])
    return answer


def test_every_v2_assumption_is_tested(sandbox: Sandbox) -> None:
    names = [row.name for row in sandbox.assumptions.list().assumptions]
    assert {name for name in names if name.startswith("v2.")} == {*ROWS, *CHECKS}


def test_every_operation_succeeds_under_both_profiles(make: Make) -> None:
    for profile in ("documented", "observed"):
        sandbox = make(profile=profile)
        client = connect(sandbox)
        for ask in WORKS.values():
            sandbox.reset()
            assert done(ask.send(client))
    client.own = [FORM]
    assert done(client.post("/domain/elsewhere.com/transfer", b"transfer_code=let-me-in"))
    assert client.get("/domain/new.com/check").json["avail"] is True
    assert client.get("/domain/active.com").json["data"]["status"] == "2"
    assert client.delete("/customer/7").json["status"] is False
