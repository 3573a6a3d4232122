"""What time does: each event that comes due, carried out at its own instant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from reseller_sandbox.core import ledger, orders, plans, renewals, transfers
from reseller_sandbox.core.happenings import Happening, concerning
from reseller_sandbox.core.lifecycle import TIMED, enter, retry
from reseller_sandbox.core.model import Order, Stage, TransferStatus
from reseller_sandbox.core.outside import ACTIONS
from reseller_sandbox.core.state import Draft, State

__all__ = ["Due", "Happening", "about", "due_by", "fire", "names", "next_due"]

Due = tuple[datetime, str, Any]

#: What may happen beside the passages of an order's life.
TRANSFER_CANCELLED = "transfer cancelled"
RENEWAL_FAILED = "automatic renewal failed"
PROMOTION_ENDS = {
    "registration_promotion": "registration promotion ends",
    "renewal_promotion": "renewal promotion ends",
}


def names() -> tuple[str, ...]:
    """Return the name of every event that time can bring about, the plans' among them."""
    passages = [passage.event for passage in TIMED]
    planned = [*ACTIONS, *(f"{action} refused" for action in ACTIONS)]
    return tuple(
        dict.fromkeys([*passages, RENEWAL_FAILED, TRANSFER_CANCELLED, *PROMOTION_ENDS.values(), *planned])
    )


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


def _instant(state: State, kind: str, key: Any) -> datetime | None:
    if kind == "order":
        return state.orders[key].due
    if kind == "retry":
        return state.orders[key].retry
    if kind == "plan":
        plan = state.plans[key]
        return plan.at if plan.struck is None else None
    transfer = state.transfers.get(key)
    return transfer.completes if transfer is not None and transfer.pending else None


def fire(draft: Draft, due: Due) -> list[Happening]:
    """Carry out ``due`` in ``draft``, which stands at its instant; answers what that was, in order."""
    _, kind, key = due
    return list(_KINDS[kind](draft, key))


def _order(draft: Draft, number: int) -> Iterator[Happening]:
    order = draft.state.orders[number]
    yield from _PASSAGES[order.stage](draft, order)


def _move_on(draft: Draft, order: Order) -> Iterator[Happening]:
    passage = next(passage for passage in TIMED if passage.stage is order.stage)
    enter(draft, order, passage.target)
    yield concerning(draft, passage.event, order)


def _expire(draft: Draft, order: Order) -> Iterator[Happening]:
    hindrance = renewals.hindrance(draft, order) if order.autorenew else ""
    if order.autorenew and not hindrance:
        yield _renewed(draft, order)
        return
    enter(draft, order, Stage.OVERDUE)
    yield concerning(draft, "expiry", order, note=hindrance and f"no automatic renewal: {hindrance}")


def _retry(draft: Draft, number: int) -> Iterator[Happening]:
    order = draft.state.orders[number]
    hindrance = renewals.hindrance(draft, order)
    if not hindrance:
        yield _renewed(draft, order)
        return
    draft.put(replace(order, retry=retry(order, draft.assumed, draft.now)))
    yield concerning(draft, RENEWAL_FAILED, order, note=hindrance)


def _renewed(draft: Draft, order: Order) -> Happening:
    placed = renewals.renew_itself(draft, order)
    return concerning(draft, "automatic renewal", order, placed.paid)


def _redeem(draft: Draft, order: Order) -> Iterator[Happening]:
    transfer = draft.state.transfers.get(order.name)
    wanting = draft.state.orders.get(transfer.gaining_order) if transfer is not None else None
    failed = transfers.fail_pending(draft, order.name)
    if failed is not None and wanting is not None:
        yield concerning(draft, TRANSFER_CANCELLED, wanting, -ledger.total(draft, failed.charges))
    yield from _move_on(draft, order)


def _release(draft: Draft, order: Order) -> Iterator[Happening]:
    orders.release(draft, order)
    yield concerning(draft, "release", order)


_PASSAGES: dict[Stage, Callable[[Draft, Order], Iterator[Happening]]] = {
    Stage.REQUESTED: _move_on,
    Stage.PROCESSING: _move_on,
    Stage.ACTIVE: _expire,
    Stage.OVERDUE: _redeem,
    Stage.REDEMPTION: _move_on,
    Stage.PENDING_DELETE: _release,
}


def _transfer(draft: Draft, name: str) -> Iterator[Happening]:
    transfer = draft.state.transfers[name]
    here = transfers.party_here(draft.state, transfer)
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED)
    yield concerning(draft, "transfer completion", here)


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
