"""Due events: the timed transitions of orders, and scheduled actions of third parties."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.refusals import INVALID_PARAMETER, UNKNOWN_SCHEDULED_ACTION, Refused, Rule
from reseller_sandbox.registry import ledger, lifecycle, orders, purchases, transfers
from reseller_sandbox.registry.events import RegistryEvent, concerning
from reseller_sandbox.registry.indexes import PROMOTIONS, TABLES, Due
from reseller_sandbox.registry.lifecycle import TimedTransition
from reseller_sandbox.registry.model import Order, Record, ScheduledAction, Stage, TransferStatus
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.registry.third_parties import ACTIONS, PERMANENT, act, instant_ahead
from reseller_sandbox.values.matching import ANSWERED, Match, Request
from reseller_sandbox.values.money import NOTHING

#: The names of events that are not timed transitions of an order.
TRANSFER_CANCELLED = "transfer cancelled"
PROMOTION_ENDS = {term: f"{term.replace('_', ' ')} ends" for term in PROMOTIONS}


def names() -> tuple[str, ...]:
    """Return the names of all events that the clock can cause."""
    timed_transitions = [*(row.event for row in lifecycle.TIMED), lifecycle.RENEWAL_FAILED]
    planned = [*ACTIONS, *(f"{action} refused" for action in ACTIONS)]
    return tuple(dict.fromkeys([*timed_transitions, TRANSFER_CANCELLED, *PROMOTION_ENDS.values(), *planned]))


def about(state: State, name: str) -> list[Due]:
    """Return the calendar entries of the domain ``name``, in order."""
    numbers = [state.own_order.get((account, name)) for account in state.accounts]
    records: list[Record] = [state.orders[number] for number in numbers if number is not None]
    records += [action for action in state.scheduled.values() if subject_of(action) == name]
    if (transfer := state.transfers.get(name)) is not None:
        records.append(transfer)
    return sorted(due for record in records for due in TABLES[type(record)].due(record))


def fire(draft: Draft, due: Due) -> list[RegistryEvent]:
    """Carry out the calendar entry ``due``. Return the resulting events, in order.

    The draft's ``now`` must be the instant of ``due``.
    """
    _, kind, key = due
    return _KINDS[kind](draft, key)


def _order(draft: Draft, number: int) -> list[RegistryEvent]:
    order, note = draft.state.orders[number], ""
    renewed = lifecycle.is_renewed_at_expiry(order, draft.state.zones[order.zone].policy)
    for row in lifecycle.ending(draft, order):
        if row.renews and not renewed:
            continue
        blocked_by = purchases.blocked_by(draft, order) if row.renews else ""
        if not blocked_by:
            return _carry_out(draft, order, row, note)
        note = f"no {row.event}: {blocked_by}"
    return []


def _carry_out(draft: Draft, order: Order, row: TimedTransition, note: str = "") -> list[RegistryEvent]:
    """Carry out the transition ``row`` of an order. Return the resulting events."""
    ended = _end_transfer(draft, order) if row.ends_transfer else []
    charged = NOTHING
    if row.renews:
        charged = purchases.renew_itself(draft, order, row.target).paid
    elif row.target is Stage.RELEASED:
        orders.release(draft, order)
    else:
        lifecycle.enter(draft, order, row.target)
    return [*ended, concerning(draft, row.event, order, charged, note)]


def _end_transfer(draft: Draft, order: Order) -> list[RegistryEvent]:
    transfer = draft.state.transfers.get(order.name)
    gaining = draft.state.orders.get(transfer.gaining_order) if transfer is not None else None
    failed = transfers.fail_pending(draft, order.name)
    if failed is None or gaining is None:
        return []
    return [concerning(draft, TRANSFER_CANCELLED, gaining, -ledger.total(draft, failed.charges))]


def _retry(draft: Draft, number: int) -> list[RegistryEvent]:
    order = draft.state.orders[number]
    blocked_by = purchases.blocked_by(draft, order)
    if not blocked_by:
        return _carry_out(draft, order, lifecycle.RENEWALS[order.stage])
    policy = draft.state.zones[order.zone].policy
    draft.put(replace(order, retry=lifecycle.retry(order, policy, draft.assumed, draft.now, tried=True)))
    return [concerning(draft, lifecycle.RENEWAL_FAILED, order, note=blocked_by)]


def _transfer(draft: Draft, name: str) -> list[RegistryEvent]:
    transfer = draft.state.transfers[name]
    order = transfers.local_order(draft.state, transfer)
    row = lifecycle.TIMED_AT[Stage.ARRIVING][0]
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED, row.target)
    return [concerning(draft, row.event, order)]


def _promotion(term: str) -> Callable[[Draft, str], list[RegistryEvent]]:
    def end(draft: Draft, name: str) -> list[RegistryEvent]:
        draft.put(replace(draft.state.zones[name], **{term: None}))
        return [RegistryEvent(at=draft.now, event=PROMOTION_ENDS[term], subject=name)]

    return end


_KINDS: dict[str, Callable[[Draft, Any], list[RegistryEvent]]] = {
    "order": _order,
    "scheduled": lambda draft, number: [apply_scheduled(draft, draft.state.scheduled[number])],
    "retry": _retry,
    "transfer": _transfer,
    **{term: _promotion(term) for term in PROMOTION_ENDS},
}


#: The parameters that can name the subject of a scheduled action, in order of precedence.
_SUBJECTS = ("domain", "zone", "account")


def schedule(
    draft: Draft,
    action: str,
    arguments: Mapping[str, object],
    *,
    at: str | None = None,
    after: Match | None = None,
) -> ScheduledAction:
    """Schedule an action ``at`` an instant or ``after`` a request.

    ``at`` can be a duration from now. ``arguments`` are values of the action's parameters. Refuse with
    ``invalid_parameter`` if the instant is past. Also raise those refusals of the action that waiting cannot
    resolve.
    """
    if (at is None) is (after is None):
        raise Refused(
            INVALID_PARAMETER,
            problems="a scheduled action requires exactly one of these parameters: at, after",
        )
    require_possible(draft, action, arguments, PERMANENT)
    after = None if after is None else awaited(after)
    scheduled = ScheduledAction(
        id=draft.next("scheduled"), action=action, parameters=tuple(sorted(arguments.items())), after=after
    )
    if at is not None:
        scheduled = replace(scheduled, at=instant_ahead(draft, "at", at))
    return draft.put(scheduled)


def require_possible(
    draft: Draft, action: str, arguments: Mapping[str, object], permanent: Container[Rule]
) -> None:
    """Try ``action`` on a copy of ``draft``. If a rule in ``permanent`` refuses it, raise the refusal."""
    trial = Draft(draft.state, draft.now, draft.assumed, draft.cause)
    try:
        act(trial, action, arguments)
    except Refused as refused:
        if refused.rule in permanent:
            raise


def apply_scheduled(draft: Draft, scheduled: ScheduledAction) -> RegistryEvent:
    """Carry out a scheduled action. If it is refused, record the reason."""
    refused = ""
    try:
        events = draft.attempt(lambda inner: act(inner, scheduled.action, dict(scheduled.parameters)))
    except Refused as problem:
        refused = str(problem)
        events = RegistryEvent(
            at=draft.now, event=f"{scheduled.action} refused", subject=subject_of(scheduled), note=refused
        )
    draft.put(replace(scheduled, applied=draft.now, refused=refused))
    return events


def subject_of(scheduled: ScheduledAction) -> str:
    """Return the domain, zone or account that a scheduled action is about."""
    parameters = dict(scheduled.parameters)
    return str(next(parameters[name] for name in _SUBJECTS if name in parameters))


def awaited(match: Match) -> Match:
    """Return the condition on requests that triggers a scheduled action.

    If ``match`` has no condition on the response, add the condition ``carried_out``. Refuse with
    ``invalid_parameter`` if ``match`` is only for past requests.
    """
    if "since" in match:
        raise Refused(INVALID_PARAMETER, problems="after.since is only for past requests")
    return Match(match, carried_out=True) if match.keys().isdisjoint(ANSWERED) else match


def waiting_for(state: State, request: Request) -> Iterator[ScheduledAction]:
    """Yield the scheduled actions that ``request`` triggers. Its response must be complete."""
    for (number,) in state.waiting:
        scheduled = state.scheduled[number]
        if scheduled.after is not None and scheduled.after(request):
            yield scheduled


def find_scheduled(state: State, number: int) -> ScheduledAction:
    """Return the scheduled action with the id ``number``.

    Refuse with ``unknown_scheduled_action``.
    """
    scheduled = state.scheduled.get(number)
    if scheduled is None:
        raise Refused(UNKNOWN_SCHEDULED_ACTION, scheduled=number)
    return scheduled
