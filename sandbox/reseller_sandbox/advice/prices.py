"""Orders that were sent without the price they need, or with a wrong one, again and again."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import Record, names, order_asked_for
from reseller_sandbox.advice.words import listed, times
from reseller_sandbox.core import refusals
from reseller_sandbox.worlds import Entry

#: One refusal is how a client learns the price; so many, and no order that is right, show one that cannot.
TRIES = 2


@rule(
    Severity.DATA,
    about="Premium names ordered without purchaseCost more than once, or several of them once each, and "
    "never with it.",
    instead="Where checkAvailability says premium, send purchaseCost: the yearly price it gives, times "
    "the years.",
)
def premium_without_price(record: Record) -> Iterator[Seen]:
    """Yield the orders of each account that lacked a premium name's price."""
    for entries in _never_right(record, refusals.PREMIUM_COST_REQUIRED):
        operations = list(dict.fromkeys(entry.operation for entry in entries))
        yield Seen(
            entries,
            f"{listed(operations)} was asked {times(len(entries))} for premium names "
            f"({listed(names(*entries))}) without purchaseCost, which had to be "
            f"{listed(_facts(entries, 'price'))}, and never with it: nothing was ordered.",
            names(*entries),
        )


@rule(
    Severity.DATA,
    about="Names ordered with a wrong purchaseCost more than once, or several of them once each, and never "
    "with the right one.",
    instead="purchaseCost is the price of all the years together. Read it anew (checkAvailability) when it "
    "is refused, for prices change, and do not send the same again.",
)
def wrong_price_repeated(record: Record) -> Iterator[Seen]:
    """Yield the orders of each account whose price was wrong."""
    for entries in _never_right(record, refusals.PRICE_MISMATCH):
        yield Seen(
            entries,
            f"{listed(names(*entries))}: ordered {times(len(entries))} with purchaseCost "
            f"{listed(_facts(entries, 'given'))}, which had to be {listed(_facts(entries, 'price'))}, and "
            "never with that: nothing was ordered.",
            names(*entries),
        )


def _never_right(record: Record, refused_by: refusals.Rule) -> Iterator[list[Entry]]:
    """Yield, for each account, the orders that were refused so and whose names were never ordered.

    A single refusal about a name counts only if the account never got an order right: a client that can
    send prices has decided against that name.
    """
    waiting: dict[str | None, dict[str, list[Entry]]] = {}
    able: set[str | None] = set()
    for entry in record.entries:
        refused = waiting.setdefault(entry.account, {})
        for name in entry.domains:
            if entry.refused is not None and entry.refused.rule is refused_by:
                refused.setdefault(name, []).append(entry)
            elif name in refused and entry.changes and order_asked_for(entry) is not None:
                del refused[name]
                able.add(entry.account)
    for account, refused in waiting.items():
        least = TRIES if account in able else 1
        entries = [entry for tries in refused.values() if len(tries) >= least for entry in tries]
        if len(entries) >= TRIES:
            yield sorted(entries, key=lambda entry: entry.number)


def _facts(entries: list[Entry], fact: str) -> list[str]:
    """Return what the refusals of ``entries`` say of a thing, each once."""
    said = (str(entry.refused.facts[fact]) for entry in entries if entry.refused is not None)
    return list(dict.fromkeys(said))
