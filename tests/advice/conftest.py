"""A registry on a real port, an account in it, and the advice that comes of what the account does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sandbox import Sandbox
from tests.clients import Api

Advice = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def advice(wire: Api) -> Advice:
    """What ``GET /_sandbox/advice`` has found, all of it or that of one rule."""

    def found(rule: str | None = None) -> list[dict[str, Any]]:
        answer = wire.send("GET", "/_sandbox/advice", [])
        assert answer.status == 200, answer.raw
        return [one for one in answer.json["findings"] if rule in (None, one["rule"])]

    return found


@pytest.fixture
def lose(served: Sandbox) -> Callable[[str], None]:
    """Makes it so that the answer to a request in the journal was lost on its way."""

    def mark(request: str) -> None:
        journal = served.world.journal
        journal.replace(tuple(replace(one, fault="reset") if one.id == request else one for one in journal))

    return mark
