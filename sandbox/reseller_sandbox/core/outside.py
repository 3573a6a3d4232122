"""The other side: what strangers, other registrars, registries and the service's own staff do.

Each action is a function over a draft. Its keyword parameters are all that it can be told: the
control interface, the fixtures and the plans for later follow from its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from reseller_sandbox.core import ledger, prices, registration, transfers
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.lifecycle import enter
from reseller_sandbox.core.model import (
    OUTSIDE,
    Account,
    Flag,
    Order,
    Premium,
    Promotion,
    Stage,
    Transfer,
    TransferStatus,
)
from reseller_sandbox.core.model import Zone as ZoneRecord
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import (
    HELD_OUTSIDE,
    INVALID_NAME,
    INVALID_PARAMETER,
    NAME_RESERVED,
    NAME_TAKEN,
    NO_TRANSFER_IN,
    NO_TRANSFER_OUT,
    NOT_HELD,
    PERIOD_TOO_LONG,
    PERIOD_TOO_SHORT,
    UNKNOWN_ACCOUNT,
    UNKNOWN_ZONE,
    ZONE_NOT_SUPPORTED,
    Refused,
)
from reseller_sandbox.core.signatures import Parameter, declared, read_by
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.core.values import (
    Amount,
    Change,
    Credentials,
    Name,
    Switch,
    Term,
    Text,
    When,
    Years,
    Zone,
    instant,
)
from reseller_sandbox.core.zones import require_in_service, zone_of

Action = Callable[..., Happening]

#: Refusals that waiting does not mend: an action that meets one is not even planned.
HOPELESS = frozenset(
    {
        INVALID_NAME,
        INVALID_PARAMETER,
        PERIOD_TOO_LONG,
        PERIOD_TOO_SHORT,
        UNKNOWN_ACCOUNT,
        UNKNOWN_ZONE,
        ZONE_NOT_SUPPORTED,
    }
)


# Names


def register(
    draft: Draft,
    *,
    domain: Name,
    years: Years | None = None,
    locked: Switch = False,
    autorenew: Switch = True,
    auth_code: Text | None = None,
) -> Happening:
    """A stranger registers a name with another registrar.

    The term is the zone's shortest where ``years`` is left out; ``locked`` is a transfer lock,
    ``auth_code`` the code that a transfer will ask for.
    """
    zone = zone_of(draft.state, domain)
    require_in_service(zone)
    years = years or zone.min_years
    registration.require_period(zone, domain, years)
    found = registration.availability(draft, domain)
    if found.taken:
        raise Refused(NAME_TAKEN, name=to_unicode(domain))
    if found.reserved:
        raise Refused(NAME_RESERVED, name=to_unicode(domain))
    wanted = registration.Registration(name=domain, years=years, autorenew=autorenew, transfer_lock=locked)
    order = registration.new_order(draft, draft.state.accounts[OUTSIDE], zone, wanted)
    order = enter(draft, replace(order, auth_code=auth_code or order.auth_code), Stage.ACTIVE)
    return _concerning(draft, "register", order)


def hold(draft: Draft, *, domain: Name) -> Happening:
    """The registry takes a name out of the DNS, and its holder cannot undo it."""
    order = _held(draft.state, domain)
    draft.put(replace(order, flags=order.flags | {Flag.SERVER_HOLD}))
    return _concerning(draft, "hold", order)


def release_hold(draft: Draft, *, domain: Name) -> Happening:
    """The registry lets a name back into the DNS; a hold of the holder's own stays."""
    order = _held(draft.state, domain)
    draft.put(replace(order, flags=order.flags - {Flag.SERVER_HOLD}))
    return _concerning(draft, "release_hold", order)


# Transfers


def request_transfer(draft: Draft, *, domain: Name, force: Switch = False) -> Happening:
    """A competitor asks for a name that an account here holds, and knows its code.

    ``force`` passes over the transfer lock and the name's age.
    """
    zone = zone_of(draft.state, domain)
    held = _held(draft.state, domain)
    if held.account == OUTSIDE:
        raise Refused(HELD_OUTSIDE, name=to_unicode(domain))
    price = prices.transfer(zone, prices.label_of(domain, zone), 1)
    wish = transfers.Wish(name=domain, code=held.auth_code, cost=price, forced=force)
    transfers.request(draft, draft.state.accounts[OUTSIDE], wish)
    return _concerning(draft, "request_transfer", held)


def approve_transfer(draft: Draft, *, domain: Name) -> Happening:
    """The registrar that an account here wants a name from lets it go, at once."""
    transfer = _coming_in(draft.state, domain)
    transfers.complete(draft, transfer, TransferStatus.CLIENT_APPROVED)
    return _concerning(draft, "approve_transfer", draft.state.orders[transfer.gaining_order])


def reject_transfer(draft: Draft, *, domain: Name) -> Happening:
    """The registrar that an account here wants a name from keeps it; the account is refunded."""
    transfer = _coming_in(draft.state, domain)
    order = draft.state.orders[transfer.gaining_order]
    back = ledger.total(draft, transfer.charges)
    transfers.fail(draft, transfer, TransferStatus.CLIENT_REJECTED)
    return _concerning(draft, "reject_transfer", order, charged=-back)


def cancel_transfer(draft: Draft, *, domain: Name) -> Happening:
    """The competitor that has asked for an account's name takes its request back."""
    transfer = draft.state.transfers.get(domain)
    if transfer is None or not transfer.pending or transfer.gaining != OUTSIDE:
        raise Refused(NO_TRANSFER_OUT, name=to_unicode(domain))
    transfers.fail(draft, transfer, TransferStatus.CLIENT_CANCELLED)
    return _concerning(draft, "cancel_transfer", draft.state.orders[transfer.losing_order])


# Zones


def set_prices(
    draft: Draft,
    *,
    zone: Zone,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
    restore: Amount | None = None,
    privacy: Amount | None = None,
    owner_change: Amount | None = None,
) -> Happening:
    """A zone's registry changes its prices; those left out stay."""
    given = {
        "registration": registration,
        "renewal": renewal,
        "transfer": transfer,
        "restore": restore,
        "privacy": privacy,
        "owner_change": owner_change,
    }
    changed = {name: price for name, price in given.items() if price is not None}
    if not changed:
        raise Refused(INVALID_PARAMETER, problems=f"set_prices takes at least one of {', '.join(given)}")
    found = _zone(draft.state, zone)
    return _changed(draft, "set_prices", replace(found, prices=replace(found.prices, **changed)))


def set_promotion(
    draft: Draft, *, zone: Zone, of: Term, price: Amount | None = None, until: When | None = None
) -> Happening:
    """A zone's yearly price for registration or renewal is lowered until an instant.

    ``until`` may be a length of time from when it begins. Without ``price`` and ``until`` the
    promotion that is on ends.
    """
    if (price is None) is not (until is None):
        raise Refused(INVALID_PARAMETER, problems="price and until go together")
    found = _zone(draft.state, zone)
    promotion = None
    if price is not None and until is not None:
        promotion = Promotion(price=price, until=_ahead(draft, until))
    changed = (
        replace(found, registration_promotion=promotion)
        if of == "registration"
        else replace(found, renewal_promotion=promotion)
    )
    return _changed(draft, "set_promotion", changed)


def set_premium(
    draft: Draft,
    *,
    domain: Name,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
) -> Happening:
    """A registry asks prices of its own for one name; without any, the name is an ordinary one again.

    ``renewal`` and ``transfer`` cost what ``registration`` costs where they are left out.
    """
    zone = zone_of(draft.state, domain)
    label = prices.label_of(domain, zone)
    kept = {name: own for name, own in zone.premium if name != label}
    if registration is not None:
        kept[label] = Premium(
            registration=registration,
            renewal=registration if renewal is None else renewal,
            transfer=registration if transfer is None else transfer,
        )
    elif renewal is not None or transfer is not None:
        raise Refused(INVALID_PARAMETER, problems="registration is missing beside renewal and transfer")
    draft.put(replace(zone, premium=tuple(sorted(kept.items(), key=lambda pair: pair[0]))))
    return Happening(at=draft.now, event="set_premium", subject=domain)


def set_service(draft: Draft, *, zone: Zone, in_service: Switch) -> Happening:
    """A zone's registry goes out of reach, or comes back."""
    return _changed(draft, "set_service", replace(_zone(draft.state, zone), in_service=in_service))


# Accounts


def adjust_balance(
    draft: Draft, *, account: Text, by: Change | None = None, to: Change | None = None
) -> Happening:
    """The service moves an account's balance ``by`` an amount, below zero to drain it, or ``to`` one."""
    if (by is None) is (to is None):
        raise Refused(INVALID_PARAMETER, problems="adjust_balance takes either by or to")
    found = account_called(draft.state, account)
    amount = by if by is not None else (to or Decimal(0)) - found.balance
    if amount:
        ledger.adjust(draft, found, amount)
    return _of_account(draft, "adjust_balance", found, charged=-amount)


def revoke_credentials(draft: Draft, *, account: Text, which: Credentials = "both") -> Happening:
    """An account's API key, its v2.0 token, or both, stop working."""
    found = account_called(draft.state, account)
    revoked = set(found.revoked).union(_credentials(which))
    draft.put(replace(found, revoked=tuple(sorted(revoked))))
    return _of_account(draft, "revoke_credentials", found)


def restore_credentials(draft: Draft, *, account: Text, which: Credentials = "both") -> Happening:
    """An account's credentials work again."""
    found = account_called(draft.state, account)
    revoked = set(found.revoked).difference(_credentials(which))
    draft.put(replace(found, revoked=tuple(sorted(revoked))))
    return _of_account(draft, "restore_credentials", found)


ACTIONS: Mapping[str, Action] = {
    action.__name__: action
    for action in (
        register,
        hold,
        release_hold,
        request_transfer,
        approve_transfer,
        reject_transfer,
        cancel_transfer,
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
    """What the action of that name can be told."""
    return declared(ACTIONS[action])


def read(action: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` as the action takes it; None stands for nothing given.

    Refuses with ``invalid_parameter``, naming every mistake.
    """
    return read_by(parameters(action), given)


def carry_out(draft: Draft, action: str, given: Mapping[str, Any]) -> Happening:
    """Let an action happen now. ``given`` is as ``read`` answers it; refuses as the action does."""
    return ACTIONS[action](draft, **given).settled_in(draft.state)


def account_called(state: State, word: str) -> Account:
    """The account of that name or client id; refuses with ``unknown_account``."""
    accounts = [state.accounts[number] for number in sorted(state.accounts) if number != OUTSIDE]
    for account in accounts:
        if word in (account.name, str(account.client_id)):
            return account
    known = ", ".join(account.name for account in accounts[:20]) or "none"
    raise Refused(UNKNOWN_ACCOUNT, account=word[:80], known=known)


def _credentials(which: str) -> Iterable[str]:
    return ("key", "token") if which == "both" else (which,)


def _held(state: State, name: str) -> Order:
    zone_of(state, name)
    number = state.holding_order.get(name)
    if number is None:
        raise Refused(NOT_HELD, name=to_unicode(name))
    return state.orders[number]


def _coming_in(state: State, name: str) -> Transfer:
    zone_of(state, name)
    transfer = state.transfers.get(name)
    if transfer is None or not transfer.pending or transfer.gaining == OUTSIDE:
        raise Refused(NO_TRANSFER_IN, name=to_unicode(name))
    return transfer


def _zone(state: State, name: str) -> ZoneRecord:
    zone = state.zones.get(name)
    if zone is None:
        known = ", ".join(to_unicode(other) for other in sorted(state.zones))
        raise Refused(UNKNOWN_ZONE, zone=to_unicode(name), known=known or "none")
    return zone


def _ahead(draft: Draft, until: str) -> Any:
    try:
        end = instant(until, draft.now)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"until: {problem}") from None
    if end <= draft.now:
        raise Refused(INVALID_PARAMETER, problems=f"until is {until}, which is past already")
    return end


def _concerning(draft: Draft, event: str, order: Order, charged: Decimal = prices.FREE) -> Happening:
    return Happening(
        at=draft.now, event=event, subject=order.name, account=order.account, order=order.id, charged=charged
    )


def _changed(draft: Draft, event: str, zone: ZoneRecord) -> Happening:
    draft.put(zone)
    return Happening(at=draft.now, event=event, subject=zone.name)


def _of_account(draft: Draft, event: str, account: Account, charged: Decimal = prices.FREE) -> Happening:
    return Happening(
        at=draft.now, event=event, subject=account.name, account=account.client_id, charged=charged
    )
