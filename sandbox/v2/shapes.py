"""What several v2.0 operations share: the envelopes, and names as requests and answers write them."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from sandbox.core import orders, refusals
from sandbox.core.model import Order
from sandbox.core.names import written
from sandbox.core.zones import parse_name, zone_of
from sandbox.web.fields import Shape, Text, Truth
from sandbox.web.generation import Call

#: What finding one of the account's names may refuse, in the order of the checks.
FOUND = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED, refusals.DOMAIN_NOT_FOUND)


class Done(Shape):
    """That it was done."""

    code = fields.Integer()
    status = Truth()


class Told(Done):
    """That it was done, in words too."""

    msg = Text()


class Checked(Done):
    """Whether something can be created."""

    avail = Truth()


def done(**more: Any) -> dict[str, Any]:
    """The envelope of a success, with what else belongs into it."""
    return {"code": 200, "status": True, **more}


def own_order(call: Call) -> Order:
    """The account's order for the name in the path; the zone must be one of the service's."""
    name = parse_name(call.arguments["domain_name"])
    zone_of(call.draft.state, name)
    return orders.own(call.draft.state, call.account, name)


def shown(call: Call, name: str, asked: str | None = None) -> str:
    """A name as answers write it; ``asked`` is how the request wrote it."""
    return written(name, call.assumed.v2_name_form, asked) if "xn--" in name else name


def reseller_customer(call: Call) -> int | None:
    """The customer that the request names; outside of reseller mode the name says nothing."""
    return call.arguments.get("customer_id") if call.account.reseller else None
