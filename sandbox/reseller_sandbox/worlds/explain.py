"""Explanations of refusals: the rule, the state, and the action that would help instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import takewhile
from typing import NamedTuple

from msgspec import Struct

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refusal, Rule, Term, Wording
from reseller_sandbox.registry.lifecycle import MOVES, TIMED_AT, Action, due, permits
from reseller_sandbox.registry.model import OUTSIDE, Account, Order, Stage, Transfer
from reseller_sandbox.registry.state import State, account_named, pending_transfer, relevant_order
from reseller_sandbox.registry.transfers import transfer_lock_start
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import days, wire
from reseller_sandbox.values.names import well_formed
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.snapshot import Snapshot


class Allowed(Struct, frozen=True):
    """The action that a client can take instead of a refused one, as text.

    ``at`` is the instant at which time alone makes the refused action possible, or None.
    """

    words: str
    at: datetime | None = None


class NameBefore(Struct, frozen=True):
    """A domain name before a refused request: its holder, order and pending transfer."""

    name: str = ""
    holder: str | None = None
    order: Order | None = None
    transfer: Transfer | None = None


class Explanation(Struct, frozen=True):
    """A refusal, with the account and the domain names as they were before the request."""

    refused: Refusal
    snapshot: Snapshot
    account: Account | None
    names: tuple[NameBefore, ...]

    @property
    def allowed(self) -> Allowed:
        """The action that the client can take instead."""
        explained = _BY_STATE.get(self.refused.rule)
        allowed = explained(self) if explained is not None else None
        return allowed or Allowed(self.refused.remedy)

    @property
    def facts(self) -> Mapping[str, object]:
        """The values in the message of the refusal, such as ``name`` and ``balance``."""
        return self.refused.facts

    @property
    def about(self) -> NameBefore:
        """The domain name that the refusal is about, or an empty ``NameBefore``."""
        subject = well_formed(str(self.facts.get("name")))
        named = (name for name in self.names if name.name == subject)
        return next(iter((*named, *self.names)), NameBefore())


def explain(entry: Entry) -> Explanation | None:
    """Return the explanation of a refused request, or None if it was not refused."""
    if entry.refused is None:
        return None
    account = account_named(entry.before.state, entry.account)
    names = tuple(_name_before(entry.before.state, account, name) for name in entry.domains)
    return Explanation(entry.refused, entry.before, account, names)


def _name_before(state: State, account: Account | None, name: str) -> NameBefore:
    """Return the holder, order and transfer of ``name``. An order of ``account`` takes precedence."""
    order = relevant_order(state, account, name)
    holder = state.accounts[order.account].name if order is not None else None
    return NameBefore(name, holder, order, pending_transfer(state, name))


class PathStep(NamedTuple):
    """One change of an order's stage, as a step on the path to a later stage.

    ``words`` describes it. ``by_itself`` is whether time alone causes it.
    """

    start: Stage
    target: Stage
    words: str
    by_itself: bool


def _wrong_state(case: Explanation) -> Allowed | None:
    order, action, state = case.about.order, case.facts.get("action"), case.snapshot.state
    action = Action.TRANSFER_OUT if action is Term.TRANSFER_REQUEST else action
    if order is None or not isinstance(action, Action):
        return None
    if action is Action.RESTORE and order.stage not in (Stage.REDEMPTION, Stage.PENDING_DELETE):
        instead = "; it can be renewed" if permits(state, order.stage, Action.RENEW) else ""
        return Allowed(f"it has not been removed, so there is nothing to restore{instead}")
    path = _path_to(state, order.stage, action, case.refused.wording)
    if not path:
        return None
    waits = list(takewhile(lambda step: step.by_itself, path))
    if not waits:
        return Allowed(path[0].words)
    at = _ended(case, order, waits)
    words = f"wait for the {waits[-1].words}" + (f" at {wire(at)}" if at else "")
    return Allowed(words, at if waits == path else None)


def _path_to(state: State, stage: Stage, action: Action, wording: Wording) -> list[PathStep]:
    """Return the shortest path from ``stage`` to a stage that permits ``action``.

    Transitions that give a name away are left out. If there is no such path, return the path to the release.
    """
    steps = [
        PathStep(
            at, Stage.ACTIVE, f"ask for its {wording.word(move.action)} first, which makes it active", False
        )
        for move in MOVES
        if move.target is Stage.ACTIVE
        for at in Stage
        if permits(state, at, move.action)
    ] + [PathStep(row.stage, row.target, row.event, True) for at in Stage for row in TIMED_AT[at]]
    reached: dict[Stage, list[PathStep]] = {stage: []}
    queue = [stage]
    while queue:
        at, *queue = queue
        for step in steps:
            if step.start is at and step.target not in reached:
                reached[step.target] = [*reached[at], step]
                queue.append(step.target)
    return next(
        (reached[end] for end in reached if permits(state, end, action)), reached.get(Stage.RELEASED, [])
    )


def _ended(case: Explanation, order: Order, waits: Sequence[PathStep]) -> datetime | None:
    """Return the instant at which time alone completes the steps in ``waits``. Return None if unknown."""
    if order.stage is Stage.ARRIVING:
        return case.about.transfer.completes if case.about.transfer is not None and len(waits) == 1 else None
    policy = case.snapshot.state.zones[order.zone].policy
    processing = timedelta(seconds=case.snapshot.assumptions.order_processing)
    at = order.due
    for step in waits[1:]:
        at = at and due(step.start, at, order.expires, policy, processing)
    return at


def _transfer_pending(case: Explanation) -> Allowed | None:
    if case.about.transfer is None:
        return None
    at = case.about.transfer.completes
    return Allowed(f"its holder may approve or reject the transfer; it completes at {wire(at)}", at)


def _no_transfer(case: Explanation) -> Allowed | None:
    if case.about.transfer is None:
        who = "this account" if case.facts.get("action") == "cancel" else "another registrar"
        return Allowed(f"{who} has to ask for the name first")
    parties = (case.about.transfer.gaining, case.about.transfer.losing)
    gaining, losing = (case.snapshot.state.accounts[number].name for number in parties)
    return Allowed(f"{losing} may approve or reject the transfer, {gaining} may cancel it")


def _too_young(case: Explanation) -> Allowed | None:
    if case.about.order is None:
        return None
    since = transfer_lock_start(case.about.order, case.snapshot.assumptions)
    at = since + days(case.snapshot.state.zones[case.about.order.zone].policy.transfer_lock)
    return Allowed(f"ask again at {wire(at)} or later", at)


def _registrant_changed(case: Explanation) -> Allowed | None:
    order = case.about.order
    if order is None or order.registrant_changed is None:
        return None
    lock = case.snapshot.state.zones[order.zone].policy.registrant_change_lock
    at = order.registrant_changed + days(lock)
    return Allowed(f"ask again at {wire(at)} or later", at)


def _funds(case: Explanation) -> Allowed | None:
    try:
        missing = Decimal(str(case.facts.get("amount"))) - Decimal(str(case.facts.get("balance")))
        words = f"top up the balance by {money.write(missing)} {case.facts['currency']} or more"
    except (ArithmeticError, ValueError):
        return None
    return Allowed(words)


def _taken(case: Explanation) -> Allowed | None:
    order = case.about.order
    if order is None:
        return None
    if case.account is not None and order.account == case.account.client_id:
        state, word = case.snapshot.state, case.refused.wording.word
        asks = [action for action in (Action.RENEW, Action.RESTORE) if permits(state, order.stage, action)]
        if asks or order.stage is not Stage.PENDING_DELETE:
            return Allowed(
                "it is this account's already" + "".join(f": ask for its {word(action)}" for action in asks)
            )
    if order.stage in (Stage.REDEMPTION, Stage.PENDING_DELETE):
        policy = case.snapshot.state.zones[order.zone].policy
        left = policy.pending_delete + (policy.redemption if order.stage is Stage.REDEMPTION else 0)
        at = order.since + days(left)
        return Allowed(f"it is released at {wire(at)} unless it is restored before", at)
    return Allowed(f"{case.about.holder} holds it: ask for a transfer, or register another name")


def _not_found(case: Explanation) -> Allowed | None:
    if case.about.holder is not None:
        has_account = case.about.order is not None and case.about.order.account != OUTSIDE
        credentials = "use that account's credentials, or " if has_account else ""
        return Allowed(f"{case.about.holder} holds it: {credentials}ask for a transfer")
    return Allowed("nobody holds the name: register it")


def _revoked(case: Explanation) -> Allowed | None:
    account = case.account
    if account is None or not account.revoked:
        return None
    return Allowed(f"use another account's, or restore the credentials of {account.name}, which are revoked")


#: Functions that find the helpful action from the state, by rule. All other rules have a fixed ``remedy``.
_BY_STATE: Mapping[Rule, Callable[[Explanation], Allowed | None]] = {
    r.WRONG_STATE: _wrong_state,
    r.TRANSFER_PENDING: _transfer_pending,
    r.NO_TRANSFER: _no_transfer,
    r.TOO_YOUNG: _too_young,
    r.REGISTRANT_CHANGED: _registrant_changed,
    r.INSUFFICIENT_FUNDS: _funds,
    r.NAME_TAKEN: _taken,
    r.DOMAIN_NOT_FOUND: _not_found,
    r.UNKNOWN_KEY: _revoked,
    r.UNKNOWN_TOKEN: _revoked,
}
