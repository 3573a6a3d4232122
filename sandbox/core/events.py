"""What time does: each event that comes due, carried out at its own instant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sandbox.core import ledger, orders, prices, transfers
from sandbox.core.clock import years_later
from sandbox.core.lifecycle import TIMED, enter, leaving
from sandbox.core.model import OUTSIDE, Flag, Order, Purpose, Stage, TransferStatus, Zone
from sandbox.core.state import Draft, State

Due = tuple[datetime, str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """One event that has happened: when, what, to which name or zone, and what it charged to whom."""

    at: datetime
    event: str
    subject: str
    account: int | None = None
    order: int | None = None
    charged: Decimal = Decimal(0)


def next_due(state: State) -> Due | None:
    """The event that comes first, as (instant, kind, key), or None when time changes nothing."""
    return state.calendar.first()


def fire(draft: Draft, due: Due) -> Fired:
    """Carry out ``due`` in ``draft``, which stands at its instant."""
    _, kind, key = due
    return _KINDS[kind](draft, key)


def _order(draft: Draft, number: int) -> Fired:
    order = draft.state.orders[number]
    event, charged = _PASSAGES[order.stage](draft, order)
    return Fired(
        at=draft.now, event=event, subject=order.name, account=order.account, order=order.id, charged=charged
    )


def _move_on(draft: Draft, order: Order) -> tuple[str, Decimal]:
    passage = next(passage for passage in TIMED if passage.stage is order.stage)
    enter(draft, order, passage.target)
    return passage.event, prices.FREE


def _expire(draft: Draft, order: Order) -> tuple[str, Decimal]:
    price = orders.renewal_cost(draft, order)
    if _renews_itself(draft, order, price):
        ledger.charge(draft, order, price, Purpose.RENEWAL, 1)
        enter(draft, replace(order, expires=years_later(order.expires, 1)), Stage.ACTIVE)
        return "automatic renewal", price if order.account != OUTSIDE else prices.FREE
    enter(draft, order, Stage.OVERDUE)
    return "expiry", prices.FREE


def _renews_itself(draft: Draft, order: Order, price: Decimal) -> bool:
    return (
        order.autorenew
        and Flag.RENEW_PROHIBITED not in order.flags
        and not leaving(draft.state, order)
        and draft.state.zones[order.zone].in_service
        and ledger.can_pay(draft.state.accounts[order.account], price)
    )


def _redeem(draft: Draft, order: Order) -> tuple[str, Decimal]:
    transfers.fail_pending(draft, order.name)
    return _move_on(draft, order)


def _release(draft: Draft, order: Order) -> tuple[str, Decimal]:
    orders.release(draft, order)
    return "release", prices.FREE


_PASSAGES: dict[Stage, Callable[[Draft, Order], tuple[str, Decimal]]] = {
    Stage.REQUESTED: _move_on,
    Stage.PROCESSING: _move_on,
    Stage.ACTIVE: _expire,
    Stage.OVERDUE: _redeem,
    Stage.REDEMPTION: _move_on,
    Stage.PENDING_DELETE: _release,
}


def _transfer(draft: Draft, name: str) -> Fired:
    transfer = draft.state.transfers[name]
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED)
    return Fired(
        at=draft.now,
        event="transfer completion",
        subject=name,
        account=transfer.gaining,
        order=transfer.gaining_order,
    )


def _registration_promotion(draft: Draft, name: str) -> Fired:
    draft.put(replace(_zone(draft, name), registration_promotion=None))
    return Fired(at=draft.now, event="registration promotion ends", subject=name)


def _renewal_promotion(draft: Draft, name: str) -> Fired:
    draft.put(replace(_zone(draft, name), renewal_promotion=None))
    return Fired(at=draft.now, event="renewal promotion ends", subject=name)


def _zone(draft: Draft, name: str) -> Zone:
    return draft.state.zones[name]


_KINDS: dict[str, Callable[[Draft, Any], Fired]] = {
    "order": _order,
    "transfer": _transfer,
    "registration_promotion": _registration_promotion,
    "renewal_promotion": _renewal_promotion,
}
