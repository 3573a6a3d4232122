"""Orders with a missing or wrong price, or charged at a different price."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reseller_sandbox import refusals
from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, charges, names
from reseller_sandbox.advice.words import listed, plural, times
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.values import money
from reseller_sandbox.worlds import Entry

#: Minimum number of refusals without a correct order. A client may learn the price from one refusal.
TRIES = 2


@rule(Severity.DATA)
def premium_without_price(record: Record) -> Iterator[Case]:
    """At least two orders of premium names without purchaseCost, and none with it.
    The orders can be for the same name or for different names.

    Instead:
        If checkAvailability returns premium, send purchaseCost: the yearly price in the response, times the
        years.
    """
    for entries in _never_correct(record, refusals.PREMIUM_COST_REQUIRED):
        operations = list(dict.fromkeys(entry.operation for entry in entries))
        yield Case(
            entries,
            f"{listed(operations)} was sent {times(len(entries))} for premium names "
            f"({listed(names(*entries))}) without purchaseCost, and never with the price "
            f"{listed(_facts(entries, 'price'))}. No name was ordered.",
            names(*entries),
        )


@rule(Severity.DATA)
def wrong_price_repeated(record: Record) -> Iterator[Case]:
    """At least two orders with a wrong purchaseCost, and none with the right price.
    The orders can be for the same name or for different names.

    Instead:
        purchaseCost is the price of all years together. If it is refused, read the price again
        (checkAvailability), because prices change. Do not send the same price again.
    """
    for entries in _never_correct(record, refusals.PRICE_MISMATCH):
        yield Case(
            entries,
            f"{listed(names(*entries))}: ordered {times(len(entries))} with purchaseCost "
            f"{listed(_facts(entries, 'given'))}, and never with the price "
            f"{listed(_facts(entries, 'price'))}. No name was ordered.",
            names(*entries),
        )


@rule(Severity.MONEY)
def price_not_enforced(record: Record) -> Iterator[Case]:
    """Ordinary names ordered with a purchaseCost that differs from the charge.

    Instead:
        The service compares purchaseCost only with prices of premium names (v3.purchase_cost). For other
        names, read the price (checkAvailability) before the order, and compare totalPaid after the order.
    """
    cases: dict[str | None, list[tuple[Entry, Decimal, Decimal]]] = {}
    for entry in record.entries:
        if (prices := _sent_and_paid(record, entry)) is not None:
            cases.setdefault(entry.account, []).append((entry, *prices))
    for orders in cases.values():
        entries = [entry for entry, _, _ in orders]
        lines = [
            f"{listed(names(entry))} sent {money.write(sent)} and paid {money.write(paid)}"
            for entry, sent, paid in orders
        ]
        overpaid = sum((paid - sent for _, sent, paid in orders), Decimal(0))
        yield Case(
            entries,
            f"{plural(len(orders), 'order')} paid a price that differs from purchaseCost: {listed(lines)}.",
            names(*entries),
            overpaid if overpaid > 0 else None,
        )


def _sent_and_paid(record: Record, entry: Entry) -> tuple[Decimal, Decimal] | None:
    """Return an order's purchaseCost and its price, or None if they agree.

    The client may include privacy in the price or not.
    """
    sent = _price_sent(record, entry) if entry.changes else None
    paid = [charge for charge in charges(entry) if charge.cause == entry.id]
    total = -sum((charge.amount for charge in paid), Decimal(0))
    price = -sum((charge.amount for charge in paid if charge.purpose is not Purpose.PRIVACY), Decimal(0))
    return None if sent is None or sent in (price, total) else (sent, price)


def _price_sent(record: Record, entry: Entry) -> Decimal | None:
    """Return the purchaseCost of an order, or None if the operation reads none."""
    operation = record.operation(entry)
    prices = (_value_at(entry, place) for place in operation.price) if operation is not None else ()
    price = next((price for price in prices if price is not None), None)
    return None if price is None else money.read_price(price, most=None)


def _value_at(entry: Entry, place: str) -> Any:
    """Return the value at a place of the request (see ``ApiOperation``), or None."""
    if place.startswith("?"):
        return dict(entry.query).get(place[1:])
    value = entry.json
    for key in place.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _never_correct(record: Record, refused_by: refusals.Rule) -> Iterator[list[Entry]]:
    """Yield, per account, the orders refused by a rule and never placed correctly.

    A single refusal for a domain counts only if the account never placed a correct order. Otherwise the
    client can send prices and has decided against that domain.
    """
    waiting: dict[str | None, dict[str, list[Entry]]] = {}
    able: set[str | None] = set()
    for entry in record.entries:
        refused = waiting.setdefault(entry.account, {})
        for name in entry.domains:
            if entry.refused is not None and entry.refused.rule is refused_by:
                refused.setdefault(name, []).append(entry)
            elif name in refused and entry.changes and record.orders(entry):
                del refused[name]
                able.add(entry.account)
    for account, refused in waiting.items():
        least = TRIES if account in able else 1
        entries = [entry for tries in refused.values() if len(tries) >= least for entry in tries]
        if len(entries) >= TRIES:
            yield sorted(entries, key=lambda entry: entry.number)


def _facts(entries: list[Entry], fact: str) -> list[str]:
    """Return the values of ``fact`` in the refusals, without duplicates."""
    values = (str(entry.refused.facts[fact]) for entry in entries if entry.refused is not None)
    return list(dict.fromkeys(values))
