"""Orders without the price they need, with a wrong price, or charged another price than they sent."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import Record, charges, names, order_asked_for
from reseller_sandbox.advice.words import listed, plural, times
from reseller_sandbox.registry import money, refusals
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.worlds import Entry

#: One refusal is how a client learns the price; so many, and no order that is right, show one that cannot.
TRIES = 2

#: The operations that take a purchaseCost.
_PRICED = ("v3.createDomain", "v3.renewDomain", "v3.requestTransfer")


@rule(Severity.DATA)
def premium_without_price(record: Record) -> Iterator[Seen]:
    """Premium names ordered without purchaseCost more than once, or several of them once each, and never with
    it.

    Instead:
        Where checkAvailability says premium, send purchaseCost: the yearly price it gives, times the years.
    """
    for entries in _never_right(record, refusals.PREMIUM_COST_REQUIRED):
        operations = list(dict.fromkeys(entry.operation for entry in entries))
        yield Seen(
            entries,
            f"{listed(operations)} was asked {times(len(entries))} for premium names "
            f"({listed(names(*entries))}) without purchaseCost, which had to be "
            f"{listed(_facts(entries, 'price'))}, and never with it: nothing was ordered.",
            names(*entries),
        )


@rule(Severity.DATA)
def wrong_price_repeated(record: Record) -> Iterator[Seen]:
    """Names ordered with a wrong purchaseCost more than once, or several of them once each, and never with
    the right one.

    Instead:
        purchaseCost is the price of all the years together. Read it anew (checkAvailability) when it is
        refused, for prices change, and do not send the same again.
    """
    for entries in _never_right(record, refusals.PRICE_MISMATCH):
        yield Seen(
            entries,
            f"{listed(names(*entries))}: ordered {times(len(entries))} with purchaseCost "
            f"{listed(_facts(entries, 'given'))}, which had to be {listed(_facts(entries, 'price'))}, and "
            "never with that: nothing was ordered.",
            names(*entries),
        )


@rule(Severity.MONEY)
def price_not_enforced(record: Record) -> Iterator[Seen]:
    """Ordinary names ordered with a purchaseCost that is not the price that was charged.

    Instead:
        purchaseCost is compared with the price of premium names alone (v3.purchase_cost). For other names,
        read the price (checkAvailability) before the order, and compare totalPaid after it.
    """
    cases: dict[str | None, list[tuple[Entry, Decimal, Decimal]]] = {}
    for entry in record.entries:
        if (prices := _sent_and_paid(entry)) is not None:
            cases.setdefault(entry.account, []).append((entry, *prices))
    for found in cases.values():
        entries = [entry for entry, _, _ in found]
        each = [
            f"{listed(names(entry))} sent {money.write(sent)} and paid {money.write(paid)}"
            for entry, sent, paid in found
        ]
        more = sum((paid - sent for _, sent, paid in found), Decimal(0))
        yield Seen(
            entries,
            f"{plural(len(found), 'order')} paid another price than purchaseCost: {listed(each)}.",
            names(*entries),
            more if more > 0 else None,
        )


def _sent_and_paid(entry: Entry) -> tuple[Decimal, Decimal] | None:
    """Return the purchaseCost of an order and the price that it paid, if they differ.

    The client may have added the privacy protection to its price or not.
    """
    sent = _price_sent(entry) if entry.changes else None
    paid = [one for one in charges(entry) if one.cause == entry.id]
    total = -sum((one.amount for one in paid), Decimal(0))
    price = -sum((one.amount for one in paid if one.purpose is not Purpose.PRIVACY), Decimal(0))
    return None if sent is None or sent in (price, total) else (sent, price)


def _price_sent(entry: Entry) -> Decimal | None:
    """Return the purchaseCost that an order sent, where the operation reads one."""
    if entry.operation not in _PRICED:
        return None
    body = entry.json if isinstance(entry.json, dict) else {}
    places = [body]
    if entry.operation == "v3.renewDomain":
        inner = body.get("domain")
        places += [inner if isinstance(inner, dict) else {}, dict(entry.query)]
    given = next((place["purchaseCost"] for place in places if place.get("purchaseCost") is not None), None)
    return None if given is None else money.read_price(given, most=None)


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
