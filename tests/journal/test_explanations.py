"""A refusal has its rule, the state that it met, and the nearest request that would be allowed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.worlds.control import Control, inside, money_of, register, renew


def _refusal(steer: Control) -> dict[str, Any]:
    refusal = steer.get("journal")["requests"][-1]["refusal"]
    assert refusal is not None
    return dict(refusal)


def _met(refusal: dict[str, Any]) -> dict[str, Any]:
    return dict(refusal["met"]["domains"][0])


def test_a_removed_name_can_be_restored_before_it_is_renewed(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    """The explanation names the interface that has the operation."""
    message = renew(main, "redemption.com").message
    refusal = _refusal(steer)
    assert refusal["rule"] == "wrong_state"
    assert message.endswith("possible there: only reading glue records until pending delete.")
    assert refusal["allowed"] == "ask for its restore in v2.0 first, which makes it active"
    met = _met(refusal)
    assert (met["domain"], met["holder"], met["stage"]) == ("redemption.com", "main", "redemption")
    assert met["due"] == "2026-03-28T12:00:00Z"
    client = sandbox.client()
    body = {"period": 1, "current_expiry_date": "2027-01-01"}
    answer = client.put("/V2.0/domain/redemption.com/renew", json=body)
    assert answer.headers["x-sandbox-refusal"].endswith("possible there: restore, reading glue records.")
    assert _refusal(steer)["allowed"] == "ask for its restore first, which makes it active"
    client.put("/V2.0/domain/overdue.com", json={"client_hold": 1})
    assert "domain edit is not possible; possible there: renewal, delete, " in _refusal(steer)["message"]
    client.put("/V2.0/domain/active.com/renew", json={**body, "current_expiry_date": "2001-01-01"})
    assert _refusal(steer)["facts"]["given"] == "2001-01-01"
    for name, more in {"active.com": "; it can be renewed", "arriving.com": ""}.items():
        client.put(f"/V2.0/domain/{name}/restore")
        refusal = _refusal(steer)
        assert refusal["allowed"] == f"it has not been removed, so there is nothing to restore{more}"
        assert refusal["allowed_at"] is None


def test_the_explanation_names_the_event_that_allows_the_request(steer: Control, main: Api) -> None:
    for name, words, at in (
        ("requested.com", "wait for the activation at 2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z"),
        ("pending.com", "wait for the release at 2026-03-03T12:00:00Z", "2026-03-03T12:00:00Z"),
        ("arriving.com", "wait for the transfer completion at 2026-03-04T12:00:00Z", "2026-03-04T12:00:00Z"),
        ("overdue.com", "ask for its renewal first, which makes it active", None),
    ):
        main.post(f"/v3/domains/lock/{name}")
        refusal = _refusal(steer)
        assert (refusal["rule"], refusal["allowed"], refusal["allowed_at"]) == ("wrong_state", words, at)


REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/v3/domains/lock/NAME", None),
    ("POST", "/v3/domains/renewDomain/NAME", None),
    ("POST", "/v3/domains/setNameservers/NAME", {"nameservers": ["ns1.example.net"]}),
    ("GET", "/v3/domains/glueRecords/NAME", None),
    ("POST", "/v3/domains/approveTransfer/NAME", None),
    ("POST", "/v3/domains/enableAutorenew/NAME", None),
    ("DELETE", "/V2.0/domain/NAME", None),
    ("PUT", "/V2.0/domain/NAME/restore", None),
]


def test_the_stage_is_no_reason_from_the_named_instant_on(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """A second before that instant the stage still is the reason."""
    sandbox.assumptions.set({"v2.order_processing": "3600"})

    def refusal(at: Sandbox, method: str, path: str, body: Any) -> Any:
        at.client().open(path, method=method, json=body)
        return at.journal.find(limit=1).requests[0].refusal

    waited = 0
    for name in ("requested.com", "processing.com", "arriving.com", "overdue.com", "pending.com"):
        for method, target, body in REQUESTS:
            request = (method, target.replace("NAME", name), body)
            met = refusal(sandbox, *request)
            if met is None or met.rule != "wrong_state" or met.allowed_at is None:
                assert met is None or "wait for" not in met.allowed, met.allowed
                continue
            waited += 1
            with subtests.test(request=request), sandbox.fork(point="now") as fork:
                fork.clock.set(met.allowed_at - timedelta(seconds=1))
                assert refusal(fork, *request).rule == "wrong_state"
                fork.clock.set(met.allowed_at)
                then = refusal(fork, *request)
                assert then is None or then.rule != "wrong_state"
    assert waited > 15


def test_a_young_name_can_be_transferred_from_the_named_instant_on(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    code = main.get("/v3/domains/getAuthcode/early.com").json["authCode"]
    body = {"domain": {"domainName": "early.com"}, "authCode": code}
    other, target = inside(sandbox, "other"), "/v3/domains/requestTransfer"
    other.post(target, {**body, "authCode": "x"})
    refusal = _refusal(steer)
    assert refusal["rule"] == "too_young"
    allowed_at = datetime.fromisoformat(refusal["allowed_at"])
    sandbox.clock.set(allowed_at - timedelta(seconds=1))
    assert other.post(target, body).error == "too_young"
    sandbox.clock.set(allowed_at)
    assert other.post(target, body).status == 200


def test_the_missing_amount_is_named(sandbox: Sandbox, steer: Control) -> None:
    register(inside(sandbox, "poor"), "dear.com")
    refusal = _refusal(steer)
    assert refusal["allowed"] == "top up the balance by 9.00 USD or more"
    assert (refusal["met"]["account"], refusal["met"]["balance"]) == ("poor", "1.00")
    sandbox.outside.adjust_balance("poor", by="9.00")
    assert register(inside(sandbox, "poor"), "dear.com").status == 200


def test_the_holder_of_a_name_is_named(sandbox: Sandbox, steer: Control, main: Api) -> None:
    register(main, "theirs.com")
    assert _refusal(steer)["allowed"].startswith("other holds it: ask for a transfer")
    register(main, "gone.com")
    assert _refusal(steer)["allowed_at"] == "2026-04-04T12:00:00Z"
    for own, more in (
        ("active.com", ": ask for its renewal"),
        ("redemption.com", ": ask for its restore in v2.0"),
        ("requested.com", ""),
    ):
        register(main, own)
        assert _refusal(steer)["allowed"] == f"it is this account's already{more}"
    register(main, "pending.com")
    assert _refusal(steer)["allowed_at"] == "2026-03-03T12:00:00Z"
    main.get("/v3/domains/getDomain/theirs.com")
    assert _refusal(steer)["allowed"].startswith("other holds it: use that account's credentials")
    main.get("/v3/domains/getDomain/elsewhere.com")
    assert _refusal(steer)["allowed"] == "outside holds it: ask for a transfer"
    main.get("/v3/domains/getDomain/nobodys.com")
    assert _refusal(steer)["allowed"] == "nobody holds it: register it first"


def test_the_operation_that_removes_a_lock_is_named(steer: Control, main: Api) -> None:
    main.post("/v3/domains/lockUpdate/active.com")
    body = {"nameservers": ["ns1.elsewhere.net"]}
    assert main.post("/v3/domains/setNameservers/active.com", body).error == "locked"
    refusal = _refusal(steer)
    assert refusal["allowed"] == "take client_update_prohibited off with unlockUpdate first"
    assert _met(refusal)["flags"] == ["client_update_prohibited"]
    main.post("/v3/domains/unlockUpdate/active.com")
    assert main.post("/v3/domains/setNameservers/active.com", body).status == 200


def test_the_end_of_a_pending_transfer_or_its_parties_are_named(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    sandbox.outside.request_transfer("second.com", force=True)
    renew(main, "second.com")
    refusal = _refusal(steer)
    assert refusal["rule"] == "transfer_pending"
    assert refusal["allowed_at"] == _met(refusal)["transfer_completes"] == "2026-03-06T12:00:00Z"
    for verb, party in (("reject", "another registrar"), ("cancel", "this account")):
        main.post(f"/v3/domains/{verb}Transfer/active.com")
        assert _refusal(steer)["allowed"] == f"{party} has to ask for the name first"


def test_unmatched_requests_and_revoked_credentials_are_explained(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    """The credentials tell the account."""
    main.get("/v3/domains/getDomains/active.com")
    main.put("/v3/balance", {})
    sandbox.outside.revoke_credentials("main")
    main.get("/v3/balance")
    sandbox.client().get("/V2.0/dom/x")
    found = steer.get("journal")["requests"]
    assert [(one["operation"], one["account"], one["outcome"]) for one in found] == [
        ("-", "main", "unknown_path"),
        ("-", "main", "method_not_allowed"),
        ("v3.balance", "main", "unknown_key"),
        ("-", "main", "unknown_path"),
    ]
    assert "GET /v3/domains/getDomain/{domainName}" in found[0]["refusal"]["allowed"]
    assert "restore the credentials of main" in found[2]["refusal"]["allowed"]
    sandbox.outside.restore_credentials("main")
    assert money_of(main) == "10000.00"


def test_the_right_price_and_period_are_named(steer: Control, main: Api) -> None:
    main.post("/v3/domains/renewDomain/gold.com", {"years": 1, "purchaseCost": 1})
    assert _refusal(steer)["allowed"] == "send purchaseCost 300.00"
    register(main, "short.shop", 1)
    assert _refusal(steer)["allowed"] == "ask for at least 2 years"
    register(main, "long.shop", 9)
    assert _refusal(steer)["allowed"] == "ask for at most 5 years"
    money_of(main)
    assert steer.get("journal")["requests"][-1]["refusal"] is None
