"""Renewals, and restores of what was deleted or not renewed."""

from __future__ import annotations

from datetime import date
from typing import Any

from marshmallow import ValidationError, fields, post_load

from reseller_sandbox.core import orders, refusals, renewals
from reseller_sandbox.core.clock import parse_instant
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import Asked, Number
from reseller_sandbox.v2.shapes import FOUND, NAME_PATH, PERIOD, Done, done, own_order, shown
from reseller_sandbox.web.fields import Shape, SpacedInstant, Text, Within
from reseller_sandbox.web.generation import Call, Endpoint


class RenewalWanted(Asked):
    """A renewal. ``date_end`` and ``domain`` may be there and say nothing more."""

    current_expiry_date = Text(required=True)
    date_end = fields.Raw()
    domain = fields.Raw()
    period = Number(required=True)

    @post_load
    def dated(self, found: dict[str, Any], **_: Any) -> dict[str, Any]:
        """The expiry as a calendar date."""
        return {**found, "current_expiry_date": _calendar_date(found["current_expiry_date"])}


def _calendar_date(given: str) -> date:
    try:
        return parse_instant(given).date()
    except ValueError:
        raise ValidationError({"current_expiry_date": ["must be a date"]}) from None


class Renewal(Shape):
    """A name and its new end."""

    date_end = SpacedInstant()
    domain = Text()


class Renewed(Done):
    """A name that has just been renewed."""

    data = Within(Renewal)


def renew(call: Call) -> dict[str, Any]:
    """Add years to a name's term, if that ends on the day the caller takes it to."""
    placed = renewals.renew(
        call.draft,
        own_order(call),
        call.arguments["period"],
        orders.WHATEVER,
        expected=call.arguments["current_expiry_date"],
    )
    name = shown(call, placed.order.name, call.arguments["domain_name"])
    return done(data={"date_end": placed.order.expires, "domain": name})


def restore(call: Call) -> dict[str, Any]:
    """Bring a name back from removal; the price is taken from the balance."""
    orders.restore(call.draft, own_order(call))
    return done()


ENDPOINTS = (
    Endpoint(
        id="v2.domain.renew",
        method="PUT",
        paths=(f"{NAME_PATH}/renew",),
        handle=renew,
        body=RenewalWanted(),
        answer=Renewed(),
        refuses=(
            *errors.BODY,
            *FOUND,
            refusals.WRONG_STATE,
            refusals.TRANSFER_PENDING,
            refusals.LOCKED,
            refusals.ZONE_OUT_OF_SERVICE,
            refusals.EXPIRY_MISMATCH,
            *PERIOD,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
    Endpoint(
        id="v2.domain.restore",
        method="PUT",
        paths=(f"{NAME_PATH}/restore",),
        handle=restore,
        answer=Done(),
        refuses=(*FOUND, refusals.WRONG_STATE, refusals.ZONE_OUT_OF_SERVICE, refusals.INSUFFICIENT_FUNDS),
    ),
)
