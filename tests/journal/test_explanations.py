"""Why a request was refused: the rule, the state it met, and the nearest move that would be allowed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.lifecycle import Action
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from tests.clients import Api
from tests.registry import arrange_balance, ask_for
from tests.v2 import test_stages as v2_stages
from tests.v2.client import connect
from tests.v3 import test_stages as v3_stages
from tests.worlds.control import Control, inside, money_of, register, renew


def _refusal(steer: Control) -> dict[str, Any]:
    refusal = steer.get("journal")["requests"][-1]["refusal"]
    assert refusal is not None
    return dict(refusal)


def _met(refusal: dict[str, Any]) -> dict[str, Any]:
    return dict(refusal["met"]["domains"][0])


def test_a_removed_name_is_restored_before_it_is_renewed(steer: Control, main: Api) -> None:
    """Where an action would lead to the stage that is asked for, it is named, and so is who has it."""
    refused = renew(main, "redemption.com")
    refusal = _refusal(steer)
    assert refusal["rule"] == "wrong_state"
    assert refused.message.endswith("possible there: only reading glue records until pending delete.")
    assert refusal["allowed"] == "ask for its restore in v2.0 first, which makes it active"
    met = _met(refusal)
    assert (met["domain"], met["holder"], met["stage"]) == ("redemption.com", "main", "redemption")
    assert met["due"] == "2026-03-28T12:00:00Z"


@pytest.mark.parametrize(
    ("name", "words", "at"),
    [
        ("requested.com", "wait for the activation at 2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z"),
        ("pending.com", "wait for the release at 2026-03-03T12:00:00Z", "2026-03-03T12:00:00Z"),
        ("arriving.com", "wait for the transfer completion at 2026-03-04T12:00:00Z", "2026-03-04T12:00:00Z"),
        ("overdue.com", "ask for its renewal first, which makes it active", None),
    ],
)
def test_where_only_time_leads_on_the_instant_is_told(
    steer: Control, main: Api, name: str, words: str, at: str | None
) -> None:
    """The explanation names the event and when it happens."""
    main.post(f"/v3/domains/lock/{name}")
    refusal = _refusal(steer)
    assert (refusal["rule"], refusal["allowed"], refusal["allowed_at"]) == ("wrong_state", words, at)


@pytest.mark.parametrize(
    "name", ["requested.com", "processing.com", "arriving.com", "overdue.com", "pending.com"]
)
def test_at_the_instant_that_is_told_the_stage_hinders_no_more(sandbox: Sandbox, name: str) -> None:
    """And until then it does, whatever is asked for; a name that is released then is nobody's."""
    sandbox.assumptions.set({"v2.order_processing": "3600"})
    asked = [(method, target, body) for _, method, target, body in v3_stages.OPERATIONS.values()]
    asked.append(("PUT", f"/V2.0/domain/{v3_stages.NAME}/restore", None))
    for method, target, body in asked:
        path = target.replace(v3_stages.NAME, name)

        def refusal(at: Sandbox, method: str = method, path: str = path, body: Any = body) -> Any:
            at.client().open(path, method=method, json=body)
            return at.journal.find(limit=1).requests[0].refusal

        met = refusal(sandbox)
        if met is None or met.rule != "wrong_state" or met.allowed_at is None:
            assert met is None or "wait for" not in met.allowed, met.allowed
            continue
        with sandbox.fork(point="now") as fork:
            fork.clock.set(met.allowed_at - timedelta(seconds=1))
            assert refusal(fork).rule == "wrong_state", (path, met.allowed)
            fork.clock.set(met.allowed_at)
            then = refusal(fork)
            assert then is None or then.rule != "wrong_state", (path, met.allowed)


@pytest.mark.parametrize(
    ("name", "more"),
    [("active.com", "; it can be renewed"), ("overdue.com", "; it can be renewed"), ("arriving.com", "")],
)
def test_what_has_not_been_removed_cannot_be_restored(sandbox: Sandbox, name: str, more: str) -> None:
    """So nothing is said of waiting for that."""
    connect(sandbox).put(f"/domain/{name}/restore")
    refusal = sandbox.journal.find(limit=1).requests[0].refusal
    assert refusal is not None
    assert refusal.allowed == f"it has not been removed, so there is nothing to restore{more}"
    assert refusal.allowed_at is None


def test_an_interface_is_told_what_it_has(sandbox: Sandbox, steer: Control) -> None:
    """v2.0 can restore, and is told so in its own words."""
    answer = connect(sandbox).put(
        "/domain/redemption.com/renew", {"period": 1, "current_expiry_date": "2027-01-01"}
    )
    told = answer.headers["x-sandbox-refusal"]
    assert told.endswith("where renewal is not possible; possible there: restore, reading glue records.")
    assert _refusal(steer)["allowed"] == "ask for its restore first, which makes it active"
    connect(sandbox).put("/domain/overdue.com", {"client_hold": 1})
    assert (
        "where domain edit is not possible; possible there: renewal, delete, " in _refusal(steer)["message"]
    )


@pytest.mark.parametrize(
    ("interface", "operations"), [(V3, v3_stages.OPERATIONS), (V2, v2_stages.OPERATIONS)]
)
def test_an_interface_lacks_what_it_has_no_operation_for(interface: Any, operations: dict[str, Any]) -> None:
    """Of the actions that it has, each is made by an operation; in v2.0 an edit makes many."""
    made = {action for action, *_ in operations.values()} | {Action.TRANSFER_OUT, Action.CANCEL_TRANSFER}
    if interface is V2:
        made |= {action for action in Action if interface.wording.word(action).startswith("client_")}
    assert set(interface.wording.possible(Action)) == made


def test_the_instant_that_is_told_is_right(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """At that instant the refused request is let through; a second before it is not."""
    inside(sandbox, "other").post(
        "/v3/domains/requestTransfer", {"domain": {"domainName": "early.com"}, "authCode": "x"}
    )
    refusal = _refusal(steer)
    assert refusal["rule"] == "too_young"
    at = refusal["allowed_at"]
    code = main.get("/v3/domains/getAuthcode/early.com").json["authCode"]
    wish = {"domain": {"domainName": "early.com"}, "authCode": code}
    other = inside(sandbox, "other")
    sandbox.clock.set(at)
    with sandbox.fork() as fork:
        assert inside(fork, "other").post("/v3/domains/requestTransfer", wish).status == 200
    sandbox.rewind("r1")
    main.get("/v3/balance")
    sandbox.clock.advance("PT1H")
    assert other.post("/v3/domains/requestTransfer", wish).error == "too_young"


def test_money_that_is_missing_is_counted(sandbox: Sandbox, steer: Control) -> None:
    """The explanation says by how much the balance is too low, and with so much more it is enough."""
    register(inside(sandbox, "poor"), "dear.com")
    refusal = _refusal(steer)
    assert refusal["allowed"] == "top up the balance by 9.00 USD or more"
    assert (refusal["met"]["account"], refusal["met"]["balance"]) == ("poor", "1.00")
    arrange_balance(sandbox, "10.00", "poor")
    assert register(inside(sandbox, "poor"), "dear.com").status == 200


def test_who_holds_a_name_is_told(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """A name that is taken, or another account's, or nobody's."""
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


def test_a_lock_names_its_key(steer: Control, main: Api) -> None:
    """What is locked is unlocked by the operation that the explanation names."""
    main.post("/v3/domains/lockUpdate/active.com")
    body = {"nameservers": ["ns1.elsewhere.net"]}
    assert main.post("/v3/domains/setNameservers/active.com", body).error == "locked"
    refusal = _refusal(steer)
    assert refusal["allowed"] == "take client_update_prohibited off with unlockUpdate first"
    assert _met(refusal)["flags"] == ["client_update_prohibited"]
    main.post("/v3/domains/unlockUpdate/active.com")
    assert main.post("/v3/domains/setNameservers/active.com", body).status == 200


def test_a_pending_transfer_says_who_may_end_it(sandbox: Sandbox, steer: Control, main: Api) -> None:
    """The parties to a transfer, and when it ends by itself."""
    ask_for(sandbox, "second.com")
    renew(main, "second.com")
    refusal = _refusal(steer)
    assert refusal["rule"] == "transfer_pending"
    assert refusal["allowed_at"] == _met(refusal)["transfer_completes"] == "2026-03-06T12:00:00Z"


@pytest.mark.parametrize(
    ("verb", "who"),
    [("approve", "another registrar"), ("reject", "another registrar"), ("cancel", "this account")],
)
def test_without_a_transfer_it_is_told_who_has_to_ask(steer: Control, main: Api, verb: str, who: str) -> None:
    """What leaves is approved and rejected; what comes is cancelled."""
    main.post(f"/v3/domains/{verb}Transfer/active.com")
    assert _refusal(steer)["allowed"] == f"{who} has to ask for the name first"


def test_prices_and_periods_name_what_is_right(steer: Control, main: Api) -> None:
    """The value that would be taken is in the explanation."""
    main.post("/v3/domains/renewDomain/gold.com", {"years": 1, "purchaseCost": 1})
    assert _refusal(steer)["allowed"] == "send purchaseCost 300.00"
    register(main, "short.shop", 1)
    assert _refusal(steer)["allowed"] == "ask for at least 2 years"
    register(main, "long.shop", 9)
    assert _refusal(steer)["allowed"] == "ask for at most 5 years"


def test_a_request_that_was_not_refused_needs_no_explanation(steer: Control, main: Api) -> None:
    """There is nothing to explain."""
    money_of(main)
    assert steer.get("journal/r1")["refusal"] is None
