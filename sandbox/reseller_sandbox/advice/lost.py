"""Orders whose responses were lost or late, and how their clients reacted."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from reseller_sandbox import refusals
from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import LIST, Record, cost, currency, order_asked_for, reads
from reseller_sandbox.values import money
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry

_INSTEAD = (
    "When an answer does not come, read the name first (getDomain, the list of names, domain info). If it is "
    "there, the order was carried out; only if it is not, place it again."
)


@rule(Severity.MONEY, instead=_INSTEAD)
def registration_repeated(record: Record) -> Iterator[Seen]:
    """A registration sent again after a lost response, and refused as taken.
    The first registration had already taken the name.
    """
    return _repeated(record, "registration", refusals.NAME_TAKEN)


@rule(Severity.MONEY, instead=_INSTEAD)
def transfer_repeated(record: Record) -> Iterator[Seen]:
    """A transfer requested again after a lost response, and refused.
    The first request had already started the transfer.
    """
    return _repeated(record, "transfer", refusals.TRANSFER_PENDING, refusals.ALREADY_YOURS)


@rule(Severity.MONEY, instead=_INSTEAD)
def lost_answer_ignored(record: Record) -> Iterator[Seen]:
    """A paid order whose response was lost, and whose name was not read since."""
    for order in unknown_orders(record):
        first, answered = order.first, any(entry.carried_out or entry.refused for entry in order.again)
        if first.lost and not order.told and not answered and cost(first):
            yield order.seen(
                f"The {order.wish} of {to_unicode(order.name)} was carried out, for "
                f"{money.write(cost(first))} {currency(first)}, and the answer to {first.id} was lost. "
                "Nothing has asked since what "
                "became of it: whoever takes that for a failure has paid without knowing it.",
                order.again,
            )


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault lost or delayed its response."""
    return bool(entry.changes) and (entry.lost or any(rule.kind.slows for rule in entry.faults))


class Unknown(Struct):
    """An order whose result the client does not know.

    ``first`` placed the order for ``name``. ``again`` holds the repeated requests before another request
    showed the client the result. ``told`` is true if one has.
    """

    first: Entry
    name: str
    wish: str
    again: list[Entry] = field(default_factory=list)
    told: bool = False

    def seen(self, summary: str, again: list[Entry]) -> Seen:
        """Return a finding that this order and ``again`` show."""
        amount_spent = cost(self.first) if currency(self.first) else None
        return Seen([self.first, *again], summary, (to_unicode(self.name),), amount_spent)


def unknown_orders(record: Record) -> list[Unknown]:
    """Return the orders with lost or late responses, in order, for both interfaces."""
    orders: list[Unknown] = []
    open_: dict[tuple[str | None, str], Unknown] = {}
    for entry in record.entries:
        wish = order_asked_for(entry)
        for order in list(_concerned(open_, entry)):
            if wish == order.wish:
                order.again.append(entry)
            elif not entry.lost:
                order.told = True
                del open_[order.first.account, order.name]
        if wish is not None and answer_lost(entry):
            for name in entry.domains:
                open_[entry.account, name] = Unknown(entry, name, wish)
                orders.append(open_[entry.account, name])
    return orders


def _concerned(open_: dict[tuple[str | None, str], Unknown], entry: Entry) -> Iterator[Unknown]:
    """Yield the orders that the request repeats or whose result it shows.

    The request names the domain, or lists all domains.
    """
    lists = entry.operation == LIST and reads(entry)
    for (account, name), order in open_.items():
        if account == entry.account and (lists or name in entry.domains):
            yield order


def _repeated(record: Record, wish: str, *refused_by: refusals.Rule) -> Iterator[Seen]:
    """Yield the orders placed again and refused by one of ``refused_by``."""
    for order in unknown_orders(record):
        again = [entry for entry in order.again if entry.refused and entry.refused.rule in refused_by]
        if order.wish != wish or not again:
            continue
        first, unit = order.first, currency(order.first)
        paid = f", for {money.write(cost(first))} {unit}" if unit else ""
        yield order.seen(
            f"{first.id} placed the {wish} of {to_unicode(order.name)}{paid}, and its answer was lost or "
            f"late; {', '.join(entry.id for entry in again)} asked for the same again without a look at "
            "the name, and was refused. Whoever takes that for a failure has paid for a name "
            "without knowing it.",
            again,
        )
