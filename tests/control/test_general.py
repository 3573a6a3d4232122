"""Health, assumptions and reset: the needs of a test suite that shares a server."""

from __future__ import annotations

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.shapes import ISO, fits

CONTROL = "/_sandbox"
CREATE = {"domain": {"domainName": "new.com"}}


def test_health_names_the_world_and_its_time_without_credentials(wire: Api) -> None:
    """The prefix of a path chooses the world."""
    health = {"status": "ok", "world": "default", "now": "2026-03-01T12:00:00Z", "frozen": True}
    for prefix in ("", "/_worlds/default"):
        answer = wire.send("GET", f"{prefix}{CONTROL}/health", [])
        assert (answer.status, answer.json) == (200, health)
    assert wire.get(f"/_worlds/nowhere{CONTROL}/health").error == "unknown_world"


def test_a_reset_restores_names_money_time_and_request_numbers(wire: Api, served: Sandbox) -> None:
    origin = served.export()
    first = wire.post("/v3/domains/createDomain", CREATE)
    wire.call("POST", f"{CONTROL}/clock/advance", {"by": "P1Y"})
    answer = wire.post(f"{CONTROL}/history/reset")
    fits(answer.json, {"world": "default", "now": ISO, "frozen": True, "requests": 0})
    assert served.export() == origin
    assert served.journal.count() == 0
    again = wire.post("/v3/domains/createDomain", CREATE)
    assert (again.raw, again.headers["x-sandbox-request"]) == (first.raw, first.headers["x-sandbox-request"])


def test_control_requests_have_no_request_number(wire: Api) -> None:
    first = wire.get("/v3/balance").headers["x-sandbox-request"]
    for path in ("health", "assumptions", "clock"):
        assert "x-sandbox-request" not in wire.get(f"{CONTROL}/{path}").headers
    assert wire.get("/v3/balance").headers["x-sandbox-request"] == f"r{int(first[1:]) + 1}"


def test_an_unknown_path_is_refused_with_the_nearest(wire: Api) -> None:
    for path in ("", "/", "/nothing", "/clock/nothing"):
        answer = wire.get(CONTROL + path)
        assert (answer.status, answer.error) == (404, "unknown_path")
        assert "/_sandbox/" in answer.message


def client_id(sandbox: Sandbox) -> object:
    return sandbox.client().get("/v3/balance").json[0]["client-id"]


def test_an_assumption_holds_in_its_world_from_the_next_request_until_a_reset(sandbox: Sandbox) -> None:
    """The answer lists every assumption; a profile sets them all, single ones go before it."""
    client = sandbox.client()
    assert client_id(sandbox) == "1001"
    with sandbox.fork(name="mine") as fork:
        answer = client.post(
            f"/_worlds/mine{CONTROL}/assumptions/set", json={"assume": {"v3.ids": "integer"}}
        )
        listed = answer.json["assumptions"]
        assert len(listed) > 50
        for one in listed:
            assert set(one) == {"name", "value", "default", "takes", "observed", "about"}
            assert one["about"].endswith(".")
        changed = {one["name"]: one["value"] for one in listed if one["value"] != one["default"]}
        assert changed == {"v3.ids": "integer"}
        assert client_id(fork) == 1001
        assert client_id(sandbox) == "1001"
        fork.assumptions.set(profile="observed", assume={"v3.list.last_page": "with_next"})
        assert fork.assumptions["v3.list.last_page"] == "with_next"
        assert client_id(fork) == "1001"
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert client_id(sandbox) == 1001
    sandbox.reset()
    assert client_id(sandbox) == "1001"


def test_a_wrong_assumption_changes_nothing(sandbox: Sandbox) -> None:
    for body, words in (
        ({"assume": {"v3.idz": "integer"}}, "the nearest is v3.ids"),
        ({"assume": {"v3.ids": "float"}}, "one of string, integer"),
        ({"assume": {"v3.ids": {}}}, "one of string, integer"),
        ({"assume": {"v3.ids": "integer", "v3.idz": "x"}}, "the nearest is v3.ids"),
        ({"assume": []}, "must be an object"),
        ({"profile": "rumoured"}, "one of documented, observed"),
        ({"v3.ids": "integer"}, "v3.ids"),
    ):
        answer = sandbox.client().post(f"{CONTROL}/assumptions/set", json=body)
        assert answer.status_code == 400
        assert words in answer.json["message"]
        assert client_id(sandbox) == "1001"
    with pytest.raises(Refused, match=r"v3\.idz"):
        sandbox.assumptions.set({"v3.idz": "string"}, profile="documented")
