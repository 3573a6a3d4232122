"""The world's clock: read, freeze, run, set, advance, and see what is coming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from marshmallow import ValidationError, fields, validate, validates_schema

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core import events
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.events import Happening
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import (
    INVALID_NAME,
    INVALID_PARAMETER,
    MALFORMED_BODY,
    NOT_HELD,
    NOTHING_DUE,
    SET_BACK,
    UNKNOWN_ACCOUNT,
    Refused,
    Rule,
)
from reseller_sandbox.web.errors import EMPTY_BODY
from reseller_sandbox.web.fields import (
    Amount,
    Digits,
    Instant,
    Listed,
    Shape,
    Shaped,
    Text,
    TextOrNumber,
    Truth,
    Whole,
    Within,
)
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds import NothingDue, SetBack, World
from reseller_sandbox.worlds.clock import ClockControl

T = TypeVar("T")

MOST_DUE = 1000


class ClockShown(Shape):
    """What the clock shows, and whether it stands still."""

    now = Instant()
    frozen = Truth()


class HappeningShown(Shape):
    """Something that happened: when, what, to which name, zone or account, and whom it concerned.

    ``charged`` is what the account paid for it (below zero: what it got back), ``balance`` what it has
    left, ``note`` why something that was to happen did not.
    """

    at = Instant()
    event = Text()
    subject = Text()
    account = Text(allow_none=True)
    order = fields.Integer(allow_none=True)
    charged = Amount()
    balance = Amount(allow_none=True)
    note = Text()


class ClockMoved(ClockShown):
    """What the clock shows after a move, and all that came due on the way, in order.

    After a dry run: what it would show, and what would come due.
    """

    dry_run = Truth()
    fired = Listed(Within(HappeningShown))


class DueShown(Shape):
    """What is coming, the soonest first; ``total`` counts the whole calendar."""

    now = Instant()
    total = Whole()
    due = Listed(Within(HappeningShown))


class InstantWanted(Strict):
    """An instant to set the clock to: ISO 8601, UTC where it names no zone."""

    to = Text(required=True)


class Goal(fields.Field[Any]):
    """``next``, an order and the stage it is to reach, or an event by its name."""

    shape: ClassVar[Shaped] = {
        "oneOf": [
            {"type": "string", "enum": ["next"]},
            {
                "type": "object",
                "properties": {
                    "domain": {"type": "string"},
                    "stage": {"type": "string", "enum": [stage.value for stage in Stage]},
                    "account": {"type": "string"},
                },
                "required": ["domain", "stage"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {
                    "event": {"type": "string", "enum": list(events.names())},
                    "domain": {"type": "string"},
                    "account": {"type": "string"},
                },
                "required": ["event"],
                "additionalProperties": False,
            },
        ]
    }

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:  # noqa: ARG002
        if isinstance(value, dict) and all(isinstance(part, str) for part in value.values()):
            return value
        if value == "next":
            return value
        raise ValidationError(
            "must be next, an object of a domain, a stage and perhaps an account, or one of an event "
            "and perhaps a domain and an account"
        )


class MoveWanted(Strict):
    """How far to advance: ``by`` a length of time, ``to`` an instant, or ``until`` something happens.

    A length is ISO 8601 (``P30D``), short (``90m``) or in seconds. ``until`` is ``next``, for the next due
    event, an order and the stage it is to reach, or an event by its name, perhaps of one domain or account.
    A dry run changes nothing.
    """

    by = TextOrNumber()
    to = Text()
    until = Goal()
    dry_run = Truth()

    @validates_schema
    def one_of_three(self, given: dict[str, Any], **_: Any) -> None:
        """Exactly one of ``by``, ``to`` and ``until``."""
        if len(given.keys() - {"dry_run"}) != 1:
            raise ValidationError("takes exactly one of by, to and until")


class DueWanted(Strict):
    """How many events to list, and perhaps of which name alone."""

    limit = Digits(validate=validate.Range(1, MOST_DUE, error=f"must lie between 1 and {MOST_DUE}"))
    domain = Text()


def show(call: ControlCall) -> dict[str, Any]:
    """What the clock shows."""
    return {"now": call.world.now(), "frozen": call.world.clock.frozen}


def freeze(call: ControlCall) -> dict[str, Any]:
    """Let the clock stand still."""
    call.world.freeze()
    return show(call)


def run(call: ControlCall) -> dict[str, Any]:
    """Let the clock run with the machine's."""
    call.world.run()
    return show(call)


def set_to(call: ControlCall) -> dict[str, Any]:
    """Set the clock to an instant that is not past; everything due by then happens, each at its instant."""
    fired = _moved(lambda: ClockControl(call.world).set(call.arguments["to"]))
    return {**show(call), "dry_run": False, "fired": [shown(call.world, event) for event in fired]}


def advance(call: ControlCall) -> dict[str, Any]:
    """Move the clock on; everything that comes due happens, each at its own instant."""
    clock = ClockControl(call.world)
    how = {name: call.arguments[name] for name in ("by", "to", "until") if name in call.arguments}
    dry = call.arguments.get("dry_run", False)
    with call.world.lock:
        if dry:
            now, fired = _moved(lambda: clock.preview(**how))
        else:
            fired = _moved(lambda: clock.advance(**how))
            now = clock.now
        events = [shown(call.world, event) for event in fired]
    return {"now": now, "frozen": clock.frozen, "dry_run": dry, "fired": events}


def due(call: ControlCall) -> dict[str, Any]:
    """What is coming, the soonest first: each event as it would be if nothing else happened before."""
    limit, domain = call.arguments.get("limit", 100), call.arguments.get("domain")
    with call.world.lock:
        coming = ClockControl(call.world).due(limit, domain)
        return {
            "now": call.world.now(),
            "total": len(call.world.state.calendar),
            "due": [shown(call.world, event) for event in coming],
        }


def _moved(move: Callable[[], T]) -> T:
    """What ``move`` answers; where it cannot be made, the refusal that says so."""
    try:
        return move()
    except SetBack as back:
        raise Refused(SET_BACK, now=wire(back.now), to=wire(back.to)) from None
    except NothingDue as reason:
        raise Refused(NOTHING_DUE, reason=str(reason)) from None
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=str(problem)) from None


def shown(world: World, fired: Happening) -> dict[str, Any]:
    """An event as answers show it."""
    account = world.state.accounts.get(fired.account) if fired.account is not None else None
    return {
        "at": fired.at,
        "event": fired.event,
        "subject": to_unicode(fired.subject),
        "account": account.name if account is not None else None,
        "order": fired.order,
        "charged": fired.charged,
        "balance": fired.balance,
        "note": fired.note,
    }


def _row(
    path: str, handle: Callable[[ControlCall], Any], answer: Shape, body: Shape | None = None, *more: Rule
) -> Endpoint:
    refuses = (*EMPTY_BODY, INVALID_PARAMETER, SET_BACK, *more) if body else (MALFORMED_BODY,)
    return Endpoint(
        id=f"control.clock.{path}",
        method="POST",
        paths=(f"/_sandbox/clock/{path}",),
        handle=handle,
        body=body,
        answer=answer,
        refuses=refuses,
    )


ENDPOINTS = (
    Endpoint(id="control.clock", method="GET", paths=("/_sandbox/clock",), handle=show, answer=ClockShown()),
    Endpoint(
        id="control.clock.due",
        method="GET",
        paths=("/_sandbox/clock/due",),
        handle=due,
        query=DueWanted(),
        answer=DueShown(),
        refuses=(INVALID_PARAMETER, INVALID_NAME),
    ),
    _row("freeze", freeze, ClockShown()),
    _row("run", run, ClockShown()),
    _row("set", set_to, ClockMoved(), InstantWanted()),
    _row(
        "advance", advance, ClockMoved(), MoveWanted(), NOTHING_DUE, INVALID_NAME, NOT_HELD, UNKNOWN_ACCOUNT
    ),
)
