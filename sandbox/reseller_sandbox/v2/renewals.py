"""Renewals, and restores of domains in redemption."""

from __future__ import annotations

from datetime import date
from typing import Any

from marshmallow import ValidationError, fields, post_load

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry import purchases
from reseller_sandbox.registry.model import Order, Purpose
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import Number, text
from reseller_sandbox.v2.shapes import FOUND, NAME_PATH, PERIOD, Done, done, own_order, render_name
from reseller_sandbox.values.clock import parse_instant
from reseller_sandbox.values.text_checks import shortened
from reseller_sandbox.web.fields import InnerObject, Shape, SpacedInstant, String, Years
from reseller_sandbox.web.interface import Call, refuses, route


class RenewalRequest(Shape):
    """A renewal. ``domain`` is optional and repeats the name in the path."""

    current_expiry_date = String(required=True)
    date_end = fields.Raw(metadata={"type": "string"})
    domain = fields.Raw(metadata={"type": "string"})
    period = Number(required=True, metadata=Years.shape)

    @post_load
    def parse_expiry(self, values: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the fields with the expiry as a calendar date."""
        try:
            return {**values, "current_expiry_date": _calendar_date(values["current_expiry_date"])}
        except ValueError:
            raise ValidationError({"current_expiry_date": ["must be a date"]}) from None


def _calendar_date(value: object) -> date:
    """Return the day in a text, or raise ValueError."""
    if not isinstance(value, str):
        raise ValueError
    return parse_instant(value).date()


class Renewal(Shape):
    """A domain and its new end."""

    date_end = SpacedInstant()
    domain = String()


class Renewed(Done):
    """A domain that has just been renewed."""

    data = InnerObject(Renewal)


@refuses(
    *errors.BODY,
    *FOUND,
    r.WRONG_STATE,
    r.TRANSFER_PENDING,
    r.LOCKED,
    r.ZONE_OUT_OF_SERVICE,
    r.EXPIRY_MISMATCH,
    *PERIOD,
    r.END_MISMATCH,
    r.PREMIUM_NOT_TAKEN,
    r.INSUFFICIENT_FUNDS,
)
@route(
    "v2.domain.renew",
    "PUT",
    f"{NAME_PATH}/renew",
    body=RenewalRequest(),
    answer=Renewed(),
    orders=Purpose.RENEWAL,
    guard="current_expiry_date",
)
def renew(call: Call) -> dict[str, Any]:
    """Extend a domain's term by years, if the client knows the present and new end."""
    end, order = _expected_end(call), own_order(call)
    try:
        placed = purchases.renew(
            call.draft,
            order,
            call.arguments["period"],
            purchases.ANY_PRICE,
            expected=call.arguments["current_expiry_date"],
            end=end,
        )
    except Refused as refused:
        if refused.rule is r.PERIOD_TOO_LONG:
            facts = {**refused.facts, "maximum": _maximum(call, order, refused)}
            raise Refused(refused.rule, **facts) from None
        raise
    name = render_name(call, placed.order.name, call.arguments["domain_name"])
    return done(data={"date_end": placed.order.expires, "domain": name})


def _expected_end(call: Call) -> date | None:
    date_end = call.arguments.get("date_end")
    if date_end in (None, "") or call.assumed.renew_date_end == "ignored":
        return None
    try:
        return _calendar_date(date_end)
    except ValueError:
        raise Refused(
            r.INVALID_PARAMETER,
            problems=f"date_end must be a date, not {shortened(date_end)}",
            field="date_end",
            value=text(date_end),
        ) from None


def _maximum(call: Call, order: Order, refused: Refused) -> object:
    """Return the limit that the message names. The period always exceeds it."""
    most = call.draft.state.zones[order.zone].max_years
    if call.assumed.renew_maximum == "zone" and call.arguments["period"] > most:
        return most
    return refused.facts["limit"]


@refuses(r.INVALID_PARAMETER, *FOUND, r.WRONG_STATE, r.ZONE_OUT_OF_SERVICE, r.INSUFFICIENT_FUNDS)
@route("v2.domain.restore", "PUT", f"{NAME_PATH}/restore", answer=Done(), orders=Purpose.RESTORE)
def restore(call: Call) -> dict[str, Any]:
    """Restore a domain from redemption. The price is charged to the balance."""
    purchases.restore(call.draft, own_order(call))
    return done()
