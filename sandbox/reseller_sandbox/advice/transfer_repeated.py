"""Transfers asked for again after the answer to the first was lost, without a look at the name."""

from __future__ import annotations

from reseller_sandbox.advice.finding import Rule, Severity
from reseller_sandbox.advice.repeats import INSTEAD, repeated
from reseller_sandbox.core import refusals

#: What the same request is refused by once the first has been carried out.
REFUSED_BY = (refusals.TRANSFER_PENDING, refusals.ALREADY_YOURS)

TRANSFER_REPEATED = Rule(
    name="transfer_repeated",
    severity=Severity.MONEY,
    about="A transfer asked for again after the answer to the first request was lost, and refused because "
    "the first was under way.",
    instead=INSTEAD,
    look=repeated("transfer", REFUSED_BY),
)
