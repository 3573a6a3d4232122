"""Domains that expired because the balance did not cover automatic renewal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import cache

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, charges, is_automatic_renewal
from reseller_sandbox.registry.model import OUTSIDE, Account, Flag, LedgerEntry, Order, Stage
from reseller_sandbox.registry.orders import renewal_cost
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.registry.stepwise import in_order, stepwise
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire, years_later
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry

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
    """Return when ``order`` expired during the record despite auto-renewal, or None."""
    state = record.present.state
    if not _lapsed(state, order):
        return None
    renewed = {entry.at for entry in ledger if entry.order == order.id and is_automatic_renewal(entry)}
    expires = order.expires
    while order.id not in state.orders and expires in renewed:
        expires = years_later(expires, 1)
    return expires if record.beginning.clock.instant <= expires <= record.present.clock.now() else None


def _lapsed(state: State, order: Order) -> bool:
    """Whether ``order`` ended and only the balance can be the reason."""
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
    """Whether the entry is after ``instant``, or from a request at that instant.

    At the same instant, timed events come before requests.
    """
    return entry.at > instant or (entry.at == instant and not entry.cause.startswith("event:"))
