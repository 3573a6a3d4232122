"""Whether the sandbox is there, what it assumes, how its interfaces look, and how to begin again."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core.assumptions import BadAssumption, catalogue, profile
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, Refused
from reseller_sandbox.web.fields import Instant, Listed, Shape, Text, Truth, Within
from reseller_sandbox.web.generation import Endpoint


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


class AssumptionsWanted(Strict):
    """Assumptions by name, on top of a profile or of those in force."""

    profile = Text()
    assume = fields.Dict(keys=Text(), values=fields.Raw(), error_messages={"invalid": "must be an object"})


def health(call: ControlCall) -> dict[str, Any]:
    """Whether the sandbox answers."""
    world = call.world
    return {"status": "ok", "world": world.name, "now": world.now(), "frozen": world.clock.frozen}


def assumptions(call: ControlCall) -> dict[str, Any]:
    """Every assumption with its value, its default, what it takes and what it decides."""
    return {"assumptions": catalogue(call.world.assumptions)}


def assume(call: ControlCall) -> dict[str, Any]:
    """Take silences of the contract to mean something else in this world, from the next request on.

    ``profile`` sets all of them, ``assume`` single ones; what neither names stays.
    """
    try:
        named = call.arguments.get("profile")
        base = profile(named) if named is not None else call.world.assumptions
        call.world.assume(base.with_values(call.arguments.get("assume", {})))
    except BadAssumption as problem:
        raise Refused(INVALID_PARAMETER, problems=str(problem)) from None
    return assumptions(call)


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
    Endpoint(
        id="control.assumptions.set",
        method="PUT",
        paths=("/_sandbox/assumptions",),
        handle=assume,
        body=AssumptionsWanted(),
        answer=AssumptionsShown(),
        refuses=(MALFORMED_BODY, INVALID_PARAMETER),
    ),
    Endpoint(id="control.reset", method="POST", paths=("/_sandbox/reset",), handle=reset, answer=Health()),
)
