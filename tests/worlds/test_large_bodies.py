"""What is large: control takes whole worlds, and a fixture with nothing but mistakes is soon given up."""

from __future__ import annotations

import re

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Socket
from tests.registry import REGISTRY
from tests.worlds.control import control, inside


def test_a_world_larger_than_a_clients_body_goes_out_and_comes_in_again() -> None:
    """Over a socket as in this process; each limit is told with the setting that raises it."""
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
        for target in ("/_sandbox/history/load", "/_worlds/default/_sandbox/history/load"):
            socket = Socket(server.url)
            assert (
                socket("POST", target, [JSON], b'{"fixture": "' + b" " * 3000 + b'"}').error
                == "invalid_fixture"
            )
            socket.close()
        socket = Socket(server.url)
        assert socket("POST", "/v3/domains/createDomain", [JSON], b" " * 3000).error == "body_too_large"
        socket.close()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a" * 600_000 + r"\u00e9\ud83d\ude00\"", None),
        ("a" * 600_000 + "\n", "Invalid control character"),
        ("a" * 600_000 + r"\x", "Invalid \\escape"),
        (r"\n" * 300_000 + r"\u12", "Invalid \\uXXXX escape"),
        ("a" * 600_000 + r"\ud83d", "half a surrogate"),
    ],
)
def test_a_long_string_is_read_as_a_short_one(text: str, problem: str | None) -> None:
    """Its mistakes are refused in the same words, with the place."""
    ask = inside(Sandbox(REGISTRY))

    def message(text: str, end: str = '"') -> str:
        return ask.call("POST", "/_sandbox/snapshots", f'{{"name": "{text}{end}}}'.encode()).message

    long, short = message(text), message(text[-10:])
    assert (problem or "name").lower() in long.lower()
    place = re.compile(r"column (\d+)")
    if problem is None or place.search(long) is None:
        assert long == short or problem is None
    else:
        assert int(place.findall(long)[0]) - int(place.findall(short)[0]) == len(text) - 10
    assert "Unterminated string".lower() in message("a" * 600_000, "").lower()
    assert "column 10 " in f"{message('a' * 600_000, '')} ".replace(".", " ")


def test_documents_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again is given what was drawn for the first."""
    from reseller_sandbox.web import openapi

    drawn = []
    describe = openapi.describe
    monkeypatch.setattr(
        openapi, "describe", lambda one, *more: drawn.append(one.name) or describe(one, *more)
    )
    client = Sandbox(REGISTRY).client()
    first, second = (client.get("/_sandbox/openapi/v3.json").get_data() for _ in range(2))
    assert first == second
    assert drawn == ["v3"]
