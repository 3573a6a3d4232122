"""Whether the sandbox is there, what it assumes, how its interfaces look, and how to begin again."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from sandbox.control.call import ControlCall
from sandbox.core.assumptions import catalogue
from sandbox.web.fields import Instant, Listed, Shape, Text, Truth, Within
from sandbox.web.generation import Endpoint


class Health(Shape):
    """That the sandbox is up, and which world answers."""

    status = Text()
    world = Text()
    now = Instant()
    frozen = Truth()


class AssumptionShown(Shape):
    """One silence of the contract and what it is taken to mean."""

    name = Text()
    value = fields.Raw()
    default = fields.Raw()
    takes = Text()
    observed = fields.Raw()
    about = Text()


class AssumptionsShown(Shape):
    """Every assumption of the world."""

    assumptions = Listed(Within(AssumptionShown))


def health(call: ControlCall) -> dict[str, Any]:
    """Whether the sandbox answers."""
    world = call.world
    return {"status": "ok", "world": world.name, "now": world.now(), "frozen": world.clock.frozen}


def assumptions(call: ControlCall) -> dict[str, Any]:
    """Every assumption with its value, its default, what it takes and what it decides."""
    return {"assumptions": catalogue(call.world.assumptions)}


def reset(call: ControlCall) -> dict[str, Any]:
    """Take the world back to how it began: names, money, counters and clock."""
    call.world.reset()
    return health(call)


ENDPOINTS = (
    Endpoint(id="control.health", method="GET", paths=("/_sandbox/health",), handle=health, answer=Health()),
    Endpoint(
        id="control.assumptions",
        method="GET",
        paths=("/_sandbox/assumptions",),
        handle=assumptions,
        answer=AssumptionsShown(),
    ),
    Endpoint(id="control.reset", method="POST", paths=("/_sandbox/reset",), handle=reset, answer=Health()),
)
