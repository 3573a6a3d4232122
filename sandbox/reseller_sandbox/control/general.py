"""Whether the sandbox is there, what it assumes, how its interfaces look, and how to begin again."""

from __future__ import annotations

from typing import Any

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY
from reseller_sandbox.web.fields import Instant, Shape, Text, Truth
from reseller_sandbox.web.generation import Endpoint


class Health(Shape):
    """That the sandbox is up, and which world answers."""

    status = Text()
    world = Text()
    now = Instant()
    frozen = Truth()


class ResetWanted(Strict):
    """Which beginning to go back to: with ``original`` the first, whatever has been loaded since."""

    original = Truth()


def health(call: ControlCall) -> dict[str, Any]:
    """Whether the sandbox answers."""
    world = call.world
    return {"status": "ok", "world": world.name, "now": world.now(), "frozen": world.clock.frozen}


def reset(call: ControlCall) -> dict[str, Any]:
    """Take the world back to how it began: names, money, counters and clock.

    Where it has loaded a fixture, that is the fixture's beginning, or with ``original`` its own.
    """
    call.world.reset(original=call.arguments.get("original", False))
    return health(call)


ENDPOINTS = (
    Endpoint(id="control.health", method="GET", paths=("/_sandbox/health",), handle=health, answer=Health()),
    Endpoint(
        id="control.reset",
        method="POST",
        paths=("/_sandbox/reset",),
        handle=reset,
        body=ResetWanted(),
        answer=Health(),
        refuses=(MALFORMED_BODY, INVALID_PARAMETER),
    ),
)
