"""Rules about orders that were paid twice, repeated after a lost response, or not paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal

from msgspec import Struct, field

from reseller_sandbox import refusals
from reseller_sandbox.advice.finding import (
    Case,
    Record,
    Severity,
    answer_lost,
    charges,
    cost,
    currency,
    renewals,
    rule,
    span,
    times,
)
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.lifecycle import AUTOMATIC_RENEWAL
from reseller_sandbox.registry.model import LedgerEntry, Purpose, Stage
from reseller_sandbox.registry.purchases import UNPAID
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import plural
from reseller_sandbox.worlds import Entry

#: Two equal renewals of a domain within this time count as one renewal that was sent twice. The time is
#: longer than an hour, so that the rule finds an hourly job that sends a renewal twice.
SOON = timedelta(minutes=90)

#: The maximum time between two equal renewals if the response to the first was lost. The client may retry
#: much later.
AFTER_A_LOST_ANSWER = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_twice(record: Record) -> Iterator[Case]:
    """A name renewed twice within 90 minutes, each time for the same number of years.
    If the response to the first renewal was lost, the limit is a day.

    Instead:
        Before you repeat a renewal, compare the name's expiry date with the date before the first attempt.
        If the operation takes that earlier date (current_expiry_date), send it, and do not read the date
        again: the service then refuses the second renewal.
    """
    running: dict[tuple[int, str], list[tuple[Entry, LedgerEntry]]] = {}
    for entry in record.entries:
        for charge in renewals(entry):
            chain = running.setdefault((charge.account, charge.name), [])
            if chain and not _same_again(*chain[-1], entry, charge):
                yield from _paid_twice(chain)
                chain.clear()
            chain.append((entry, charge))
    for chain in running.values():
        yield from _paid_twice(chain)


def _same_again(first: Entry, paid: LedgerEntry, second: Entry, paid_again: LedgerEntry) -> bool:
    limit = AFTER_A_LOST_ANSWER if answer_lost(first) else SOON
    return paid.years == paid_again.years and second.at - first.at <= limit


def _paid_twice(chain: list[tuple[Entry, LedgerEntry]]) -> Iterable[Case]:
    if len(chain) < 2:
        return
    (first, charge), *again = chain
    wasted = sum((cost(entry, charge.cause) for entry, charge in again), Decimal(0))
    name, unit = to_unicode(charge.name), currency(first)
    lost = "; the answer to the first was lost or late" if answer_lost(first) else ""
    yield Case(
        list({entry.id: entry for entry, _ in chain}.values()),
        f"{name} was renewed {times(len(chain))} for {plural(charge.years, 'year')} each "
        f"{span(chain[-1][1].at - charge.at)}{lost}: {money.write(wasted)} {unit} more than one renewal "
        "costs.",
        (name,),
        wasted,
    )


#: A renewal by request within this time after an automatic renewal counts as a mistake.
AFTER_AN_AUTOMATIC_ONE = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_after_auto_renewal(record: Record) -> Iterator[Case]:
    """A renewal by request within a day after the name's automatic renewal.

    Instead:
        Renew a name either with auto-renewal or with your own job. Otherwise, read the expiry date before
        each renewal.
    """
    automatic: dict[int | None, list[RegistryEvent]] = {}
    for event in _timed_events(record):
        if event.event == AUTOMATIC_RENEWAL:
            automatic.setdefault(event.order, []).append(event)
    for entry in record.entries:
        for charge in renewals(entry)[:1]:
            for earlier in automatic.get(charge.order, ()):
                if not timedelta(0) <= charge.at - earlier.at <= AFTER_AN_AUTOMATIC_ONE:
                    continue
                name, unit = to_unicode(charge.name), currency(entry)
                yield Case(
                    [entry],
                    f"{name} was renewed automatically on {wire(earlier.at)} for "
                    f"{money.write(earlier.charged)} {unit} and again by request "
                    f"{span(charge.at - earlier.at)}, for {money.write(cost(entry))} {unit} more.",
                    (name,),
                    cost(entry),
                )


def _timed_events(record: Record) -> Iterator[RegistryEvent]:
    """Yield the events of the record that no request caused: timed events and scheduled actions."""
    for event in record.present.log.events:
        if event.registry_event is not None and event.at >= record.beginning.clock.instant:
            yield event.registry_event


_INSTEAD = (
    "If an answer does not arrive, read the name first (getDomain, the list of names, domain info). If the "
    "name exists, the order was carried out. Repeat the order only if the name does not exist."
)


@rule(Severity.MONEY, instead=_INSTEAD)
def registration_repeated(record: Record) -> Iterator[Case]:
    """A registration sent again after a lost response, and refused because the name is taken.
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
    """A paid order whose response was lost, and whose name was not read afterwards."""
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


class UnknownOrder(Struct):
    """An order whose result the client did not know at first, because the response was lost or late.

    ``first`` placed the order for ``name``. ``again`` are its repetitions, until another request showed the
    client the result. ``is_known`` is whether there was such a request.
    """

    first: Entry
    name: str
    kind: Purpose
    again: list[Entry] = field(default_factory=list)
    is_known: bool = False

    def case(self, summary: str, again: list[Entry]) -> Case:
        """Return the case that this order shows, together with the later requests in ``again``."""
        amount_spent = cost(self.first) if currency(self.first) else None
        return Case([self.first, *again], summary, (to_unicode(self.name),), amount_spent)


def _unknown_orders(record: Record) -> list[UnknownOrder]:
    """Return the orders from all interfaces whose response was lost or late. The earliest comes first."""
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
    """Yield a case for each order whose repetition was refused by one of the rules in ``refused_by``."""
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


@rule(Severity.DATA)
def auto_renewal_unpaid(record: Record) -> Iterator[Case]:
    """A name with auto-renewal that expired because the balance was too low.

    Instead:
        Compare the balance with the cost of the automatic renewals in the next days. Renew important names by
        request. The service does not notify you when an automatic renewal fails.
    """
    state = record.present.state
    owners: dict[int | None, str] = {number: account.name for number, account in state.accounts.items()}
    for number, failed in sorted(_unpaid(record).items()):
        requests = [entry for entry in record.entries if entry.account == owners.get(failed.account, "")]
        stage = state.orders[number].stage if number in state.orders else Stage.RELEASED
        if not requests or stage is Stage.ACTIVE:
            continue
        before = [entry for entry in requests if entry.at <= failed.at]
        paid = [entry for entry in before if charges(entry)]
        name, reason = to_unicode(failed.subject), failed.note.rpartition(": ")[2]
        yield Case(
            # the last payment before the failure, or else the last request before it, or else the first
            # request
            [(paid or before or requests[:1])[-1]],
            f"The automatic renewal of {name} on {wire(failed.at)} failed: {reason}. The name expired and is "
            f"now {stage.value.replace('_', ' ')}.",
            (name,),
        )


def _unpaid(record: Record) -> dict[int, RegistryEvent]:
    """Return, for each order, the first automatic renewal that the balance did not cover.

    An order that was renewed later is left out.
    """
    unpaid: dict[int, RegistryEvent] = {}
    for event in _timed_events(record):
        if event.order is not None and UNPAID in event.note:
            unpaid.setdefault(event.order, event)
        elif event.order is not None and event.event == AUTOMATIC_RENEWAL:
            unpaid.pop(event.order, None)
    for entry in record.entries:
        for charge in charges(entry):
            if charge.order in unpaid and charge.at >= unpaid[charge.order].at:
                del unpaid[charge.order]
    return unpaid
