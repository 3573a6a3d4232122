"""Orders whose responses were lost or late, and how their clients reacted."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from reseller_sandbox import refusals
from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, cost, currency
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.values import money
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry

_INSTEAD = (
    "If an answer does not arrive, read the name first (getDomain, the list of names, domain info). If the "
    "name exists, the order was carried out. Repeat the order only if the name does not exist."
)


@rule(Severity.MONEY, instead=_INSTEAD)
def registration_repeated(record: Record) -> Iterator[Case]:
    """A registration sent again after a lost response, and refused as taken.
    The first registration had already taken the name.
    """
    return _repeated(record, Purpose.REGISTRATION, refusals.NAME_TAKEN)


@rule(Severity.MONEY, instead=_INSTEAD)
def transfer_repeated(record: Record) -> Iterator[Case]:
    """A transfer requested again after a lost response, and refused.
    The first request had already started the transfer.
    """
    return _repeated(record, Purpose.TRANSFER, refusals.TRANSFER_PENDING, refusals.ALREADY_YOURS)


@rule(Severity.MONEY, instead=_INSTEAD)
def lost_answer_ignored(record: Record) -> Iterator[Case]:
    """A paid order whose response was lost, and whose name was not read since."""
    for order in _unknown_orders(record):
        first, answered = order.first, any(entry.carried_out or entry.refused for entry in order.again)
        if first.lost and not order.is_known and not answered and cost(first):
            yield order.case(
                f"The {order.kind} of {to_unicode(order.name)} was carried out, for "
                f"{money.write(cost(first))} {currency(first)}, and the answer to {first.id} was lost. No "
                "later request read the result. A client that takes the lost answer for a failure has paid "
                "without knowing it.",
                order.again,
            )


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault lost or delayed its response."""
    return bool(entry.changes) and (entry.lost or "delayed" in entry.fault_effects)


class UnknownOrder(Struct):
    """An order whose result the client does not know.

    ``first`` placed the order for ``name``. ``again`` holds the repeated requests before another request
    showed the client the result. ``is_known`` is whether such a request was sent.
    """

    first: Entry
    name: str
    kind: Purpose
    again: list[Entry] = field(default_factory=list)
    is_known: bool = False

    def case(self, summary: str, again: list[Entry]) -> Case:
        """Return the case that this order and ``again`` show."""
        amount_spent = cost(self.first) if currency(self.first) else None
        return Case([self.first, *again], summary, (to_unicode(self.name),), amount_spent)


def _unknown_orders(record: Record) -> list[UnknownOrder]:
    """Return the orders with lost or late responses, in order, for both interfaces."""
    orders: list[UnknownOrder] = []
    unknown: dict[tuple[str | None, str], UnknownOrder] = {}
    for entry in record.entries:
        kind = record.orders(entry)
        for (account, name), order in list(unknown.items()):
            if account != entry.account or (not record.lists_names(entry) and name not in entry.domains):
                continue
            if kind == order.kind:
                order.again.append(entry)
            elif not entry.lost:
                order.is_known = True
                del unknown[account, name]
        if kind is not None and answer_lost(entry):
            for name in entry.domains:
                unknown[entry.account, name] = UnknownOrder(entry, name, kind)
                orders.append(unknown[entry.account, name])
    return orders


def _repeated(record: Record, kind: Purpose, *refused_by: refusals.Rule) -> Iterator[Case]:
    """Yield the orders placed again and refused by one of ``refused_by``."""
    for order in _unknown_orders(record):
        again = [entry for entry in order.again if entry.refused and entry.refused.rule in refused_by]
        if order.kind != kind or not again:
            continue
        first, unit = order.first, currency(order.first)
        paid = f", for {money.write(cost(first))} {unit}" if unit else ""
        yield order.case(
            f"{first.id} placed the {kind} of {to_unicode(order.name)}{paid}, and its answer was lost or "
            f"late. {', '.join(entry.id for entry in again)} repeated the order without reading the name, "
            "and was refused. A client that takes the refusal for a failure has paid for a name without "
            "knowing it.",
            again,
        )
