"""The life of a name: which action is possible at which stage, and what time does by itself.

``MOVES`` is the only place that says what an order's stage allows, for both
generations; ``TIMED`` the only one that says how it moves on when nobody acts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.clock import days
from reseller_sandbox.core.model import Flag, Order, Policy, Stage, Zone
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import LOCKED, TRANSFER_PENDING, WRONG_STATE, Possible, Refused
from reseller_sandbox.core.state import Draft, State

#: How far ahead a name can be paid for, in years.
LONGEST_TERM = 10


class Action(StrEnum):
    """What a holder may ask for a name; the value reads on after "where"."""

    RENEW = "renewal"
    RESTORE = "restore"
    DELETE = "delete"
    HOLD = "lock"
    RELEASE_HOLD = "unlock"
    LOCK_TRANSFER = "locking against transfer"
    UNLOCK_TRANSFER = "unlocking for transfer"
    LOCK_UPDATE = "locking against updates"
    UNLOCK_UPDATE = "unlocking for updates"
    SET_AUTORENEW = "switching auto-renewal"
    SET_FLAGS = "setting a status"
    SET_NAMESERVERS = "changing name servers"
    SET_CONTACTS = "changing contacts"
    CHANGE_HOSTS = "changing glue records"
    CHECK_HOST = "checking for a glue record"
    READ_HOSTS = "reading glue records"
    SET_AUTH_CODE = "setting the code"
    READ_AUTH_CODE = "reading the code"
    TRANSFER_OUT = "transfer to another registrar"
    APPROVE_TRANSFER = "approving a transfer"
    REJECT_TRANSFER = "rejecting a transfer"
    CANCEL_TRANSFER = "cancelling a transfer"


@dataclass(frozen=True, slots=True)
class Move:
    """One row: ``action`` is possible at ``stages`` and leads to ``target`` (None: the stage stays).

    ``in_grace`` is where it leads within the add grace period, ``counterpart`` where it leads the order
    on the other side of a transfer. ``while_leaving`` says whether it is possible while a transfer to
    another registrar is pending; ``forbidden_by`` is the flag that rules it out.
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
_ANY = tuple(stage for stage in Stage if stage is not Stage.RELEASED)

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
    Move(Action.READ_HOSTS, _ANY),
    Move(Action.SET_AUTH_CODE, _LIVE, forbidden_by=Flag.UPDATE_PROHIBITED),
    Move(Action.READ_AUTH_CODE, _KEPT),
    Move(Action.TRANSFER_OUT, _KEPT, while_leaving=False, forbidden_by=Flag.TRANSFER_PROHIBITED),
    Move(Action.APPROVE_TRANSFER, _KEPT, Stage.RELEASED, counterpart=Stage.ACTIVE),
    Move(Action.REJECT_TRANSFER, _KEPT, counterpart=Stage.RELEASED),
    Move(Action.CANCEL_TRANSFER, (Stage.ARRIVING,), Stage.RELEASED),
)


@dataclass(frozen=True, slots=True)
class Beginning:
    """How an order comes to be: ``action`` makes one at ``stage``."""

    action: str
    stage: Stage


BEGINNINGS: tuple[Beginning, ...] = (
    Beginning("registration", Stage.ACTIVE),
    Beginning("registration, with v2.order_processing", Stage.REQUESTED),
    Beginning("transfer from another registrar", Stage.ARRIVING),
)

_BY_ACTION = {move.action: move for move in MOVES}


@dataclass(frozen=True, slots=True)
class Passage:
    """What time does: an order at ``stage`` becomes ``target`` when its term or grace period ends.

    ``length`` names the period in words, for people.
    """

    stage: Stage
    target: Stage
    event: str
    length: str


TIMED: tuple[Passage, ...] = (
    Passage(Stage.REQUESTED, Stage.PROCESSING, "processing", "v2.order_processing"),
    Passage(Stage.PROCESSING, Stage.ACTIVE, "activation", "v2.order_processing"),
    Passage(Stage.ACTIVE, Stage.ACTIVE, "automatic renewal", "the term, with auto-renewal and funds"),
    Passage(Stage.ACTIVE, Stage.OVERDUE, "expiry", "the term"),
    Passage(Stage.OVERDUE, Stage.REDEMPTION, "redemption", "overdue days"),
    Passage(Stage.REDEMPTION, Stage.PENDING_DELETE, "pending delete", "redemption days"),
    Passage(Stage.PENDING_DELETE, Stage.RELEASED, "release", "pending_delete days"),
    Passage(Stage.ARRIVING, Stage.ACTIVE, "transfer completion", "transfer days"),
)


def due(
    stage: Stage, since: datetime, expires: datetime, policy: Policy, processing: timedelta
) -> datetime | None:
    """When time alone will move on an order that has been at ``stage`` ``since`` then.

    A transfer's end belongs to the transfer, not to its order.
    """
    match stage:
        case Stage.ACTIVE:
            return expires
        case Stage.OVERDUE:
            return since + days(policy.overdue)
        case Stage.REDEMPTION:
            return since + days(policy.redemption)
        case Stage.PENDING_DELETE:
            return since + days(policy.pending_delete)
        case Stage.REQUESTED | Stage.PROCESSING:
            return since + processing
        case _:
            return None


def retry(order: Order, assumed: Assumptions, now: datetime) -> datetime | None:
    """Return when ``order``, if it is overdue, tries to renew itself again: a day after the last time."""
    if order.stage is not Stage.OVERDUE or not order.autorenew or assumed.autorenew_tries == "once":
        return None
    at = order.since + days((now - order.since).days + 1)
    return at if order.due is not None and at < order.due else None


def enter(draft: Draft, order: Order, stage: Stage) -> Order:
    """Write ``order`` as having reached ``stage`` now, or as staying there with new dates; answers it."""
    zone: Zone = draft.state.zones[order.zone]
    since = order.since if order.stage is stage else draft.now
    timed = stage in (Stage.REQUESTED, Stage.PROCESSING)
    processing = timedelta(seconds=draft.assumed.order_processing) if timed else timedelta()
    moment = due(stage, since, order.expires, zone.policy, processing)
    moved = replace(order, stage=stage, since=since, due=moment)
    again = retry(moved, draft.assumed, draft.now)
    moved = moved if again == moved.retry else replace(moved, retry=again)
    draft.put(moved)
    return moved


def leaving(state: State, order: Order) -> bool:
    """Whether a transfer of ``order`` to another registrar is pending."""
    transfer = state.transfers.get(order.name)
    return transfer is not None and transfer.pending and transfer.losing_order == order.id


def require(draft: Draft, order: Order, action: Action, *, locks: bool = True) -> Move:
    """The row for ``action``; refuses with ``wrong_state``, ``transfer_pending``, ``locked``, in this order.

    ``locks=False`` leaves the flag to the caller, for an action that the flag forbids only in part.
    """
    move = _BY_ACTION[action]
    name = to_unicode(order.name)
    if order.stage not in move.stages:
        raise Refused(
            WRONG_STATE, name=name, state=str(order.stage), action=action, possible=_possible(order.stage)
        )
    if not move.while_leaving and leaving(draft.state, order):
        raise Refused(TRANSFER_PENDING, name=name, action=action)
    if locks:
        require_unlocked(draft, order, action)
    return move


def require_unlocked(draft: Draft, order: Order, action: Action, *, registrant: bool = False) -> None:
    """Refuse with ``locked`` when a flag of ``order`` forbids ``action``.

    The update lock forbids what ``v3.update_lock.covers`` says, and a new ``registrant`` in any case.
    """
    flag = _BY_ACTION[action].forbidden_by
    if flag is None or flag not in order.flags:
        return
    partial = flag is Flag.UPDATE_PROHIBITED and draft.assumed.update_lock_covers == "registrant_only"
    if not partial or registrant:
        raise Refused(LOCKED, name=to_unicode(order.name), flag=flag, action=action, key=_KEY[flag])


#: What takes a flag off.
_KEY = {
    Flag.HOLD: Action.RELEASE_HOLD,
    Flag.TRANSFER_PROHIBITED: Action.UNLOCK_TRANSFER,
    Flag.UPDATE_PROHIBITED: Action.UNLOCK_UPDATE,
    Flag.DELETE_PROHIBITED: Action.SET_FLAGS,
    Flag.RENEW_PROHIBITED: Action.SET_FLAGS,
}


#: The actions that change nothing.
LOOKS = frozenset({Action.CHECK_HOST, Action.READ_HOSTS, Action.READ_AUTH_CODE})


def _possible(stage: Stage) -> Possible:
    awaited = next((passage for passage in TIMED if passage.stage is stage), None)
    actions = tuple(move.action for move in MOVES if stage in move.stages)
    return Possible(actions, LOOKS, f" until {awaited.event}" if awaited is not None else "")
