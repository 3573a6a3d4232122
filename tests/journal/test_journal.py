"""The journal: every request with what came of it, to be filtered and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, InProcess
from tests.registry import REGISTRY
from tests.shapes import ISO, fits
from tests.worlds.control import Control, control, inside, money_of, over_socket, register, renew


def test_an_entry_says_all_there_is_to_say(sandbox: Sandbox) -> None:
    """Who asked for what and when, the answer, how long it took, what changed, and what it cost."""
    with over_socket(sandbox) as (url, socket):
        held = sandbox.account()
        register(Api(socket, url, held.key, held.secret), "told.com", 2)
        entry = Control(socket).get("journal/r1")
    fits(
        entry,
        {
            "id": "r1",
            "at": ISO,
            "operation": "v3.createDomain",
            "account": "main",
            "domains": ["told.com"],
            "status": 200,
            "carried_out": True,
            "outcome": "ok",
            "fault": None,
            "fault_kind": None,
            "number": 1,
            "refused": None,
            "charged": "20.00",
            "duration_ms": float,
            "held_up_seconds": 0.0,
            "method": "POST",
            "path": "/v3/domains/createDomain",
            "request": {
                "method": "POST",
                "target": "/v3/domains/createDomain",
                "ignored": [],
                "headers": {
                    "Content-Length": str,
                    "Content-Type": str,
                    "Host": str,
                    "X-Svc-Apikey": "ma***ey",
                    "X-Svc-Signature": "***",
                },
                "body": {"domain": {"domainName": "told.com"}, "years": 2},
                "cut": None,
            },
            "answer": dict,
            "changes": [dict],
            "refusal": None,
            "assumptions": dict,
            "ledger": [
                {
                    "id": int,
                    "at": ISO,
                    "account": "main",
                    "amount": "-20.00",
                    "kind": "charge",
                    "purpose": "registration",
                    "operation": "v3.createDomain",
                    "cause": "r1",
                    "request": "r1",
                    "order": int,
                    "domain": "told.com",
                    "years": 2,
                    "refunds": None,
                }
            ],
        },
    )
    assert len(entry["ledger"]) == 1
    assert entry["answer"]["body"]["totalPaid"] == "20.00"
    assert entry["assumptions"]["v3.ids"] == "string"
    created = {one["table"] for one in entry["changes"] if one["change"] == "created"}
    assert created == {"orders", "ledger"}


@pytest.fixture
def lived(sandbox: Sandbox) -> Control:
    """A world with eight requests of two accounts, a day apart after the third."""
    main, other = inside(sandbox), inside(sandbox, "other")
    money_of(main)
    register(main, "a.com")
    register(main, "a.com")
    sandbox.clock.advance("1d")
    money_of(other)
    other.get("/v3/domains/getDomain/active.com")
    renew(main, "xn--espaa-rta.com")
    main.get("/v3/nowhere")
    main.post("/v3/domains/createDomain", b"{")
    return control(sandbox)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, "r1 r2 r3 r4 r5 r6 r7 r8"),
        ({"operation": "v3.createDomain"}, "r2 r3 r8"),
        ({"operation": "v3.*Domain"}, "r2 r3 r5 r6 r8"),
        ({"operation": "v2.*"}, ""),
        ({"account": "other"}, "r4 r5"),
        ({"domain": "a.com"}, "r2 r3"),
        ({"domain": "A.COM"}, "r2 r3"),
        ({"domain": "españa.com"}, "r6"),
        ({"domain": "*.com"}, "r2 r3 r5 r6"),
        ({"outcome": "ok"}, "r1 r2 r4 r6"),
        ({"outcome": "refused"}, "r3 r5 r7 r8"),
        ({"outcome": "name_taken"}, "r3"),
        ({"outcome": "404"}, "r5 r7"),
        ({"outcome": "4xx"}, "r3 r5 r7 r8"),
        ({"outcome": "fault"}, ""),
        ({"carried_out": "true"}, "r1 r2 r4 r6"),
        ({"carried_out": "false"}, "r3 r5 r7 r8"),
        ({"fault": "*"}, ""),
        ({"since": "r4"}, "r5 r6 r7 r8"),
        ({"since": "2026-03-02T12:00:00Z"}, "r4 r5 r6 r7 r8"),
        ({"since": "2026-03-02T12:00:01Z"}, ""),
        ({"method": "get"}, "r1 r4 r5 r7"),
        ({"path": "/v3/domains/*"}, "r2 r3 r5 r6 r8"),
        ({"limit": 2}, "r7 r8"),
        ({"limit": 0}, ""),
        ({"account": "main", "outcome": "ok", "limit": 1}, "r6"),
    ],
)
def test_filters(lived: Control, query: dict[str, Any], found: str) -> None:
    """Each filter takes exactly its requests; several are taken together; the latest are shown."""
    answer = lived.get("journal", **query)
    assert [one["id"] for one in answer["requests"]] == found.split()
    assert answer["kept"] == 8


def test_what_no_operation_takes_is_there_too(steer: Control, main: Api, sandbox: Sandbox) -> None:
    """Whom the credentials belong to is known, so the request is its world's, though nothing came of it."""
    main.get("/v3/domains/getDomains/active.com")
    main.put("/v3/balance", {})
    refused = [(one["operation"], one["account"], one["outcome"]) for one in steer.get("journal")["requests"]]
    assert refused == [("-", "main", "unknown_path"), ("-", "main", "method_not_allowed")]
    explained = sandbox.journal.why("r1")
    assert explained is not None
    assert "GET /v3/domains/getDomain/{domainName}" in explained.allowed


def test_so_is_what_came_with_revoked_credentials(steer: Control, main: Api, sandbox: Sandbox) -> None:
    """It was let in nowhere, but it is known whom they belonged to."""
    sandbox.outside.revoke_credentials("main")
    assert main.get("/v3/balance").error == "unknown_key"
    main.transport("GET", "/V2.0/dom/x", [("X-Auth-Token", sandbox.account().token)], b"")
    first, second = steer.get("journal")["requests"]
    assert (first["account"], first["outcome"]) == ("main", "unknown_key")
    assert "restore the credentials of main" in first["refusal"]["allowed"]
    assert (second["account"], second["outcome"]) == ("main", "unknown_path")
    sandbox.outside.restore_credentials("main")
    assert money_of(main) == "10000.00"


@pytest.mark.parametrize(
    "query",
    [
        "outcome=nam_taken",
        "outcome=99",
        "since=yesterday",
        "since=r",
        "limit=-1",
        "limit=x",
        "colour=red",
        "carried_out=yes",
    ],
)
def test_a_filter_that_takes_nothing_sensible(lived: Control, query: str) -> None:
    """It is refused, not answered with an empty list."""
    assert lived.refused("GET", f"journal?{query}")[:2] == (400, "invalid_parameter")


def test_the_journal_is_bounded_and_cleared() -> None:
    """The oldest go first, and are counted; clearing forgets the rest, but nothing that they did."""
    sandbox = Sandbox(REGISTRY, journal=3)
    steer, api = control(sandbox), inside(sandbox)
    for number in range(5):
        register(api, f"n{number}.com")
    answer = steer.get("journal")
    assert ([one["id"] for one in answer["requests"]], answer["dropped"]) == (["r3", "r4", "r5"], 2)
    assert steer.delete("journal") == {"cleared": 3}
    assert steer.get("journal")["requests"] == []
    assert steer.refused("GET", "journal/r5")[:2] == (404, "unknown_request")
    assert money_of(api) == "9950.00"


def test_long_bodies_are_kept_in_part() -> None:
    """Past the setting a body is cut, and its size told; what is secret in it is masked before."""
    sandbox = Sandbox(REGISTRY, journal_body=200)
    inside(sandbox).post(
        "/v3/domains/setAuthcode/active.com", {"authCode": "the-secret-code", "padding": "x" * 5000}
    )
    entry = control(sandbox).get("journal/r1")
    assert entry["request"]["cut"] > 5000
    assert len(str(entry["request"]["body"])) <= 200
    assert "the-secret-code" not in str(entry)
    assert len(sandbox.world.journal.entries[0].body) <= 200


def test_control_requests_are_not_in_it(steer: Control) -> None:
    """To look changes nothing, and takes no request's name."""
    steer.get("journal")
    steer.post("clock/advance", {"by": "1d"})
    assert steer.get("journal")["kept"] == 0


def test_each_world_has_its_own(sandbox: Sandbox, steer: Control) -> None:
    """A fork's requests are in the fork's journal alone."""
    with sandbox.fork() as fork:
        money_of(inside(fork))
        assert [entry.id for entry in fork.world.journal] == ["r1"]
        assert control(sandbox, "w1").get("journal")["kept"] == 1
    assert steer.get("journal")["kept"] == 0


def test_in_python_by_the_same_names(sandbox: Sandbox, main: Api) -> None:
    """Requests are found as control finds them and shown as control shows them."""
    register(main, "py.com")
    register(main, "py.com")
    found = sandbox.journal.find(outcome="name_taken")
    assert (found.matching, found.kept, [entry.id for entry in found.requests]) == (1, 2, ["r2"])
    assert sandbox.journal.count(operation="v3.create*") == 2
    shown = sandbox.journal["r2"]
    assert shown.refusal is not None
    assert shown.refusal.rule == "name_taken"
    assert shown.changes == ()
    assert sandbox.journal.why("r2") == shown.refusal
    assert sandbox.journal.why("r1") is None
    assert sandbox.journal.clear().cleared == 2
    assert sandbox.journal.count() == 0


def test_a_v2_request_is_journalled_alike(sandbox: Sandbox, steer: Control) -> None:
    """Both generations stand in one journal."""
    token = sandbox.account().token
    headers = [("X-Auth-Token", token)]
    InProcess(sandbox.app)("GET", "/V2.0/domain/active.com", headers, b"")
    [entry] = steer.get("journal", operation="v2.*")["requests"]
    assert (entry["account"], entry["domains"]) == ("main", ["active.com"])
