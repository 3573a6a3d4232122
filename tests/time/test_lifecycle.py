"""The lifecycle that a fixture permits, and renewals in the course of time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.command import printed, run
from tests.registry import REGISTRY, assert_consistent, balance, connect, edit, edit_name, edit_zone
from tests.v2.client import connect as connect_v2
from tests.v2.client import done

NAME, D = "second.com", "/v3/domains"
STAGES = ("requested", "processing", "active", "overdue", "redemption", "pending_delete")

#: A request of v3 and one of v2.0 for each action that either has, by the key of a fixture's ``lifecycle``.
V3: dict[str, tuple[str, str, Any]] = {
    "renew": ("POST", f"{D}/renewDomain/{NAME}", None),
    "set_nameservers": ("POST", f"{D}/setNameservers/{NAME}", {"nameservers": ["ns.a.net"]}),
    "hold": ("POST", f"{D}/lock/{NAME}", None),
    "release_hold": ("POST", f"{D}/unlock/{NAME}", None),
    "lock_transfer": ("POST", f"{D}/lockTransfer/{NAME}", None),
    "unlock_transfer": ("POST", f"{D}/unlockTransfer/{NAME}", None),
    "lock_update": ("POST", f"{D}/lockUpdate/{NAME}", None),
    "unlock_update": ("POST", f"{D}/unlockUpdate/{NAME}", None),
    "set_autorenew": ("POST", f"{D}/enableAutorenew/{NAME}", None),
    "change_hosts": ("POST", f"{D}/glueRecords/{NAME}", {"hostname": "ns2", "ips": ["192.0.2.1"]}),
    "read_hosts": ("GET", f"{D}/glueRecords/{NAME}", None),
    "set_auth_code": ("POST", f"{D}/setAuthcode/{NAME}", {"authcode": "new-code"}),
    "read_auth_code": ("GET", f"{D}/getAuthcode/{NAME}", None),
}
V2: dict[str, tuple[str, str, Any]] = {
    "set_nameservers": ("PUT", f"/domain/{NAME}", {"ns": {"add": ["ns3.home.net"]}}),
    "hold": ("PUT", f"/domain/{NAME}", {"client_hold": 1}),
    "lock_transfer": ("PUT", f"/domain/{NAME}", {"client_transfer_prohibited": 1}),
    "lock_update": ("PUT", f"/domain/{NAME}", {"client_update_prohibited": 1}),
    "delete": ("DELETE", f"/domain/{NAME}", None),
    "restore": ("PUT", f"/domain/{NAME}/restore", None),
    "change_hosts": ("POST", f"/domain/{NAME}/host/ns2", {"ip": [{"ip": "192.0.2.9", "type": "v4"}]}),
    "check_host": ("GET", f"/domain/{NAME}/host/ns2/check", None),
}
TRIED = sorted({*V3, *V2})
ACTIONS = [*TRIED, "set_flags", "set_contacts", "transfer_out"]
ACTIONS += ["approve_transfer", "reject_transfer", "cancel_transfer"]
#: The flags of v2.0 that an action sets.
FLAGS = {
    "hold": "client_hold",
    "lock_transfer": "client_transfer_prohibited",
    "lock_update": "client_update_prohibited",
}


@pytest.mark.parametrize("stage", STAGES)
def test_v2_and_v3_permit_exactly_the_actions_that_the_fixture_lists_for_a_stage(
    sandbox: Sandbox, stage: str, subtests
) -> None:
    """An action is possible at any stage that permits it, and refused at a stage that does not."""
    edit_name(sandbox, NAME, stage=stage)
    forbidden = TRIED[STAGES.index(stage) :: 3]
    for is_permitted in (True, False):
        permitted = [action for action in ACTIONS if is_permitted or action not in forbidden]
        edit(sandbox, {"lifecycle": {stage: permitted}})
        for action in forbidden:
            with subtests.test(action=action, is_permitted=is_permitted):
                if action in V3:
                    sandbox.reset()
                    answer = connect(sandbox).call(*V3[action])
                    assert (answer.error == "wrong_state") is not is_permitted, answer.raw
                    assert is_permitted or "Possible actions: " in answer.message
                if action in V2:
                    sandbox.reset()
                    header = connect_v2(sandbox).call(*V2[action]).headers.get("x-sandbox-refusal", "")
                    assert header.startswith("wrong_state: ") is not is_permitted, header
                    if action in FLAGS and not is_permitted:
                        assert f"where {FLAGS[action]} 1 is not possible" in header


def test_refusal_in_pending_delete_suggests_a_restore_if_the_fixture_permits_a_restore(
    sandbox: Sandbox,
) -> None:
    edit(sandbox, {"lifecycle": {"pending_delete": ["restore"]}})
    body = {"current_expiry_date": "2025-12-22", "period": 1}
    answer = connect_v2(sandbox).put("/domain/pending.com/renew", body)
    assert answer.headers["x-sandbox-refusal"].endswith("Possible actions: restore.")
    refusal = sandbox.journal.list(limit=1).requests[0].refusal
    assert refusal is not None
    assert refusal.allowed == "ask for its restore first, which makes it active"


def test_lifecycle_diagram_shows_the_actions_that_the_fixture_permits(tmp_path: Path) -> None:
    fixture = tmp_path / "registry.yaml"
    fixture.write_text(f"{REGISTRY.read_text('utf-8')}\nlifecycle: {{pending_delete: [restore]}}\n", "utf-8")
    picture = printed("lifecycle", "--fixture", str(fixture))
    assert "    pending_delete --> active: restore\n" in picture
    assert "note right of pending_delete" not in picture
    assert "    pending_delete --> active: restore\n" not in printed("lifecycle")
    wrong = run("lifecycle", "--fixture", "nowhere")
    assert (wrong.status, "there is no such fixture" in wrong.err) == (2, True)


def test_export_contains_the_permitted_actions_of_each_stage(sandbox: Sandbox) -> None:
    edit(sandbox, {"lifecycle": {"overdue": ["read_hosts", "renew"], "active": []}})
    exported = yaml.safe_load(sandbox.export())
    assert exported["lifecycle"] == {"active": [], "overdue": ["renew", "read_hosts"]}
    assert connect(sandbox).post(f"{D}/lock/{NAME}").error == "wrong_state"
    assert connect(sandbox).post(f"{D}/renewDomain/overdue.com").status == 200


RENEWED = "active.com"


@pytest.mark.parametrize(("value", "price"), [("charged", 15), ("free", 12)])
def test_automatic_renewal_costs_the_same_as_a_renewal_by_request(
    sandbox: Sandbox, value: str, price: int
) -> None:
    body = {"current_expiry_date": "2026-11-21", "period": 1}
    ways: tuple[Callable[[], object], ...] = (
        lambda: connect(sandbox).post(f"{D}/renewDomain/{RENEWED}", {"purchaseCost": "12.00"}),
        lambda: connect_v2(sandbox).put(f"/domain/{RENEWED}/renew", body),
        lambda: sandbox.clock.set(sandbox.names[RENEWED].expires),
    )
    for renew in ways:
        sandbox.reset(original=True)
        sandbox.assumptions.set({"v3.privacy.renewal": value})
        expires = sandbox.names[RENEWED].expires
        renew()
        assert sandbox.names[RENEWED].expires == expires.replace(year=expires.year + 1)
        assert balance(sandbox) == 10_000 - price


@pytest.mark.parametrize(("value", "back"), [("all", 56), ("registration", 26)])
def test_deletion_in_the_add_grace_period_refunds_the_assumed_charges(
    sandbox: Sandbox, value: str, back: int
) -> None:
    """A registration of two years with protection, a renewal in v3 and one in v2.0, deleted on day four."""
    sandbox.assumptions.set({"lifecycle.early_delete.refunds": value})
    api, client = connect(sandbox), connect_v2(sandbox)
    body = {"domain": {"domainName": "new.com", "privacyEnabled": True}, "years": 2}
    assert api.post(f"{D}/createDomain", body).json["totalPaid"] == "26.00"
    assert api.post(f"{D}/renewDomain/new.com").json["totalPaid"] == "15.00"
    sandbox.clock.advance("4d")
    done(client.put("/domain/new.com/renew", {"current_expiry_date": "2029-03-01", "period": 1}))
    assert balance(sandbox) == 10_000 - 26 - 15 - 15
    answer = client.delete("/domain/new.com")
    assert done(answer)
    assert answer.assumptions["lifecycle.early_delete.refunds"] == value
    assert balance(sandbox) == 10_000 - 56 + back
    assert_consistent(sandbox)


def begin_without_money(sandbox: Sandbox, tries: str) -> None:
    """Advance to the instant at which a name cannot renew itself."""
    sandbox.assumptions.set({"lifecycle.autorenew.tries": tries})
    sandbox.accounts.set_balance("main", 1)
    sandbox.clock.set(sandbox.names[RENEWED].expires)
    assert sandbox.names[RENEWED].stage == "overdue"


def events(sandbox: Sandbox, by: str, name: str = RENEWED) -> list[str]:
    return [event.event for event in sandbox.clock.advance(by).events if event.subject == name]


@pytest.mark.parametrize("tries", ["once", "daily"])
def test_automatic_renewal_of_an_overdue_name_is_tried_once_or_daily(sandbox: Sandbox, tries: str) -> None:
    """Each try is at the hour of expiry. The term goes on from its end."""
    expires = sandbox.names[RENEWED].expires
    begin_without_money(sandbox, tries)
    with sandbox.fork() as fork:
        failed = ["automatic renewal failed"] * (29 if tries == "daily" else 0)
        assert events(fork, "30d") == [*failed, "redemption"]
        assert fork.names[RENEWED].since == expires + timedelta(days=30)
    assert events(sandbox, "3d") == failed[:3]
    sandbox.accounts.set_balance("main", 100)
    assert events(sandbox, "23h") == []
    assert events(sandbox, "1h") == (["automatic renewal"] if tries == "daily" else [])
    if tries == "once":
        assert connect(sandbox).post(f"{D}/renewDomain/{RENEWED}").json["totalPaid"] == "15.00"
    name = sandbox.names[RENEWED]
    assert (name.stage, name.expires) == ("active", expires.replace(year=expires.year + 1))
    assert balance(sandbox) == 85


def test_overdue_name_without_autorenew_is_not_renewed_automatically(sandbox: Sandbox) -> None:
    edit(sandbox, {"lifecycle": {"overdue": ["renew", "set_autorenew"]}})
    begin_without_money(sandbox, "daily")
    api = connect(sandbox)
    assert api.post(f"{D}/disableAutorenew/{RENEWED}").status == 200
    sandbox.accounts.set_balance("main", 100)
    assert events(sandbox, "36h") == []
    assert api.post(f"{D}/enableAutorenew/{RENEWED}").status == 200
    assert events(sandbox, "12h") == ["automatic renewal"]
    assert balance(sandbox) == 85


def test_name_expired_for_years_stays_overdue_until_renewals_reach_the_present(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", policy={"overdue": 900})
    sandbox.names.add("late.com", stage="overdue", expires="-800d", autorenew=True)
    due = sandbox.names["late.com"].due
    api = connect(sandbox)
    for years, status in ((1, "suspended"), (1, "suspended"), (1, "active")):
        before = balance(sandbox)
        answer = api.post(f"{D}/renewDomain/late.com", {"years": years}).json
        assert answer["status"] == status
        assert Decimal(answer["totalPaid"]) == before - balance(sandbox)
        assert status == "active" or sandbox.names["late.com"].due == due
        assert sandbox.clock.advance(0).events == ()
        assert api.get(f"{D}/getDomain/late.com").json["status"] == status
    assert sandbox.clock.due(domain="late.com").due[0].event == "automatic renewal"


def request_transfer(sandbox: Sandbox) -> None:
    body = {"domain": {"domainName": "late.com", "autorenewEnabled": True}}
    code = sandbox.names["late.com"].auth_code
    answer = connect(sandbox, "other").post(f"{D}/requestTransfer", {**body, "authCode": code})
    assert answer.json["status"] == "pending", answer.raw


#: The ways in which a name comes back with a year more, and its stage before.
WAYS: dict[str, tuple[str, Callable[[Sandbox], object]]] = {
    "a restore": ("redemption", lambda sandbox: done(connect_v2(sandbox).put("/domain/late.com/restore"))),
    "an approval": (
        "overdue",
        lambda sandbox: connect(sandbox).post(f"{D}/approveTransfer/late.com").json["domainName"],
    ),
    "a third party": ("overdue", lambda sandbox: sandbox.simulate.complete_transfer("late.com")),
    "time": (
        "overdue",
        lambda sandbox: sandbox.clock.advance(until={"event": "transfer completion", "domain": "late.com"}),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_name_is_overdue_if_restored_or_transferred_years_after_its_expiry(
    sandbox: Sandbox, way: str
) -> None:
    """No event of the name is due at an instant that has passed."""
    stage, come_back = WAYS[way]
    edit_zone(sandbox, "com", policy={"overdue": 900, "redemption": 900})
    sandbox.names.add("late.com", stage=stage, expires="-800d", autorenew=True)
    if stage == "overdue":
        request_transfer(sandbox)
    assert come_back(sandbox)
    now, money = sandbox.clock.now, balance(sandbox, "other")
    name = sandbox.names["late.com"]
    assert (name.stage, name.since) == ("overdue", now)
    assert sandbox.clock.advance(0).events == ()
    assert all(event.at > now for event in sandbox.clock.due(domain="late.com").due)
    assert events(sandbox, "P901D", "late.com") == ["redemption"]
    assert balance(sandbox, "other") == money
    assert_consistent(sandbox)
