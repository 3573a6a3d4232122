"""The ledger: every charge and refund with the request that caused it, and what they come to."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core import refusals
from reseller_sandbox.core.clock import parse_instant
from reseller_sandbox.core.model import Purpose
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.web.fields import Amount, Digits, Instant, Listed, Shape, Text, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds import ledger
from reseller_sandbox.worlds.ledger import Wanted

#: How many movements are listed where nobody says; totals are of all of them.
LISTED = 1000


class MovementShown(Shape):
    """One movement of money: a charge, a refund of one (``refunds``), or a credit from elsewhere.

    ``amount`` is below zero when the balance went down. ``cause`` is the request, or the event of time,
    that made it; ``request`` is set where it was a request.
    """

    id = fields.Integer()
    at = Instant()
    account = Text()
    amount = Text()
    kind = Text()
    purpose = Text()
    operation = Text()
    cause = Text()
    request = Text(allow_none=True)
    order = fields.Integer(allow_none=True)
    domain = Text(allow_none=True)
    years = fields.Integer(allow_none=True)
    refunds = fields.Integer(allow_none=True)


class TotalShown(Shape):
    """What movements come to; ``balance`` is what they did to the balance."""

    key = fields.Raw()
    entries = fields.Integer()
    charged = Amount()
    refunded = Amount()
    added = Amount()
    balance = Amount()


class TotalsShown(Shape):
    """What the movements come to, by what they were for."""

    order = Listed(Within(TotalShown))
    operation = Listed(Within(TotalShown))
    purpose = Listed(Within(TotalShown))
    account = Listed(Within(TotalShown))


class BalanceShown(Shape):
    """An account's money at the beginning of its ledger, and now."""

    account = Text()
    currency = Text()
    opening = Amount()
    balance = Amount()


class LedgerShown(Shape):
    """The movements that are meant, oldest first; ``matching`` counts all of them, and so do the totals."""

    entries = Listed(Within(MovementShown))
    matching = fields.Integer()
    totals = Within(TotalsShown)
    balances = Listed(Within(BalanceShown))


class LedgerWanted(Strict):
    """Which movements are meant, and how many of the latest to show.

    ``operation`` is a pattern with ``*`` and ``?``; what time does by itself is ``time``.
    """

    account = Text()
    order = Digits()
    domain = Text()
    operation = Text()
    purpose = Text(validate=validate.OneOf([str(one) for one in Purpose], error="must be one of {choices}"))
    request = Text()
    since = Text()
    limit = Digits(validate=validate.Range(0, 100_000, error="must lie between 0 and 100000"))


def show(call: ControlCall) -> dict[str, Any]:
    """Every movement of money that is meant, with totals by order, operation, purpose and account."""
    given = dict(call.arguments)
    limit = given.pop("limit", LISTED)
    if "since" in given:
        try:
            given["since"] = parse_instant(given["since"])
        except ValueError as problem:
            raise Refused(INVALID_PARAMETER, problems=f"since: {problem}") from None
    found = ledger.of(call.world, Wanted(**given))
    latest = found.entries[max(len(found.entries) - limit, 0) :]
    return {
        "entries": [ledger.movement(entry, found.state) for entry in latest],
        "matching": len(found.entries),
        "totals": {
            "order": found.by_order(),
            "operation": found.by_operation(),
            "purpose": found.by_purpose(),
            "account": found.by_account(),
        },
        "balances": ledger.balances(found.state),
    }


ENDPOINTS = (
    Endpoint(
        id="control.ledger",
        lengthy_from=0,
        method="GET",
        paths=("/_sandbox/ledger",),
        handle=show,
        query=LedgerWanted(),
        answer=LedgerShown(),
        refuses=(INVALID_PARAMETER, refusals.UNKNOWN_ACCOUNT),
    ),
)
