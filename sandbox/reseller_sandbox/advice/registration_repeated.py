"""Registrations sent again after the answer to the first was lost, without a look at the name."""

from __future__ import annotations

from reseller_sandbox.advice.finding import Rule, Severity
from reseller_sandbox.advice.repeats import INSTEAD, repeated
from reseller_sandbox.core import refusals

#: What the same request is refused by once the first has been carried out.
REFUSED_BY = (refusals.NAME_TAKEN,)

REGISTRATION_REPEATED = Rule(
    name="registration_repeated",
    severity=Severity.MONEY,
    about="A registration sent again after the answer to the first was lost, and refused because the first "
    "had taken the name.",
    instead=INSTEAD,
    look=repeated("registration", REFUSED_BY),
)
