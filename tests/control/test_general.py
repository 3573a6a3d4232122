"""Health and assumptions: the needs of a test suite that shares a server."""

from __future__ import annotations

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api

CONTROL = "/_sandbox"


def test_the_path_prefix_chooses_the_world_of_a_control_request(wire: Api) -> None:
    """It needs no credentials and has no request number. An unknown path is refused with the nearest."""
    health = {"status": "ok", "world": "default", "now": "2026-03-01T12:00:00Z", "frozen": True}
    first = wire.get("/v3/balance").headers["x-sandbox-request"]
    for prefix in ("", "/_worlds/default"):
        answer = wire.send("GET", f"{prefix}{CONTROL}/health", [])
        assert (answer.status, answer.json) == (200, health)
        assert "x-sandbox-request" not in answer.headers
    assert wire.get(f"/_worlds/nowhere{CONTROL}/health").error == "unknown_world"
    assert wire.get("/v3/balance").headers["x-sandbox-request"] == f"r{int(first[1:]) + 1}"
    for path in ("", "/nothing", "/clock/nothing"):
        answer = wire.get(CONTROL + path)
        assert (answer.status, answer.error) == (404, "unknown_path")
        assert "/_sandbox/" in answer.message


def client_id(sandbox: Sandbox) -> object:
    return sandbox.client().get("/v3/balance").json[0]["client-id"]


def test_an_assumption_holds_in_its_world_from_the_next_request_until_a_reset(sandbox: Sandbox) -> None:
    """A profile sets every assumption; single assumptions go before it."""
    assert client_id(sandbox) == "1001"
    with sandbox.fork(name="mine") as fork:
        answer = fork.client().post(f"{CONTROL}/assumptions/set", json={"assume": {"v3.ids": "integer"}})
        listed = answer.json["assumptions"]
        assert len(listed) > 50
        changed = {one["name"]: one["value"] for one in listed if one["value"] != one["default"]}
        assert changed == {"v3.ids": "integer"}
        assert (client_id(fork), client_id(sandbox)) == (1001, "1001")
        fork.assumptions.set(profile="observed", assume={"v3.list.last_page": "with_next"})
        assert (fork.assumptions["v3.list.last_page"], client_id(fork)) == ("with_next", "1001")
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert client_id(sandbox) == 1001
    for wrong in ({"v3.ids": "string", "v3.idz": "x"}, {"v3.ids": "float"}):
        with pytest.raises(Refused, match=r"v3\.id"):
            sandbox.assumptions.set(wrong, profile="documented")
        assert client_id(sandbox) == 1001
    sandbox.reset()
    assert client_id(sandbox) == "1001"
