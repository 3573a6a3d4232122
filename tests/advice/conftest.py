"""A registry on a real port, an account in it, and the advice that comes of what the account does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.clients import Api

Advice = Callable[..., list[dict[str, Any]]]
Lose = Callable[..., None]


@pytest.fixture
def advice(wire: Api) -> Advice:
    """What ``GET /_sandbox/advice`` has found, all of it or that of one rule."""

    def found(rule: str | None = None) -> list[dict[str, Any]]:
        answer = wire.send("GET", "/_sandbox/advice", [])
        assert answer.status == 200, answer.raw
        return [one for one in answer.json["findings"] if rule in (None, one["rule"])]

    return found


@pytest.fixture
def lose(wire: Api) -> Lose:
    """Makes it so that the next request of an operation takes effect and is answered in another way."""

    def next_answer(operation: str, **fault: Any) -> None:
        rule = {
            "name": "lost",
            "match": {"operation": operation},
            "when": {"phase": "after", "times": 1},
            **(fault or {"kind": "error", "error": "internal_error"}),
        }
        answer = wire.send("POST", "/_sandbox/faults", [], json.dumps(rule).encode())
        assert answer.status == 201, answer.raw

    return next_answer
