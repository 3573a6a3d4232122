"""Health, assumptions and reset: what a test-suite asks of the server that it shares."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import Assumptions
from tests.clients import Api
from tests.registry import Make, connect
from tests.shapes import ISO, fits

CONTROL = "/_sandbox"
CREATE = {"domain": {"domainName": "new.com"}}


def test_health_tells_who_answers(wire: Api) -> None:
    """Without credentials: that it is up, which world it is, and what time it is there."""
    answer = wire.send("GET", f"{CONTROL}/health", [])
    assert answer.status == 200
    assert answer.json == {"status": "ok", "world": "default", "now": "2026-03-01T12:00:00Z", "frozen": True}


def test_every_assumption_is_listed(make: Make) -> None:
    """With its value in force, its default, what it takes and what it decides."""
    sandbox = make(assume={"v3.ids": "integer"})
    listed = connect(sandbox).get(f"{CONTROL}/assumptions").json["assumptions"]
    assert [one["name"] for one in listed] == list(Assumptions().values())
    for one in listed:
        assert set(one) == {"name", "value", "default", "takes", "observed", "about"}
        assert one["about"].endswith(".")
    changed = {one["name"]: one["value"] for one in listed if one["value"] != one["default"]}
    assert changed == {"v3.ids": "integer"}


def test_reset_is_a_new_beginning(wire: Api, served: Sandbox) -> None:
    """Names, money, clock and the numbers of requests are as they were."""
    origin = served.world.state
    first = wire.post("/v3/domains/createDomain", CREATE)
    wire.call("POST", f"{CONTROL}/clock/advance", {"by": "P1Y"})
    answer = wire.post(f"{CONTROL}/history/reset")
    fits(answer.json, {"world": "default", "now": ISO, "frozen": True, "requests": 0})
    assert served.world.state == origin
    again = wire.post("/v3/domains/createDomain", CREATE)
    assert (again.raw, again.headers["x-sandbox-request"]) == (first.raw, first.headers["x-sandbox-request"])


def test_control_requests_are_not_counted(wire: Api) -> None:
    """They leave the numbers of a world's requests alone, so that looking changes nothing."""
    first = wire.get("/v3/balance").headers["x-sandbox-request"]
    for path in ("health", "assumptions", "clock"):
        assert "x-sandbox-request" not in wire.get(f"{CONTROL}/{path}").headers
    assert wire.get("/v3/balance").headers["x-sandbox-request"] == f"r{int(first[1:]) + 1}"


def test_the_world_in_the_path_is_the_one_meant(wire: Api) -> None:
    """The prefix goes before control as before the interfaces."""
    assert wire.get(f"/_worlds/default{CONTROL}/health").json["world"] == "default"
    assert wire.get(f"/_worlds/nowhere{CONTROL}/health").error == "unknown_world"


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/clock/nothing"])
def test_an_unknown_path_is_told_of_the_nearest(wire: Api, path: str) -> None:
    """In the same form as everywhere."""
    answer = wire.get(CONTROL + path)
    assert (answer.status, answer.error) == (404, "unknown_path")
    assert "/_sandbox/" in answer.message
