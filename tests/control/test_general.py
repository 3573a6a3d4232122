"""The path prefix of a world in control requests."""

from __future__ import annotations

from tests.clients import Api

CONTROL = "/_sandbox"


def test_the_path_prefix_chooses_the_world_of_a_control_request(wire: Api) -> None:
    """The request needs no credentials and has no request number. An unknown path gets a suggestion."""
    clock = {"now": "2026-03-01T12:00:00Z", "frozen": True}
    health = {"status": "ok", "world": "default", **clock, "header_prefix": "X-SVC-"}
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
