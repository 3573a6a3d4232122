"""Orders whose purchaseCost was wrong again and again."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.prices import facts, never_right
from reseller_sandbox.advice.record import Record, names
from reseller_sandbox.advice.words import listed, times
from reseller_sandbox.core.refusals import PRICE_MISMATCH


def _wrong(record: Record) -> Iterator[Seen]:
    for entries in never_right(record, PRICE_MISMATCH):
        domains = tuple(dict.fromkeys(name for entry in entries for name in names(entry)))
        yield Seen(
            account=entries[0].account,
            domains=domains,
            entries=tuple(entry.id for entry in entries),
            summary=f"{listed(domains)}: ordered {times(len(entries))} with purchaseCost "
            f"{listed(facts(entries, 'given'))}, which had to be {listed(facts(entries, 'price'))}, and "
            "never with that: nothing was ordered.",
        )


WRONG_PRICE_REPEATED = Rule(
    name="wrong_price_repeated",
    severity=Severity.DATA,
    about="Names ordered with a wrong purchaseCost more than once, be it once each, and never with the "
    "right one.",
    instead="purchaseCost is the price of all the years together. Read it anew (checkAvailability) when it "
    "is refused, for prices change, and do not send the same again.",
    look=_wrong,
)
