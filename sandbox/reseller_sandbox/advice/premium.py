"""Premium names that were ordered without their price again and again."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, names
from reseller_sandbox.advice.words import times
from reseller_sandbox.core.refusals import PREMIUM_COST_REQUIRED
from reseller_sandbox.worlds import Entry

#: Once is how one finds out; so many times, and never otherwise, is a client that cannot do it.
TRIES = 2


def _without_price(record: Record) -> Iterator[Seen]:
    waiting: dict[tuple[str | None, str, str], list[Entry]] = {}
    for entry in record.entries:
        for name in entry.domains:
            key = (entry.account, entry.operation, name)
            if entry.refused is None:
                waiting.pop(key, None)
            elif entry.refused.rule is PREMIUM_COST_REQUIRED:
                waiting.setdefault(key, []).append(entry)
    for (account, operation, _), entries in waiting.items():
        if len(entries) < TRIES or entries[-1].refused is None:
            continue
        (name, *_), price = names(entries[-1]), entries[-1].refused.facts["price"]
        yield Seen(
            account=account,
            domains=(name,),
            entries=tuple(entry.id for entry in entries),
            summary=f"{operation} was asked {times(len(entries))} for the premium name {name} without "
            f"purchaseCost, which had to be {price}, and never with it: nothing was ordered.",
        )


PREMIUM_WITHOUT_PRICE = Rule(
    name="premium_without_price",
    severity=Severity.DATA,
    about="A premium name ordered without purchaseCost more than once, and never with it.",
    instead="Where checkAvailability says premium, send purchaseCost: the yearly price it gives, times "
    "the years.",
    look=_without_price,
)
