"""The other side: calls that play the rest of the world, at once, at an instant, or between two requests."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from marshmallow import Schema, fields

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core import money, refusals
from reseller_sandbox.core.model import Plan
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.outside import ACTIONS, parameters
from reseller_sandbox.core.refusals import Rule
from reseller_sandbox.core.signatures import kind_of, object_shape
from reseller_sandbox.core.values import When
from reseller_sandbox.powers.records import Fired, fired
from reseller_sandbox.web.errors import EMPTY_BODY
from reseller_sandbox.web.fields import Digits, Instant, Listed, Shape, Shaped, Text, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.web.records import schema_of
from reseller_sandbox.worlds.outside import WAIT, OutsideControl
from reseller_sandbox.worlds.redact import MASK, is_secret


class Told(fields.Raw):
    """A value that the action itself reads; here is only how it looks."""

    def __init__(self, shape: Shaped, *, required: bool = False) -> None:
        super().__init__(required=required, error_messages={"required": "is missing"})
        self.shape = shape


class AfterShown(Shape):
    """Which request of a client a plan waits for."""

    operation = Text()
    domain = Text(allow_none=True)
    answer = Text()


class PlanShown(Shape):
    """Something that the rest of the world will do: at an instant, or after a client's request.

    ``struck`` is when it did, or when it came to nothing: then ``refused`` says why.
    """

    id = fields.Integer()
    action = Text()
    given = fields.Dict()
    at = Instant(allow_none=True)
    after = Within(AfterShown, allow_none=True)
    struck = Instant(allow_none=True)
    refused = Text()


class Done(Shape):
    """What happened at once, or what is planned."""

    now = Instant()
    fired = Listed(Within(schema_of(Fired)))
    plan = Within(PlanShown, allow_none=True)


class PlansShown(Shape):
    """Every plan, in the order of their making."""

    plans = Listed(Within(PlanShown))


class PlanPath(Shape):
    """A plan's number."""

    plan = Digits()


def endpoints(operations: Sequence[str]) -> tuple[Endpoint, ...]:
    """The rows: one for each action, and those of the plans. ``operations`` are what a plan may wait for."""

    def plans(call: ControlCall) -> dict[str, Any]:
        """Every plan: those to come, and what came of the others."""
        return {"plans": [_plan(plan) for plan in OutsideControl(call.world, operations).plans()]}

    def cancel(call: ControlCall) -> dict[str, Any]:
        """Give a plan up, or forget one that has struck; the answer is the plan."""
        text = call.arguments["plan"]
        number = int(text) if len(text) < 19 else -1
        return _plan(OutsideControl(call.world, operations).cancel(number))

    return (
        *(_action(name, operations) for name in ACTIONS),
        Endpoint(
            id="control.outside.plans",
            method="GET",
            paths=("/_sandbox/outside/plans",),
            handle=plans,
            answer=PlansShown(),
        ),
        Endpoint(
            id="control.outside.cancel",
            method="DELETE",
            paths=("/_sandbox/outside/plans/{plan}",),
            handle=cancel,
            path=PlanPath(),
            answer=PlanShown(),
            refuses=(refusals.MALFORMED_BODY, refusals.UNKNOWN_PLAN),
        ),
    )


def _action(name: str, operations: Sequence[str]) -> Endpoint:
    def act(call: ControlCall) -> dict[str, Any]:
        given = {key: value for key, value in call.arguments.items() if key not in ("at", "after")}
        at, after = call.arguments.get("at"), call.arguments.get("after")
        with call.world.lock:
            done = OutsideControl(call.world, operations).act(name, given, at=at, after=after)
            now = call.world.now()
            if isinstance(done, Plan):
                return {"now": now, "fired": [], "plan": _plan(done)}
            return {"now": now, "fired": fired(call.world.state, [done]), "plan": None}

    act.__wrapped__ = ACTIONS[name]  # type: ignore[attr-defined]  # which has the docstring
    return Endpoint(
        id=f"control.outside.{name}",
        method="POST",
        paths=(f"/_sandbox/outside/{name}",),
        handle=act,
        body=_body(name),
        answer=Done(),
        refuses=(*EMPTY_BODY, refusals.INVALID_PARAMETER, refusals.UNKNOWN_OPERATION, *_REFUSES[name]),
    )


def _body(name: str) -> Schema:
    told = {one.name: Told(dict(one.kind.shape), required=one.required) for one in parameters(name)}
    told["at"] = Told(dict(kind_of(When).shape))
    told["after"] = Told({"oneOf": [{"type": "string"}, object_shape(WAIT)]})
    title = "".join(part.title() for part in name.split("_"))
    return Strict.from_dict(told, name=f"{title}Wanted")()  # type: ignore[arg-type]


def _plan(plan: Plan) -> dict[str, Any]:
    after = plan.after
    waits = after and {
        "operation": after.operation,
        "domain": to_unicode(after.name) or None,
        "answer": after.answer,
    }
    given = {name: _plain(name, value) for name, value in plan.given}
    return {
        "id": plan.id,
        "action": plan.action,
        "given": given,
        "at": plan.at,
        "after": waits,
        "struck": plan.struck,
        "refused": plan.refused,
    }


def _plain(name: str, value: Any) -> Any:
    if is_secret(name):
        return MASK
    if isinstance(value, Decimal):
        return money.write(value)
    return to_unicode(value) if name in ("domain", "zone") else value


_NAME = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED)
_ZONE = (refusals.UNKNOWN_ZONE,)
_ACCOUNT = (refusals.UNKNOWN_ACCOUNT,)

#: What each action may refuse when it happens at once.
_REFUSES: dict[str, tuple[Rule, ...]] = {
    "register": (
        *_NAME,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.PERIOD_TOO_SHORT,
        refusals.PERIOD_TOO_LONG,
        refusals.NAME_TAKEN,
        refusals.NAME_RESERVED,
    ),
    "hold": (*_NAME, refusals.NOT_HELD),
    "release_hold": (*_NAME, refusals.NOT_HELD),
    "drop": (
        *_NAME,
        refusals.NOT_HELD,
        refusals.WRONG_STATE,
        refusals.TRANSFER_PENDING,
        refusals.LOCKED,
        refusals.HOST_IN_USE,
    ),
    "release": (*_NAME, refusals.NOT_HELD),
    "request_transfer": (
        *_NAME,
        refusals.NOT_HELD,
        refusals.HELD_OUTSIDE,
        refusals.TRANSFERS_NOT_SUPPORTED,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.WRONG_STATE,
        refusals.TRANSFER_PENDING,
        refusals.LOCKED,
        refusals.TOO_YOUNG,
    ),
    "approve_transfer": (*_NAME, refusals.NO_TRANSFER_IN),
    "reject_transfer": (*_NAME, refusals.NO_TRANSFER_IN),
    "cancel_transfer": (*_NAME, refusals.NO_TRANSFER_OUT),
    "complete_transfer": (*_NAME, refusals.NO_TRANSFER_PENDING),
    "set_prices": _ZONE,
    "set_promotion": _ZONE,
    "set_premium": _NAME,
    "set_service": _ZONE,
    "adjust_balance": _ACCOUNT,
    "revoke_credentials": _ACCOUNT,
    "restore_credentials": _ACCOUNT,
}
