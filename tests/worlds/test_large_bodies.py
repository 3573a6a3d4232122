"""Large bodies: the control interface takes whole worlds, with their own limit, and reports mistakes."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.clients import JSON, Socket
from tests.registry import REGISTRY
from tests.worlds.control import control, inside


def test_a_world_larger_than_the_body_of_a_client_is_loaded() -> None:
    sandbox = Sandbox(REGISTRY, max_body=2000, max_control_body=1 << 20)
    steer = control(sandbox)
    text = steer.get("history/export")["fixture"]
    assert len(text) > 2000
    steer.post("history/load", {"fixture": text})
    answer = inside(sandbox).post("/v3/domains/createDomain", b" " * 2001)
    assert (answer.error, "--max-body" in answer.message) == ("body_too_large", True)
    status, error, message = steer.refused("POST", "history/load", {"fixture": " " * (1 << 20)})
    assert (status, error) == (413, "body_too_large")
    assert "--max-control-body" in message
    with sandbox.serve() as server:
        for target, body, error in (
            ("/_sandbox/history/load", b'{"fixture": "' + b" " * 3000 + b'"}', "invalid_fixture"),
            ("/_worlds/default/_sandbox/history/load", b'{"fixture": "' + b" " * 3000, "malformed_body"),
            ("/v3/domains/createDomain", b" " * 3000, "body_too_large"),
        ):
            socket = Socket(server.url)
            assert socket("POST", target, [JSON], body).error == error
            socket.close()
