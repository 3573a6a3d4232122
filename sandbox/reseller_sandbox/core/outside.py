"""The other side: what strangers, other registrars, registries and the service's own staff do.

Each action is a function over a draft. Its keyword parameters are all that it can be told: the
control interface, the fixtures and the plans for later follow from its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

from msgspec.structs import replace

from reseller_sandbox.core import ledger, orders, prices, refusals, registration, transfers
from reseller_sandbox.core.happenings import Happening, concerning
from reseller_sandbox.core.lifecycle import enter
from reseller_sandbox.core.lookups import held_order, pending_transfer
from reseller_sandbox.core.model import LONGEST_TERM, OUTSIDE, Flag, Order, Stage, Transfer, TransferStatus
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import Parameter, declared, read_by
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.core.terms import (
    adjust_balance,
    restore_credentials,
    revoke_credentials,
    set_premium,
    set_prices,
    set_promotion,
    set_service,
)
from reseller_sandbox.core.values import Name, Switch, Text, whole
from reseller_sandbox.core.zones import require_in_service, zone_of

Action = Callable[..., Happening]

#: Refusals that waiting does not mend: an action that meets one is not even planned.
HOPELESS = frozenset(
    {
        refusals.INVALID_NAME,
        refusals.INVALID_PARAMETER,
        refusals.PERIOD_TOO_LONG,
        refusals.PERIOD_TOO_SHORT,
        refusals.UNKNOWN_ACCOUNT,
        refusals.UNKNOWN_ZONE,
        refusals.ZONE_NOT_SUPPORTED,
    }
)


# Names


def register(
    draft: Draft,
    domain: Name,
    *,
    years: Annotated[int, whole(1, LONGEST_TERM)] | None = None,
    locked: Switch = False,
    autorenew: Switch = True,
    auth_code: Text | None = None,
) -> Happening:
    """Let a stranger register a name with another registrar.

    Args:
        years: For how long; the zone's shortest term where it is left out.
        locked: Whether it is locked against transfer.
        autorenew: Whether it renews itself.
        auth_code: The code that a transfer will ask for.
    """
    zone = zone_of(draft.state, domain)
    require_in_service(zone)
    years = years or zone.min_years
    registration.require_period(zone, domain, years)
    found = registration.availability(draft, domain)
    if found.taken:
        raise Refused(refusals.NAME_TAKEN, name=to_unicode(domain))
    if found.reserved:
        raise Refused(refusals.NAME_RESERVED, name=to_unicode(domain))
    wanted = registration.Registration(name=domain, years=years, autorenew=autorenew, transfer_lock=locked)
    order = registration.new_order(draft, draft.state.accounts[OUTSIDE], zone, wanted)
    order = enter(draft, order, Stage.ACTIVE, auth_code=auth_code or order.auth_code)
    return concerning(draft, "register", order)


def hold(draft: Draft, domain: Name) -> Happening:
    """Let the registry take a name out of the DNS; its holder cannot undo that."""
    order = _held(draft.state, domain)
    draft.put(replace(order, flags=order.flags | {Flag.SERVER_HOLD}))
    return concerning(draft, "hold", order)


def release_hold(draft: Draft, domain: Name) -> Happening:
    """Let the registry put a name back into the DNS; a hold of the holder's own stays."""
    order = _held(draft.state, domain)
    draft.put(replace(order, flags=order.flags - {Flag.SERVER_HOLD}))
    return concerning(draft, "release_hold", order)


def drop(draft: Draft, domain: Name) -> Happening:
    """Let a name's holder, here or elsewhere, delete it.

    It goes to redemption or, within the add grace period, is released and refunded.
    """
    order = _held(draft.state, domain)
    return concerning(draft, "drop", order, charged=-orders.delete(draft, order))


def release(draft: Draft, domain: Name) -> Happening:
    """Let the registry take a name from its holder; anybody can register it at once.

    A pending transfer ends, and the account that asked for it is refunded.
    """
    order = _held(draft.state, domain)
    transfers.fail_pending(draft, domain)
    orders.release(draft, order)
    return concerning(draft, "release", order)


# Transfers


def request_transfer(draft: Draft, domain: Name, *, force: Switch = False) -> Happening:
    """Let another registrar, which knows the code, ask for a name that an account here holds.

    Args:
        force: Whether to pass over the transfer lock and the name's age.
    """
    zone = zone_of(draft.state, domain)
    held = _held(draft.state, domain)
    if held.account == OUTSIDE:
        raise Refused(refusals.HELD_OUTSIDE, name=to_unicode(domain))
    price = prices.transfer(zone, prices.premium(zone, domain), 1)
    wish = transfers.Wish(name=domain, code=held.auth_code, cost=price, forced=force)
    transfers.request(draft, draft.state.accounts[OUTSIDE], wish)
    return concerning(draft, "request_transfer", held)


def approve_transfer(draft: Draft, domain: Name) -> Happening:
    """Let the registrar that an account here wants a name from approve that, at once."""
    transfer = _coming_in(draft.state, domain)
    transfers.complete(draft, transfer, TransferStatus.CLIENT_APPROVED)
    return concerning(draft, "approve_transfer", draft.state.orders[transfer.gaining_order])


def reject_transfer(draft: Draft, domain: Name) -> Happening:
    """Let the registrar that an account here wants a name from reject it; the account is refunded."""
    transfer = _coming_in(draft.state, domain)
    order = draft.state.orders[transfer.gaining_order]
    back = ledger.total(draft, transfer.charges)
    transfers.fail(draft, transfer, TransferStatus.CLIENT_REJECTED)
    return concerning(draft, "reject_transfer", order, charged=-back)


def cancel_transfer(draft: Draft, domain: Name) -> Happening:
    """Let the registrar that has asked for an account's name cancel the transfer."""
    transfer = pending_transfer(draft.state, domain)
    if transfer is None or transfer.gaining != OUTSIDE:
        raise Refused(refusals.NO_TRANSFER_OUT, name=to_unicode(domain))
    transfers.fail(draft, transfer, TransferStatus.CLIENT_CANCELLED)
    return concerning(draft, "cancel_transfer", draft.state.orders[transfer.losing_order])


def complete_transfer(draft: Draft, domain: Name) -> Happening:
    """Let the registry complete a pending transfer early, in or out."""
    zone_of(draft.state, domain)
    transfer = pending_transfer(draft.state, domain)
    if transfer is None:
        raise Refused(refusals.NO_TRANSFER_PENDING, name=to_unicode(domain))
    order = transfers.party_here(draft.state, transfer)
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED)
    return concerning(draft, "complete_transfer", order)


ACTIONS: Mapping[str, Action] = {
    action.__name__: action
    for action in (
        register,
        hold,
        release_hold,
        drop,
        release,
        request_transfer,
        approve_transfer,
        reject_transfer,
        cancel_transfer,
        complete_transfer,
        set_prices,
        set_promotion,
        set_premium,
        set_service,
        adjust_balance,
        revoke_credentials,
        restore_credentials,
    )
}


@cache
def parameters(action: str) -> tuple[Parameter, ...]:
    """Return the parameters of the action of that name."""
    return declared(ACTIONS[action])


def read(action: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``given`` as the action takes it; None stands for nothing given.

    Refuse with ``invalid_parameter``, naming every mistake.
    """
    return read_by(parameters(action), given)


def carry_out(draft: Draft, action: str, given: Mapping[str, Any]) -> Happening:
    """Carry out an action now. ``given`` is what ``read`` returns; refuse as the action does."""
    return ACTIONS[action](draft, **given)


def _held(state: State, name: str) -> Order:
    zone_of(state, name)
    held = held_order(state, name)
    if held is None:
        raise Refused(refusals.NOT_HELD, name=to_unicode(name))
    return held


def _coming_in(state: State, name: str) -> Transfer:
    zone_of(state, name)
    transfer = pending_transfer(state, name)
    if transfer is None or transfer.gaining == OUTSIDE:
        raise Refused(refusals.NO_TRANSFER_IN, name=to_unicode(name))
    return transfer
