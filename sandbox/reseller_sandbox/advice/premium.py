"""Premium names that were ordered without their price again and again."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.prices import facts, never_right
from reseller_sandbox.advice.record import Record, names
from reseller_sandbox.advice.words import listed, times
from reseller_sandbox.core.refusals import PREMIUM_COST_REQUIRED


def _without_price(record: Record) -> Iterator[Seen]:
    for entries in never_right(record, PREMIUM_COST_REQUIRED):
        domains = tuple(dict.fromkeys(name for entry in entries for name in names(entry)))
        operations = list(dict.fromkeys(entry.operation for entry in entries))
        yield Seen(
            account=entries[0].account,
            domains=domains,
            entries=tuple(entry.id for entry in entries),
            summary=f"{listed(operations)} was asked {times(len(entries))} for premium names "
            f"({listed(domains)}) without purchaseCost, which had to be "
            f"{listed(facts(entries, 'price'))}, and never with it: nothing was ordered.",
        )


PREMIUM_WITHOUT_PRICE = Rule(
    name="premium_without_price",
    severity=Severity.DATA,
    about="Premium names ordered without purchaseCost more than once, be it once each, and never with it.",
    instead="Where checkAvailability says premium, send purchaseCost: the yearly price it gives, times "
    "the years.",
    look=_without_price,
)
