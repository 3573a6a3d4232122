"""What time does: each event that comes due, carried out at its own instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from reseller_sandbox.core import ledger, lifecycle, orders, plans, prices, renewals, transfers
from reseller_sandbox.core.happenings import Happening, concerning
from reseller_sandbox.core.lifecycle import Passage
from reseller_sandbox.core.model import Order, Stage, TransferStatus
from reseller_sandbox.core.outside import ACTIONS
from reseller_sandbox.core.state import Draft, Due, State

__all__ = ["Due", "Happening", "about", "due_by", "fire", "is_due", "names", "next_due"]

#: What may happen beside the passages of an order's life.
TRANSFER_CANCELLED = "transfer cancelled"
PROMOTION_ENDS = {
    "registration_promotion": "registration promotion ends",
    "renewal_promotion": "renewal promotion ends",
}


def names() -> tuple[str, ...]:
    """Return the name of every event that time can bring about, the plans' among them."""
    passages = [event for row in lifecycle.TIMED for event in (row.event, row.tried_again) if event]
    planned = [*ACTIONS, *(f"{action} refused" for action in ACTIONS)]
    return tuple(dict.fromkeys([*passages, TRANSFER_CANCELLED, *PROMOTION_ENDS.values(), *planned]))


def next_due(state: State) -> Due | None:
    """The event that comes first, as (instant, kind, key), or None when time changes nothing."""
    return state.calendar.first()


def due_by(state: State, instant: datetime) -> list[Due]:
    """Return the events that come by ``instant`` unless something changes, in order."""
    return list(takewhile(lambda due: due[0] <= instant, state.calendar))


def about(state: State, name: str) -> list[Due]:
    """The events that are due for a name, in order."""
    numbers = [state.own_order.get((account, name)) for account in state.accounts]
    keys: list[tuple[str, Any]] = [
        (kind, number) for number in numbers if number is not None for kind in ("order", "retry")
    ]
    keys += [("transfer", name)]
    keys += [("plan", number) for number, plan in state.plans.items() if plans.subject(plan) == name]
    found = ((_instant(state, kind, key), kind, key) for kind, key in keys)
    return sorted((at, kind, key) for at, kind, key in found if at is not None)


def is_due(state: State, due: Due) -> bool:
    """Whether ``due`` is in the calendar of ``state``, as the record that it is about has it."""
    at, kind, key = due
    return _instant(state, kind, key) == at


def _instant(state: State, kind: str, key: Any) -> datetime | None:
    """Return when that comes, or None where nothing is to come."""
    if kind in ("order", "retry"):
        order = state.orders.get(key)
        if order is None:
            return None
        return order.due if kind == "order" else order.retry
    if kind == "plan":
        plan = state.plans.get(key)
        return plan.at if plan is not None and plan.struck is None else None
    if kind in PROMOTION_ENDS:
        zone = state.zones.get(key)
        promotion = getattr(zone, kind, None)
        return promotion.until if promotion is not None else None
    transfer = state.transfers.get(key)
    return transfer.completes if transfer is not None and transfer.pending else None


def fire(draft: Draft, due: Due) -> list[Happening]:
    """Carry out ``due`` in ``draft``, which stands at its instant; answers what that was, in order."""
    _, kind, key = due
    return list(_KINDS[kind](draft, key))


def _order(draft: Draft, number: int) -> Iterator[Happening]:
    order, note = draft.state.orders[number], ""
    for row in lifecycle.ending(draft, order):
        if row.years and not order.autorenew:
            continue
        hindrance = _hindrance(draft, order, row)
        if not hindrance:
            yield from _pass(draft, order, row, note)
            return
        note = f"no {row.event}: {hindrance}"


def _hindrance(draft: Draft, order: Order, row: Passage) -> str:
    return renewals.hindrance(draft, order, row.years) if row.years else ""


def _pass(draft: Draft, order: Order, row: Passage, note: str = "") -> Iterator[Happening]:
    """Carry out a row that nothing hinders."""
    if row.ends_transfer:
        yield from _end_transfer(draft, order)
    charged = prices.FREE
    if row.years:
        charged = renewals.renew_itself(draft, order, row.years, row.target).paid
    elif row.target is Stage.RELEASED:
        orders.release(draft, order)
    else:
        lifecycle.enter(draft, order, row.target)
    yield concerning(draft, row.event, order, charged, note)


def _end_transfer(draft: Draft, order: Order) -> Iterator[Happening]:
    transfer = draft.state.transfers.get(order.name)
    wanting = draft.state.orders.get(transfer.gaining_order) if transfer is not None else None
    failed = transfers.fail_pending(draft, order.name)
    if failed is not None and wanting is not None:
        yield concerning(draft, TRANSFER_CANCELLED, wanting, -ledger.total(draft, failed.charges))


def _retry(draft: Draft, number: int) -> Iterator[Happening]:
    order = draft.state.orders[number]
    row = lifecycle.trial(order.stage)
    assert row is not None
    hindrance = _hindrance(draft, order, row)
    if not hindrance:
        yield from _pass(draft, order, row)
        return
    draft.put(replace(order, retry=lifecycle.retry(order, draft.assumed, draft.now)))
    yield concerning(draft, row.tried_again, order, note=hindrance)


def _transfer(draft: Draft, name: str) -> Iterator[Happening]:
    transfer = draft.state.transfers[name]
    here = transfers.party_here(draft.state, transfer)
    row = lifecycle.passages(Stage.ARRIVING)[0]
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED, row.target)
    yield concerning(draft, row.event, here)


def _promotion(term: str) -> Callable[[Draft, str], Iterator[Happening]]:
    def end(draft: Draft, name: str) -> Iterator[Happening]:
        draft.put(replace(draft.state.zones[name], **{term: None}))  # type: ignore[arg-type]
        yield Happening(at=draft.now, event=PROMOTION_ENDS[term], subject=name)

    return end


def _plan(draft: Draft, number: int) -> Iterator[Happening]:
    yield plans.strike(draft, draft.state.plans[number])


_KINDS: dict[str, Callable[[Draft, Any], Iterator[Happening]]] = {
    "order": _order,
    "plan": _plan,
    "retry": _retry,
    "transfer": _transfer,
    **{term: _promotion(term) for term in PROMOTION_ENDS},
}
