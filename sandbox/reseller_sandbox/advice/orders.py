"""Orders that were paid twice, repeated after a lost response, or not paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache

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
    is_automatic_renewal,
    renewals,
    rule,
    span,
    times,
)
from reseller_sandbox.registry.model import OUTSIDE, Account, Flag, LedgerEntry, Order, Purpose, Stage
from reseller_sandbox.registry.purchases import renewal_cost
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.registry.stepwise import in_order, stepwise
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire, years_later
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import plural
from reseller_sandbox.worlds import Entry

#: Two equal renewals of a domain within this time count as one renewal that was sent twice. An hourly job
#: runs again within this time.
SOON = timedelta(minutes=90)

#: The same limit after a lost response, because the client may retry much later.
AFTER_A_LOST_ANSWER = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_twice(record: Record) -> Iterator[Case]:
    """The same renewal, of a name for the same years, carried out twice in 90 minutes.
    If the response to the first was lost, the limit is a day.

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
    state = record.present.state
    for entry in record.entries:
        charge = next(iter(renewals(entry)), None)
        earlier = _automatic(record, charge) if charge is not None else None
        if charge is None or earlier is None:
            continue
        name, unit = to_unicode(charge.name), state.accounts[charge.account].currency
        automatic = money.write(_paid(record, earlier))
        yield Case(
            [entry],
            f"{name} was renewed automatically on {wire(earlier.at)} for {automatic} {unit} and "
            f"again by request {span(charge.at - earlier.at)}, for {money.write(cost(entry))} {unit} more.",
            (name,),
            cost(entry),
        )


def _automatic(record: Record, charge: LedgerEntry) -> LedgerEntry | None:
    """Return the automatic renewal shortly before ``charge``, or None."""
    ledger = record.present.state.ledger
    for number in range(charge.id - 1, 0, -1):
        earlier = ledger.get(number)
        if earlier is None or charge.at - earlier.at > AFTER_AN_AUTOMATIC_ONE:
            return None
        if earlier.order == charge.order and is_automatic_renewal(earlier):
            return earlier
    return None


def _paid(record: Record, renewal: LedgerEntry) -> Decimal:
    """Return the cost of an automatic renewal, including privacy."""
    privacy = record.present.state.ledger.get(renewal.id + 1)
    if privacy is None or (privacy.cause, privacy.at) != (renewal.cause, renewal.at):
        return -renewal.amount
    return -renewal.amount - privacy.amount


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


class UnknownOrder(Struct):
    """An order whose response was lost or late.

    ``first`` placed the order for ``name``. ``again`` are its repetitions, until another request showed the
    client the result. ``is_known`` is whether there was such a request.
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
    """Return the orders with lost or late responses, in order, whichever interface they came through."""
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
    """Yield the orders of a kind that were placed again and refused by one of ``refused_by``."""
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


_LAPSED = (Stage.OVERDUE, Stage.REDEMPTION, Stage.PENDING_DELETE)


@rule(Severity.DATA)
def auto_renewal_unpaid(record: Record) -> Iterator[Case]:
    """A name with auto-renewal that expired because the balance was too low.

    Instead:
        Compare the balance with the cost of the automatic renewals in the next days. Renew important names by
        request. The service does not notify you when an automatic renewal fails.
    """
    state = record.present.state
    clients = {entry.account for entry in record.entries}

    @cache
    def ledger_of(account: int) -> list[LedgerEntry]:
        return [state.ledger[number] for _, number in state.ledger_of_account.beginning((account,))]

    for _, order in in_order(_orders(record)):
        account = state.accounts.get(order.account)
        if account is None or account.name not in clients:  # no client of this account sent a request
            continue
        ledger = ledger_of(order.account)
        expired = _expired(record, order, ledger)
        if expired is not None:
            yield from _case(record, order, account, expired, ledger)


def _orders(record: Record) -> dict[int, Order]:
    """Return the last known version of every order with auto-renewal."""
    orders = dict(stepwise(record.beginning.state.orders.items()))
    for entry in record.entries:
        for change in entry.changes:
            if change.table == "orders":
                orders.pop(change.key, None)
                if change.after is not None:
                    orders[change.key] = change.after
    orders |= dict(stepwise(record.present.state.orders.items()))
    return {number: order for number, order in orders.items() if order.autorenew and order.account != OUTSIDE}


def _expired(record: Record, order: Order, ledger: list[LedgerEntry]) -> datetime | None:
    """Return the time at which ``order`` expired despite auto-renewal, or None.

    Return None also if that time is outside the record.
    """
    state = record.present.state
    if not _lapsed(state, order):
        return None
    renewed = {entry.at for entry in ledger if entry.order == order.id and is_automatic_renewal(entry)}
    expires = order.expires
    while order.id not in state.orders and expires in renewed:
        expires = years_later(expires, 1)
    return expires if record.beginning.clock.instant <= expires <= record.present.clock.now() else None


def _lapsed(state: State, order: Order) -> bool:
    """Whether ``order`` expired, and only a low balance can be the reason."""
    if Flag.RENEW_PROHIBITED in order.flags or not state.zones[order.zone].in_service:
        return False
    transfer = state.transfers.get(order.name)
    if transfer is not None and transfer.losing_order == order.id:
        return False
    if order.stage in _LAPSED:
        return order.since >= order.expires  # otherwise the holder deleted it
    return order.id not in state.orders


def _case(
    record: Record, order: Order, account: Account, expired: datetime, ledger: list[LedgerEntry]
) -> Iterator[Case]:
    state = record.present.state
    price = renewal_cost(Draft(state, expired, record.present.assumptions, ""), order).total
    balance = account.balance - sum((item.amount for item in ledger if _later(item, expired)), Decimal(0))
    if balance >= price:
        return
    name, unit = to_unicode(order.name), account.currency
    stage = state.orders[order.id].stage if order.id in state.orders else Stage.RELEASED
    yield Case(
        [_evidence(record, account, expired)],
        f"The automatic renewal of {name} on {wire(expired)} for {money.write(price)} {unit} failed, because "
        f"the balance was {money.write(balance)} {unit}. The name expired and is now "
        f"{stage.value.replace('_', ' ')}.",
        (name,),
    )


def _evidence(record: Record, account: Account, expired: datetime) -> Entry:
    """Return the account's last payment before the expiry.

    Without a payment, return its last request before the expiry, or else its first request.
    """
    requests = [entry for entry in record.entries if entry.account == account.name]
    before = [entry for entry in requests if entry.at <= expired]
    paid = [entry for entry in before if charges(entry)]
    return (paid or before or requests[:1])[-1]


def _later(entry: LedgerEntry, instant: datetime) -> bool:
    """Whether the entry came after the timed events at ``instant``.

    At the same instant, timed events come before requests.
    """
    return entry.at > instant or (entry.at == instant and not entry.cause.startswith("event:"))
