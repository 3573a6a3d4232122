"""Assumptions are each world's own, and change while it runs."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox


@pytest.fixture
def made() -> Sandbox:
    return Sandbox()


def client_id(sandbox: Sandbox) -> Any:
    return sandbox.client().get("/v3/balance").json[0]["client-id"]


def told(sandbox: Sandbox, body: Any, prefix: str = "") -> Any:
    return sandbox.app.test_client().post(f"{prefix}/_sandbox/assumptions/set", json=body)


def test_one_is_set_from_the_next_request_on(made: Sandbox) -> None:
    """What is not named stays; the answer lists every assumption with the value in force."""
    assert client_id(made) == "1001"
    shown = told(made, {"assume": {"v3.ids": "integer"}}).json["assumptions"]
    assert {one["name"]: one["value"] for one in shown}["v3.ids"] == "integer"
    assert client_id(made) == 1001


def test_a_profile_sets_them_all(made: Sandbox) -> None:
    """Single ones are set on top of it."""
    told(made, {"assume": {"v3.ids": "integer"}})
    shown = told(made, {"profile": "observed", "assume": {"v3.list.last_page": "with_next"}}).json[
        "assumptions"
    ]
    values = {one["name"]: one["value"] for one in shown}
    assert values["v3.ids"] == "string"
    assert values["v3.signature.endpoint"] == "url"
    assert values["v3.list.last_page"] == "with_next"


def test_another_world_keeps_its_own(made: Sandbox) -> None:
    """They belong to the world that the prefix names."""
    with made.fork() as fork:
        told(made, {"assume": {"v3.ids": "integer"}}, prefix=f"/_worlds/{fork.world.name}")
        assert client_id(fork) == 1001
        assert client_id(made) == "1001"


def test_a_reset_takes_them_back(made: Sandbox) -> None:
    """A world begins again with what it began with."""
    told(made, {"assume": {"v3.ids": "integer"}})
    made.reset()
    assert client_id(made) == "1001"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"assume": {"v3.idz": "integer"}}, "the nearest is v3.ids"),
        ({"assume": {"v3.ids": "float"}}, "one of string, integer"),
        ({"assume": {"v3.ids": {}}}, "one of string, integer"),
        ({"assume": []}, "must be an object"),
        ({"profile": "rumoured"}, "one of documented, observed"),
        ({"v3.ids": "integer"}, "v3.ids"),
    ],
)
def test_what_makes_no_sense_changes_nothing(made: Sandbox, body: Any, words: str) -> None:
    """The answer names what is wrong."""
    answer = told(made, body)
    assert answer.status_code == 400
    assert words in answer.json["message"]
    assert client_id(made) == "1001"
