"""Flags and locks in v2.0, beside those of v3, and orders that are not active."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.registry import contents, edit_name
from tests.v2 import works
from tests.v2.client import Client, done, refusal
from tests.v2.works import Ask

NAME = "served.com"
DOMAIN = f"/domain/{NAME}"
UPDATE = "Not the correct client_update_prohibited"
SERVER = {"ns": {"add": ["ns3.home.net"]}}

FLAGS = ("transfer", "update", "delete", "renew")
CLIENT_FLAGS = ("client_hold", *(f"client_{word}_prohibited" for word in FLAGS))


@pytest.mark.parametrize("name", ["requested.com", "processing.com", "arriving.com"])
def test_an_order_that_is_not_active_permits_only_to_read(sandbox: Sandbox, main: Client, name: str) -> None:
    path = f"/domain/{name}"
    before = contents(sandbox)
    assert main.get(path).json["status"] == ("0" if name == "requested.com" else "1")
    assert done(main.get(f"{path}/check"))["avail"] == "false"
    assert refusal(main.post(path, works.NAME))[1] == "Domain is already registered"
    for flag in CLIENT_FLAGS:
        assert refusal(main.put(path, {flag: 1})) == (400, "Not the correct status", "wrong_state")
    expires = sandbox.names.get(name, account="main").expires.date().isoformat()
    renewal = {"current_expiry_date": expires, "period": 1}
    for ask in (
        Ask("DELETE", path),
        Ask("PUT", f"{path}/renew", renewal),
        Ask("GET", f"{path}/host/ns1/check"),
    ):
        assert refusal(ask.send(main))[::2] == (403, "wrong_state")
    assert refusal(main.get(f"{path}/host/ns1"))[2] == "host_not_found"
    assert contents(sandbox) == before


def test_a_flag_is_set_by_1_and_removed_by_0_and_nothing_else(sandbox: Sandbox, main: Client) -> None:
    for flag in CLIENT_FLAGS:
        sandbox.reset()
        rest = {"client_hold", "client_renew_prohibited"} - {flag}
        assert done(main.put(DOMAIN, dict.fromkeys(rest, 1)))
        for value in (1, 0, 0, 1):
            assert done(main.put(DOMAIN, {flag: value}))
            assert set(sandbox.names[NAME].flags) == rest | ({flag} if value else set())
        for wrong in (2, -1, True, "1", 1.0, [1]):
            assert refusal(main.put(DOMAIN, {flag: wrong}))[:2] == (400, f"Not the correct {flag}")


def test_an_edit_beside_the_update_lock_is_carried_out_or_refused_whole(
    sandbox: Sandbox, main: Client
) -> None:
    """A lock that is set in the same edit forbids nothing of it; one that is removed still does."""
    assert done(main.put(DOMAIN, {"client_update_prohibited": 1, "contact_tech": "SPARE", **SERVER}))
    name = sandbox.names[NAME]
    assert (name.flags, name.contacts["tech"]) == (("client_update_prohibited",), "SPARE")
    assert name.nameservers[-1] == "ns3.home.net"
    before = contents(sandbox)
    parts: list[tuple[dict[str, Any], str]] = [
        ({"contact_tech": "MAIN"}, "changing contacts"),
        ({"ns": {"add": ["ns4.home.net"]}}, "changing name servers"),
        ({"ns": {"add": ["not a name"]}}, "changing name servers"),
    ]
    for beside, action in parts:
        for switch in ({"client_update_prohibited": 0}, {"client_update_prohibited": 1}, {"client_hold": 1}):
            answer = main.put(DOMAIN, {**switch, **beside})
            assert refusal(answer) == (400, UPDATE, "locked")
            assert f"forbids {action}." in answer.headers["x-sandbox-refusal"]
    assert contents(sandbox) == before


#: Each switch of v2.0 that v3 has too, with v3's operations to set and to remove it.
SWITCHES = {
    "client_hold": ("lock", "unlock"),
    "client_transfer_prohibited": ("lockTransfer", "unlockTransfer"),
    "client_update_prohibited": ("lockUpdate", "unlockUpdate"),
}


def test_the_update_lock_forbids_no_switch_in_either_interface(sandbox: Sandbox, main: Client) -> None:
    for covers in ("updates", "registrant_only"):
        edit_name(sandbox, NAME, flags=["client_update_prohibited"])
        sandbox.assumptions.set({"v3.update_lock.covers": covers})
        for flag in CLIENT_FLAGS:
            for value in (1, 0):
                words = SWITCHES.get(flag)
                if words:
                    assert sandbox.client().post(f"/v3/domains/{words[1 - value]}/{NAME}").status_code == 200
                    assert (flag in sandbox.names[NAME].flags) is bool(value)
                assert done(main.put(DOMAIN, {"client_update_prohibited": 1}))
                assert done(main.put(DOMAIN, {flag: value, "client_update_prohibited": value}))
                assert (flag in sandbox.names[NAME].flags) is bool(value)
        assert done(main.put(DOMAIN, {"client_update_prohibited": 1}))
        answer = main.put(DOMAIN, {"contact_admin": "SPARE"})
        assert answer.status == (400 if covers == "updates" else 200)
        assert refusal(main.put(DOMAIN, {"contact_registrant": "SPARE"}))[:2] == (400, UPDATE)
