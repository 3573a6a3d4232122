"""Rules about data that the client did not read: the other pages of a list, and prices."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

from reseller_sandbox import refusals
from reseller_sandbox.advice.finding import (
    Case,
    Record,
    Severity,
    by_account,
    charges,
    listed,
    names,
    rule,
    times,
)
from reseller_sandbox.registry.model import OUTSIDE, Purpose, Stage
from reseller_sandbox.registry.state import account_named
from reseller_sandbox.values import money
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import plural
from reseller_sandbox.worlds import Entry

#: The default number of names per page.
PER_PAGE = 100

#: Page numbers with this many digits or more are ignored, because no list is so long.
_DIGITS = 12


class _Page(NamedTuple):
    """A page of a list that a client read: its request, number, length, and the count of all names."""

    entry: Entry
    number: int
    length: int
    total: int

    @property
    def names(self) -> range:
        """The positions of this page's names in the list."""
        return range((self.number - 1) * self.length, min(self.number * self.length, self.total))

    @property
    def following(self) -> range:
        """The positions of the next page's names in the list, empty after the last page."""
        return range(self.names.stop, min(self.names.stop + self.length, self.total))


@rule(Severity.DATA)
def pages_not_followed(record: Record) -> Iterator[Case]:
    """A list of names whose response had a nextPage that was never requested.

    Pages can be read in any order and with any length. The rule compares only the names on them.

    Instead:
        Request nextPage until a response has none. The names on the other pages exist, and expire, too.
    """
    lists = (entry for entry in record.entries if record.lists_names(entry) and entry.refused is None)
    for entries in by_account(lists):
        pages = [page for page in map(_read, entries) if page is not None and not page.entry.lost]
        seen = set(chain.from_iterable({page.names for page in pages}))
        unseen = {names for names in {page.following for page in pages} if not seen.issuperset(names)}
        missed: dict[tuple[int, int], list[_Page]] = {}
        for page in pages:
            if page.following in unseen:
                missed.setdefault((page.length, page.number), []).append(page)
        for (length, number), short in missed.items():
            last = -(-short[-1].total // length)
            yield Case(
                [page.entry for page in short],
                f"The list of names was read up to page {number} of {last} ({length} names a page); "
                f"the answer had a nextPage, page {number + 1}, which no request read.",
            )


def _read(entry: Entry) -> _Page | None:
    """Return the page of a list that a request read, None if its number or length is not a positive number.

    The count of all names comes from the state at the request, because the response may be too long for the
    journal.
    """
    *_, before, last = entry.path.split("/")
    sent = {name.lower(): value for name, value in entry.query}
    if before.isdigit() and last.isdigit():
        sent = {"perpage": before, "page": last}
    per_page, page = sent.get("perpage", str(PER_PAGE)), sent.get("page", "1")
    if not all(text.isdecimal() and len(text) < _DIGITS and int(text) for text in (per_page, page)):
        return None
    state, most = entry.before.state, entry.before.assumptions.list_max_per_page
    account = account_named(state, entry.account)
    holder = account.client_id if account is not None else OUTSIDE
    length = min(int(per_page), most) if isinstance(most, int) else int(per_page)
    return _Page(entry, int(page), length, state.orders_of_account.count((holder,)))


#: Minimum number of refused orders for a finding. After one refusal, a client may have learned the price.
TRIES = 2


@rule(Severity.DATA)
def premium_without_price(record: Record) -> Iterator[Case]:
    """At least two orders of premium names without purchaseCost, and no order with purchaseCost.
    The orders can be for the same name or for different names.

    Instead:
        If checkAvailability returns premium, send purchaseCost: the yearly price in the response, times the
        years.
    """
    for entries in _never_correct(record, refusals.PREMIUM_COST_REQUIRED):
        yield Case(
            entries,
            f"{listed(entry.operation for entry in entries)} was sent {times(len(entries))} for premium "
            f"names ({listed(names(*entries))}) without purchaseCost, and never with the price "
            f"{listed(_facts(entries, 'price'))}. No name was ordered.",
        )


@rule(Severity.DATA)
def wrong_price_repeated(record: Record) -> Iterator[Case]:
    """At least two orders with a wrong purchaseCost, and no order with the right price.
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
        )


@rule(Severity.RISK)
def wrong_expiry_repeated(record: Record) -> Iterator[Case]:
    """At least two renewals with a wrong expiry date, and no renewal with the right date.
    The client computes the date itself, and does not read it.

    Instead:
        Read the expiry date of the name before each renewal, and send this date. A computed date misses
        automatic renewals, renewals by the staff and the time zone of the service.
    """
    for entries in _never_correct(record, refusals.EXPIRY_MISMATCH, refusals.END_MISMATCH):
        yield Case(
            entries,
            f"{listed(names(*entries))}: renewal sent {times(len(entries))} with the expiry date "
            f"{listed(_facts(entries, 'given'))}, and never with the right date. No name was renewed.",
        )


@rule(Severity.RISK)
def pending_transfer_used(record: Record) -> Iterator[Case]:
    """At least two changes of a name whose transfer was pending, without a read of the name in between.
    The service refuses such changes.

    Instead:
        A response to a transfer request does not mean that the transfer is complete. Read the name until its
        status is active, and change the name then.
    """
    refused: dict[tuple[str | None, str], list[Entry]] = {}
    for entry in record.entries:
        if record.is_read(entry) and not entry.lost:
            read = entry.domains  # empty for a list, which shows every name
            refused = {
                (account, name): tries
                for (account, name), tries in refused.items()
                if account != entry.account or (read and name not in read) or len(tries) >= TRIES
            }
        elif entry.stage is Stage.ARRIVING and entry.refused and entry.refused.rule is refusals.WRONG_STATE:
            for name in entry.domains:
                refused.setdefault((entry.account, name), []).append(entry)
    for (_, name), tries in refused.items():
        if len(tries) >= TRIES:
            yield Case(
                tries,
                f"{plural(len(tries), 'change')} of {to_unicode(name)} "
                f"({listed(entry.operation for entry in tries)}) while its transfer was pending. No "
                "request in between read its status.",
                (to_unicode(name),),
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
            amount=overpaid if overpaid > 0 else None,
        )


def _sent_and_paid(record: Record, entry: Entry) -> tuple[Decimal, Decimal] | None:
    """Return the price that an order sent and the price that it paid.

    Return None if they agree, or if the request sent no price or changed nothing. The price that the client
    sends may include privacy or not.
    """
    operation = record.operation(entry) if entry.changes else None
    values = (_value_at(entry, place) for place in operation.price) if operation is not None else ()
    value = next((value for value in values if value is not None), None)
    sent = None if value is None else money.read_price(value, most=None)
    paid = [charge for charge in charges(entry) if charge.cause == entry.id]
    total = -sum((charge.amount for charge in paid), Decimal(0))
    price = -sum((charge.amount for charge in paid if charge.purpose is not Purpose.PRIVACY), Decimal(0))
    return None if sent is None or sent in (price, total) else (sent, price)


def _value_at(entry: Entry, place: str) -> object:
    """Return the value at a place in a request, such as ``?purchaseCost``, or None (see ``ApiOperation``)."""
    if place.startswith("?"):
        return dict(entry.query).get(place[1:])
    value = entry.json
    for key in place.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _never_correct(record: Record, *refused_by: refusals.Rule) -> Iterator[list[Entry]]:
    """Yield, for each account, the orders that one of the rules refused and that were never placed correctly.

    If the account has placed a correct order, a single refusal for a domain does not count: the client can
    send prices and decided against that domain.
    """
    waiting: dict[str | None, dict[str, list[Entry]]] = {}
    able: set[str | None] = set()
    for entry in record.entries:
        refused = waiting.setdefault(entry.account, {})
        for name in entry.domains:
            if entry.refused is not None and entry.refused.rule in refused_by:
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
    """Return the value of ``fact``, such as ``price``, in the details of each refusal."""
    return [str(entry.refused.facts[fact]) for entry in entries if entry.refused is not None]
