"""The life cycle of a domain: possible actions by stage, and timed transitions.

``MOVES`` defines the actions of each stage, for v3 and v2.0. A fixture can override the actions of a stage.
``TIMED`` defines the transitions that the clock makes, and their cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.refusals import LOCKED, TRANSFER_PENDING, WRONG_STATE, Possible, Refused
from reseller_sandbox.registry.assumptions import Assumptions, public_name
from reseller_sandbox.registry.model import READ_ACTIONS, Flag, Order, Policy, Stage, Zone
from reseller_sandbox.registry.model import Action as Action
from reseller_sandbox.registry.state import Draft, State, pending_transfer
from reseller_sandbox.values.clock import days
from reseller_sandbox.values.names import shown


class Move(Struct, frozen=True):
    """A rule of the life cycle: at ``stages``, ``action`` is possible and leads to ``target``.

    If ``target`` is None, the stage stays. ``in_grace`` is the target within the add grace period.
    ``counterpart`` is the target of the other order of a transfer. ``while_leaving`` is true if the action is
    possible while a transfer to another registrar is pending. ``forbidden_by`` is the flag that forbids the
    action.
    """

    action: Action
    stages: tuple[Stage, ...]
    target: Stage | None = None
    in_grace: Stage | None = None
    counterpart: Stage | None = None
    while_leaving: bool = True
    forbidden_by: Flag | None = None


_LIVE = (Stage.ACTIVE,)
_KEPT = (Stage.ACTIVE, Stage.OVERDUE)

#: The stages of existing orders.
STAGES = tuple(stage for stage in Stage if stage is not Stage.RELEASED)

MOVES: tuple[Move, ...] = (
    Move(Action.RENEW, _KEPT, Stage.ACTIVE, while_leaving=False, forbidden_by=Flag.RENEW_PROHIBITED),
    Move(Action.RESTORE, (Stage.REDEMPTION,), Stage.ACTIVE),
    Move(
        Action.DELETE,
        _KEPT,
        Stage.REDEMPTION,
        in_grace=Stage.RELEASED,
        while_leaving=False,
        forbidden_by=Flag.DELETE_PROHIBITED,
    ),
    Move(Action.HOLD, _LIVE),
    Move(Action.RELEASE_HOLD, _LIVE),
    Move(Action.LOCK_TRANSFER, _LIVE, while_leaving=False),
    Move(Action.UNLOCK_TRANSFER, _LIVE),
    Move(Action.LOCK_UPDATE, _LIVE),
    Move(Action.UNLOCK_UPDATE, _LIVE),
    Move(Action.SET_AUTORENEW, _LIVE),
    Move(Action.SET_FLAGS, _LIVE),
    Move(Action.SET_NAMESERVERS, _LIVE, forbidden_by=Flag.UPDATE_PROHIBITED),
    Move(Action.SET_CONTACTS, _LIVE, forbidden_by=Flag.UPDATE_PROHIBITED),
    Move(Action.CHANGE_HOSTS, _LIVE, forbidden_by=Flag.UPDATE_PROHIBITED),
    Move(Action.CHECK_HOST, _LIVE),
    Move(Action.READ_HOSTS, STAGES),
    Move(Action.SET_AUTH_CODE, _LIVE, forbidden_by=Flag.UPDATE_PROHIBITED),
    Move(Action.READ_AUTH_CODE, _KEPT),
    Move(Action.TRANSFER_OUT, _KEPT, while_leaving=False, forbidden_by=Flag.TRANSFER_PROHIBITED),
    Move(Action.APPROVE_TRANSFER, _KEPT, Stage.RELEASED, counterpart=Stage.ACTIVE),
    Move(Action.REJECT_TRANSFER, _KEPT, counterpart=Stage.RELEASED),
    Move(Action.CANCEL_TRANSFER, (Stage.ARRIVING,), Stage.RELEASED),
)


#: The public name of the assumption that sets the processing time of a new order.
_PROCESSING_TIME = public_name("order_processing")

#: The requests that create an order, each with the first stage of the order.
_CREATIONS = {
    "registration": Stage.ACTIVE,
    f"registration, with {_PROCESSING_TIME}": Stage.REQUESTED,
    "transfer from another registrar": Stage.ARRIVING,
}

_BY_ACTION = {move.action: move for move in MOVES}


End = Callable[[datetime, datetime, Policy, timedelta], datetime]


class Period(Struct, frozen=True):
    """The length of a stage: ``end`` computes its end, and ``words`` describes the length.

    ``end`` receives the start of the stage, the order's expiry, the zone's policy and the processing time.
    """

    words: str
    end: End


def _by_policy(key: str) -> Period:
    return Period(f"{key} days", lambda since, _expires, policy, _: since + days(getattr(policy, key)))


TERM = Period("the term", lambda _since, expires, _policy, _: expires)
RENEWAL = Period("the term, or autorenew_before days less", TERM.end)
PROCESSING = Period(_PROCESSING_TIME, lambda since, _expires, _policy, processing: since + processing)
DAY = Period("each day, where lifecycle.autorenew.tries is daily", lambda since, *_: since + days(1))


class TimedTransition(Struct, frozen=True):
    """A transition by the clock: when ``period`` ends, ``stage`` becomes ``target``.

    If several transitions of a stage end at the same instant, the first one that is not blocked applies. A
    transition that ``renews`` is an automatic renewal at its price. The balance or the registry can block it.
    ``ends_transfer`` is true if it ends a pending transfer of the domain.
    """

    stage: Stage
    target: Stage
    event: str
    period: Period
    renews: bool = False
    ends_transfer: bool = False


AUTOMATIC_RENEWAL = "automatic renewal"

#: The name of the event of a failed attempt before or after the expiry.
RENEWAL_FAILED = "automatic renewal failed"

TIMED: tuple[TimedTransition, ...] = (
    TimedTransition(Stage.REQUESTED, Stage.PROCESSING, "processing", PROCESSING),
    TimedTransition(Stage.PROCESSING, Stage.ACTIVE, "activation", PROCESSING),
    TimedTransition(Stage.ACTIVE, Stage.ACTIVE, AUTOMATIC_RENEWAL, RENEWAL, renews=True),
    TimedTransition(Stage.ACTIVE, Stage.OVERDUE, "expiry", TERM),
    TimedTransition(Stage.OVERDUE, Stage.ACTIVE, AUTOMATIC_RENEWAL, DAY, renews=True),
    TimedTransition(Stage.OVERDUE, Stage.REDEMPTION, "redemption", _by_policy("overdue"), ends_transfer=True),
    TimedTransition(Stage.REDEMPTION, Stage.PENDING_DELETE, "pending delete", _by_policy("redemption")),
    TimedTransition(
        Stage.PENDING_DELETE, Stage.RELEASED, "release", _by_policy("pending_delete"), ends_transfer=True
    ),
    TimedTransition(Stage.ARRIVING, Stage.ACTIVE, "transfer completion", _by_policy("transfer")),
)


#: The transitions that end each stage, except the daily renewal attempt.
TIMED_AT: Mapping[Stage, Sequence[TimedTransition]] = {
    stage: [row for row in TIMED if row.stage is stage and row.period is not DAY] for stage in Stage
}

#: The automatic renewal at each stage that has one.
RENEWALS = {row.stage: row for row in TIMED if row.renews}
_PROCESSED = frozenset(row.stage for row in TIMED if row.period is PROCESSING)


def completion(requested: datetime, policy: Policy) -> datetime:
    """Return the instant at which a transfer completes if nobody decides it earlier."""
    return min(row.period.end(requested, requested, policy, timedelta()) for row in TIMED_AT[Stage.ARRIVING])


def due(
    stage: Stage, since: datetime, expires: datetime, policy: Policy, processing: timedelta
) -> datetime | None:
    """Return the instant at which the clock ends a ``stage`` that began at ``since``.

    Return None for an incoming order, because its transfer record has the instant.
    """
    if stage is Stage.ARRIVING:
        return None
    return min([row.period.end(since, expires, policy, processing) for row in TIMED_AT[stage]], default=None)


def ending(draft: Draft, order: Order) -> Sequence[TimedTransition]:
    """Return the timed transitions that are next for ``order``, in order of precedence.

    Their periods end at the same instant.
    """
    rows = TIMED_AT[order.stage]
    policy, processing = draft.state.zones[order.zone].policy, _processing(draft, order.stage)
    ends = [row.period.end(order.since, order.expires, policy, processing) for row in rows]
    earliest = min(ends, default=None)
    return [row for row, end in zip(rows, ends, strict=True) if end == earliest]


def retry(
    order: Order, policy: Policy, assumed: Assumptions, now: datetime, *, tried: bool = False
) -> datetime | None:
    """Return the instant of the next attempt to renew ``order`` before or after its expiry, or None.

    ``tried`` is whether an attempt has just failed. The attempts are whole days apart. The last attempt of an
    active order is at its expiry.
    """
    if not order.autorenew or order.due is None:
        return None
    start, is_active = order.since, order.stage is Stage.ACTIVE
    if is_active and policy.autorenew_before:
        start = order.expires - days(policy.autorenew_before)
        if now < start:
            return start
        if tried and assumed.autorenew_tries == "once":
            return None
    elif order.stage is not Stage.OVERDUE or assumed.autorenew_tries == "once":
        return None
    at = start + days(1) * ((now - start) // days(1) + 1)
    if is_active:
        return min(at, order.due)
    return at if at < order.due else None


def is_renewed_at_expiry(order: Order, policy: Policy) -> bool:
    """Whether the clock tries to renew ``order`` at its expiry.

    With ``autorenew_before``, the only attempt may have failed earlier.
    """
    return order.autorenew and (not policy.autorenew_before or order.retry == order.due)


def _processing(draft: Draft, stage: Stage) -> timedelta:
    return timedelta(seconds=draft.assumed.order_processing if stage in _PROCESSED else 0)


def enter(draft: Draft, order: Order, stage: Stage, **more: object) -> Order:
    """Move ``order`` to ``stage`` at the current instant, and return the new record.

    The stage may stay the same, with new dates. If the order's term is over, it becomes overdue instead of
    active. ``more`` are other fields to change. None of them may affect the length of the stage.
    """
    if stage is Stage.ACTIVE and order.expires <= draft.now:
        stage = Stage.OVERDUE
    zone: Zone = draft.state.zones[order.zone]
    since = order.since if order.stage is stage else draft.now
    end = due(stage, since, order.expires, zone.policy, _processing(draft, stage))
    moved = replace(order, stage=stage, since=since, due=end, **more)
    again = retry(moved, zone.policy, draft.assumed, draft.now)
    return draft.put(moved if again == moved.retry else replace(moved, retry=again))


def permits(state: State, stage: Stage, action: Action) -> bool:
    """Whether ``action`` is possible at ``stage``. The fixture can override ``MOVES``."""
    for overridden, actions in state.permits:
        if overridden is stage:
            return action in actions
    return stage in _BY_ACTION[action].stages


class Edge(NamedTuple):
    """A transition between two stages that a request causes.

    None stands for no order: before its creation, or after its end.
    """

    before: Stage | None
    after: Stage | None
    words: str


def edges(state: State) -> Iterator[Edge]:
    """Yield every transition that a request can cause in ``state``."""
    for action, stage in _CREATIONS.items():
        yield Edge(None, stage, action)
    for move in MOVES:
        if move.target is not None:
            for stage in Stage:
                if stage is not move.target and permits(state, stage, move.action):
                    yield Edge(stage, _kept(move.target), move.action)
        if move.in_grace is not None and permits(state, Stage.ACTIVE, move.action):
            yield Edge(Stage.ACTIVE, _kept(move.in_grace), f"{move.action} within the add grace days")
        if move.counterpart is not None:
            yield Edge(Stage.ARRIVING, _kept(move.counterpart), f"third parties {_DECISIONS[move.action]}")


_DECISIONS = {Action.APPROVE_TRANSFER: "approves", Action.REJECT_TRANSFER: "rejects"}


def _kept(stage: Stage) -> Stage | None:
    return None if stage is Stage.RELEASED else stage


def leaving(state: State, order: Order) -> bool:
    """Whether a transfer of ``order`` to another registrar is pending."""
    transfer = pending_transfer(state, order.name)
    return transfer is not None and transfer.losing_order == order.id


def require(
    draft: Draft, order: Order, action: Action, *, locks: bool = True, term: StrEnum | None = None
) -> Move:
    """Return the rule for ``action``, or refuse if ``action`` is not possible now.

    Refuse, in this order: ``wrong_state``, ``transfer_pending``, ``locked``. With ``locks=False``, the caller
    checks the flag, because the flag forbids the action only in part. ``term`` names the action for a client
    that is not the domain's registrar.
    """
    move = _BY_ACTION[action]
    named = term or action
    name = shown(order.name)
    if not permits(draft.state, order.stage, action):
        possible = _possible(draft.state, order.stage)
        raise Refused(WRONG_STATE, name=name, state=str(order.stage), action=named, possible=possible)
    if not move.while_leaving and leaving(draft.state, order):
        raise Refused(TRANSFER_PENDING, name=name, action=named)
    if locks:
        require_unlocked(draft, order, action, term=term)
    return move


def require_unlocked(
    draft: Draft, order: Order, action: Action, *, registrant: bool = False, term: StrEnum | None = None
) -> None:
    """Refuse with ``locked`` if a flag of ``order`` (a lock) forbids ``action``.

    The assumption ``v3.update_lock.covers`` decides which actions the update lock forbids. A new
    ``registrant`` is always forbidden.
    """
    flag = _BY_ACTION[action].forbidden_by
    if flag is None or flag not in order.flags:
        return
    partial = flag is Flag.UPDATE_PROHIBITED and draft.assumed.update_lock_covers == "registrant_only"
    if not partial or registrant:
        raise Refused(
            LOCKED, name=shown(order.name), flag=flag, action=term or action, key=SWITCHES[flag][False]
        )


#: Maps each flag to the actions that clear it and set it.
SWITCHES: Mapping[Flag, tuple[Action, Action]] = {
    Flag.HOLD: (Action.RELEASE_HOLD, Action.HOLD),
    Flag.TRANSFER_PROHIBITED: (Action.UNLOCK_TRANSFER, Action.LOCK_TRANSFER),
    Flag.UPDATE_PROHIBITED: (Action.UNLOCK_UPDATE, Action.LOCK_UPDATE),
    Flag.DELETE_PROHIBITED: (Action.SET_FLAGS, Action.SET_FLAGS),
    Flag.RENEW_PROHIBITED: (Action.SET_FLAGS, Action.SET_FLAGS),
}


def _possible(state: State, stage: Stage) -> Possible:
    actions = tuple(move.action for move in MOVES if permits(state, stage, move.action))
    awaited = next(iter(TIMED_AT[stage]), None)
    return Possible(actions, READ_ACTIONS, f" until {awaited.event}" if awaited is not None else "")
