"""Advice on what the world's requests would have cost in production."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from reseller_sandbox.advice import RULES, advise
from reseller_sandbox.control.call import ControlCall
from reseller_sandbox.web.fields import Amount, Listed, Shape, Text, Within
from reseller_sandbox.web.generation import Endpoint


class FindingShown(Shape):
    """One piece of advice, and the requests in the journal that show it."""

    rule = Text()
    severity = Text()
    account = Text(allow_none=True)
    domains = Listed(Text())
    summary = Text()
    instead = Text()
    amount = Amount(allow_none=True)
    currency = Text(allow_none=True)
    entries = Listed(Text())


class RuleShown(Shape):
    """One thing that is looked for."""

    rule = Text(attribute="name")
    severity = Text()
    about = Text()
    instead = Text()


class AdviceShown(Shape):
    """What was found, what was looked for, in how many requests, and how many had been dropped by then."""

    findings = Listed(Within(FindingShown))
    looked_for = Listed(Within(RuleShown))
    requests = fields.Integer()
    dropped = fields.Integer()


def advice(call: ControlCall) -> dict[str, Any]:
    """What would have cost money, names or secrets in production, each with the requests that show it."""
    journal = call.world.journal
    return {
        "findings": advise(call.world),
        "looked_for": RULES,
        "requests": len(journal),
        "dropped": journal.dropped,
    }


ENDPOINTS = (
    Endpoint(
        id="control.advice", method="GET", paths=("/_sandbox/advice",), handle=advice, answer=AdviceShown()
    ),
)
