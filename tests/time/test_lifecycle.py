"""A fixture's ``lifecycle`` says which actions are possible at which stage, in both interfaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.command import printed, run
from tests.registry import REGISTRY, connect, edit, edit_name
from tests.v2.client import connect as connect_v2

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
def test_both_interfaces_follow_a_fixture(sandbox: Sandbox, stage: str, subtests) -> None:
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


def test_a_refusal_names_the_restore_that_a_fixture_permits(sandbox: Sandbox) -> None:
    edit(sandbox, {"lifecycle": {"pending_delete": ["restore"]}})
    body = {"current_expiry_date": "2025-12-22", "period": 1}
    answer = connect_v2(sandbox).put("/domain/pending.com/renew", body)
    assert answer.headers["x-sandbox-refusal"].endswith("Possible actions: restore.")
    refusal = sandbox.journal.find(limit=1).requests[0].refusal
    assert refusal is not None
    assert refusal.allowed == "ask for its restore first, which makes it active"


def test_the_picture_of_the_lifecycle_follows_a_fixture(tmp_path: Path) -> None:
    fixture = tmp_path / "registry.yaml"
    fixture.write_text(f"{REGISTRY.read_text('utf-8')}\nlifecycle: {{pending_delete: [restore]}}\n", "utf-8")
    picture = printed("lifecycle", "--fixture", str(fixture))
    assert "    pending_delete --> active: restore\n" in picture
    assert "note right of pending_delete" not in picture
    assert "    pending_delete --> active: restore\n" not in printed("lifecycle")
    wrong = run("lifecycle", "--fixture", "nowhere")
    assert (wrong.status, "there is no such fixture" in wrong.err) == (2, True)


def test_an_export_keeps_the_permitted_actions(sandbox: Sandbox) -> None:
    edit(sandbox, {"lifecycle": {"overdue": ["read_hosts", "renew"], "active": []}})
    exported = yaml.safe_load(sandbox.export())
    assert exported["lifecycle"] == {"active": [], "overdue": ["renew", "read_hosts"]}
    assert connect(sandbox).post(f"{D}/lock/{NAME}").error == "wrong_state"
    assert connect(sandbox).post(f"{D}/renewDomain/overdue.com").status == 200
