"""The world's clock: read, freeze, run, set, advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from sandbox.control.call import ControlCall, Strict
from sandbox.core.clock import later, parse_duration, parse_instant, wire
from sandbox.core.events import Fired
from sandbox.core.names import to_unicode
from sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, SET_BACK, Refused
from sandbox.web.errors import EMPTY_BODY
from sandbox.web.fields import Amount, Instant, Listed, Shape, Text, TextOrNumber, Truth, Within
from sandbox.web.generation import Endpoint
from sandbox.worlds import SetBack, World


class ClockShown(Shape):
    """What the clock shows, and whether it stands still."""

    now = Instant()
    frozen = Truth()


class FiredShown(Shape):
    """Something that time did: when, what, to which name or zone, and what it charged to whom."""

    at = Instant()
    event = Text()
    subject = Text()
    account = Text(allow_none=True)
    order = fields.Integer(allow_none=True)
    charged = Amount()


class ClockMoved(ClockShown):
    """What the clock shows after a move, and all that came due on the way, in order."""

    fired = Listed(Within(FiredShown))


class InstantWanted(Strict):
    """An instant to set the clock to: ISO 8601, UTC where it names no zone."""

    to = Text(required=True)


class MoveWanted(Strict):
    """How far to advance: ``by`` a length of time (``P30D``, ``90m``, seconds) or ``to`` an instant."""

    by = TextOrNumber()
    to = Text()

    @validates_schema
    def one_of_both(self, given: dict[str, Any], **_: Any) -> None:
        """Exactly one of ``by`` and ``to``."""
        if len(given) != 1:
            raise ValidationError("takes either by or to")


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
    return _move(call, lambda _: _parsed(parse_instant, call.arguments["to"]))


def advance(call: ControlCall) -> dict[str, Any]:
    """Move the clock on; everything that comes due happens, each at its own instant."""
    if "to" in call.arguments:
        return set_to(call)
    length = _parsed(parse_duration, call.arguments["by"])
    return _move(call, lambda now: _parsed(lambda by: later(now, by), length))


def _move(call: ControlCall, target: Callable[[datetime], datetime]) -> dict[str, Any]:
    try:
        fired = call.world.move_clock(target)
    except SetBack as back:
        raise Refused(SET_BACK, now=wire(back.now), to=wire(back.to)) from None
    return {**show(call), "fired": [shown(call.world, event) for event in fired]}


def _parsed(parse: Callable[[Any], Any], given: Any) -> Any:
    try:
        return parse(given)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=str(problem)) from None


def shown(world: World, fired: Fired) -> dict[str, Any]:
    """An event as answers show it."""
    account = world.state.accounts.get(fired.account) if fired.account is not None else None
    return {
        "at": fired.at,
        "event": fired.event,
        "subject": to_unicode(fired.subject),
        "account": account.name if account is not None else None,
        "order": fired.order,
        "charged": fired.charged,
    }


def _row(
    path: str, handle: Callable[[ControlCall], Any], answer: Shape, body: Shape | None = None
) -> Endpoint:
    refuses: Sequence[Any] = (*EMPTY_BODY, INVALID_PARAMETER, SET_BACK) if body else (MALFORMED_BODY,)
    return Endpoint(
        id=f"control.clock.{path}",
        method="POST",
        paths=(f"/_sandbox/clock/{path}",),
        handle=handle,
        body=body,
        answer=answer,
        refuses=tuple(refuses),
    )


ENDPOINTS = (
    Endpoint(id="control.clock", method="GET", paths=("/_sandbox/clock",), handle=show, answer=ClockShown()),
    _row("freeze", freeze, ClockShown()),
    _row("run", run, ClockShown()),
    _row("set", set_to, ClockMoved(), InstantWanted()),
    _row("advance", advance, ClockMoved(), MoveWanted()),
)
