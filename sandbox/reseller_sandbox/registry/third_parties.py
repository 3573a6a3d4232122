"""Actions of third parties: other registrars, registries and the staff of the service.

Each action is a function over a draft. The control interface, fixtures and scheduled actions derive their
parameters from its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_PARAMETER, UNKNOWN_ACCOUNT, UNKNOWN_ZONE, Category, Refused
from reseller_sandbox.registry import ledger, orders, purchases, transfers, zones
from reseller_sandbox.registry.contacts import assign
from reseller_sandbox.registry.events import RegistryEvent, concerning
from reseller_sandbox.registry.lifecycle import enter
from reseller_sandbox.registry.model import (
    LONGEST_TERM,
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
from reseller_sandbox.registry.model import Zone as ZoneRecord
from reseller_sandbox.registry.state import Draft, State, held_order, own_accounts, pending_transfer
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import (
    AMOUNT,
    CHANGE,
    WHEN,
    Amount,
    Change,
    Credentials,
    Name,
    Switch,
    Term,
    Text,
    When,
    Zone,
    instant,
    whole,
)
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import names_phrase

# Zones


def set_prices(
    draft: Draft,
    zone: Zone,
    *,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
    restore: Amount | None = None,
    privacy: Amount | None = None,
    owner_change: Amount | None = None,
) -> RegistryEvent:
    """Change the prices of a zone. Omitted prices stay unchanged.

    Args:
        registration: The price of registration per year.
        renewal: The price of renewal per year.
        transfer: The price of a transfer.
        restore: The price of a restore.
        privacy: The price of whois protection per year.
        owner_change: The price of a change of the registrant.
    """
    prices = {
        "registration": registration,
        "renewal": renewal,
        "transfer": transfer,
        "restore": restore,
        "privacy": privacy,
        "owner_change": owner_change,
    }
    changed = {name: AMOUNT(price) for name, price in prices.items() if price is not None}
    if not changed:
        raise Refused(INVALID_PARAMETER, problems=f"set_prices requires at least one of {', '.join(prices)}")
    zone_record = _zone(draft.state, zone)
    return _changed(draft, "set_prices", replace(zone_record, prices=replace(zone_record.prices, **changed)))


def set_promotion(
    draft: Draft, zone: Zone, *, of: Term, price: Amount | None = None, until: When | None = None
) -> RegistryEvent:
    """Lower a zone's yearly price for registration or renewal until an instant.

    Without ``price`` and ``until``, end the current promotion.

    Args:
        of: The price that becomes lower.
        price: The lower price per year.
        until: The end of the promotion: an instant, or a duration from now.
    """
    if (price is None) is not (until is None):
        raise Refused(INVALID_PARAMETER, problems="set_promotion requires both price and until, or neither")
    zone_record = _zone(draft.state, zone)
    promotion: Any = None
    if price is not None and until is not None:
        promotion = Promotion(price=AMOUNT(price), until=instant_ahead(draft, "until", until))
    return _changed(draft, "set_promotion", replace(zone_record, **{f"{of}_promotion": promotion}))


def set_premium(
    draft: Draft,
    domain: Name,
    *,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
) -> RegistryEvent:
    """Make a domain premium, with its own prices. Without prices, make the domain ordinary.

    Args:
        registration: The price of registration per year.
        renewal: The price of renewal per year. Default: the price of registration.
        transfer: The price of a transfer. Default: the price of registration.
    """
    zone = zones.zone_of(draft.state, domain)
    label = zones.label_of(domain, zone)
    premium = dict(zone.premium or {})
    premium.pop(label, None)
    if registration is not None:
        premium[label] = Premium(
            registration=AMOUNT(registration),
            renewal=AMOUNT(registration if renewal is None else renewal),
            transfer=AMOUNT(registration if transfer is None else transfer),
        )
    elif renewal is not None or transfer is not None:
        raise Refused(
            INVALID_PARAMETER, problems="set_premium requires registration if renewal or transfer is given"
        )
    draft.put(replace(zone, premium=premium or None))
    return RegistryEvent(at=draft.now, event="set_premium", subject=domain)


def set_service(draft: Draft, zone: Zone, *, in_service: Switch) -> RegistryEvent:
    """Take a zone out of service, or put it back into service.

    Args:
        in_service: Whether the zone is in service.
    """
    return _changed(draft, "set_service", replace(_zone(draft.state, zone), in_service=in_service))


# Accounts


def adjust_balance(
    draft: Draft, account: Text, *, by: Change | None = None, to: Change | None = None
) -> RegistryEvent:
    """Add an amount to an account's balance, or set the balance to an amount.

    Args:
        by: The amount to add to the balance. A negative amount lowers the balance.
        to: The new balance.
    """
    if (by is None) is (to is None):
        raise Refused(
            INVALID_PARAMETER, problems="adjust_balance requires exactly one of these parameters: by, to"
        )
    account_record = find_account(draft.state, account)
    amount = CHANGE(by) if by is not None else CHANGE(to) - account_record.balance
    if amount:
        ledger.adjust(draft, account_record, amount)
    return concerning(draft, "adjust_balance", account_record, charged=-amount)


def revoke_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> RegistryEvent:
    """Revoke an account's API key, its v2.0 token, or both.

    Args:
        which: Which credentials to revoke.
    """
    return _revoked(draft, "revoke_credentials", account, lambda revoked: revoked | _credentials(which))


def restore_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> RegistryEvent:
    """Restore an account's revoked credentials.

    Args:
        which: Which credentials to restore.
    """
    return _revoked(draft, "restore_credentials", account, lambda revoked: revoked - _credentials(which))


def find_account(state: State, word: str) -> Account:
    """Return the account with the name or client id ``word``, or refuse with ``unknown_account``."""
    accounts = own_accounts(state)
    for account in accounts:
        if word in (account.name, str(account.client_id)):
            return account
    known = names_phrase((account.name for account in accounts), "accounts")
    raise Refused(UNKNOWN_ACCOUNT, account=word[:80], known=known)


def _credentials(which: str) -> set[str]:
    return {"key", "token"} if which == "both" else {which}


def _revoked(draft: Draft, event: str, word: str, change: Callable[[set[str]], set[str]]) -> RegistryEvent:
    account = find_account(draft.state, word)
    draft.put(replace(account, revoked=tuple(sorted(change(set(account.revoked))))))
    return concerning(draft, event, account)


def _zone(state: State, name: str) -> ZoneRecord:
    zone = state.zones.get(name)
    if zone is None:
        known = names_phrase(map(to_unicode, sorted(state.zones)), "zones")
        raise Refused(UNKNOWN_ZONE, zone=to_unicode(name), known=known)
    return zone


def instant_ahead(draft: Draft, name: str, value: Any) -> datetime:
    """Return the instant that ``value`` means for the parameter ``name``.

    A duration counts from now. Refuse with ``invalid_parameter`` if the instant is in the past.
    """
    try:
        ahead = instant(WHEN(value), draft.now)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"{name}: {problem}") from None
    if ahead < draft.now:
        past = f"{name} is {value}, but the clock already shows {wire(draft.now)}"
        raise Refused(INVALID_PARAMETER, problems=past)
    return ahead


def _changed(draft: Draft, event: str, zone: ZoneRecord) -> RegistryEvent:
    draft.put(zone)
    return RegistryEvent(at=draft.now, event=event, subject=zone.name)


Action = Callable[..., RegistryEvent]

#: Refusals that stay the same at a later instant. An action that raises such a refusal cannot be scheduled.
PERMANENT = frozenset(
    {rule for rule in refusals.RULES.values() if rule.category is Category.INVALID}
    | {UNKNOWN_ACCOUNT, UNKNOWN_ZONE}
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
) -> RegistryEvent:
    """Register a domain at another registrar, as a third party.

    Args:
        years: The term in years. Default: the shortest term of the zone.
        locked: Whether the domain is locked against transfer.
        autorenew: Whether the domain is renewed automatically.
        auth_code: The authorization code of the domain. Default: a generated code.
    """
    zone = zones.zone_of(draft.state, domain)
    zones.require_in_service(zone)
    years = years or zone.min_years
    zones.require_period(domain, years, zone.min_years, zone.max_years)
    outside = draft.state.accounts[OUTSIDE]
    purchases.require_free(draft, outside, zone, domain)
    purchase = purchases.Registration(name=domain, years=years, autorenew=autorenew, transfer_lock=locked)
    handles = assign(draft, outside, {})
    order = purchases.registration_order(draft, outside, zone, purchase, contacts=handles)
    order = enter(draft, order, Stage.ACTIVE, auth_code=auth_code or order.auth_code)
    return concerning(draft, "register", order)


def hold(draft: Draft, domain: Name) -> RegistryEvent:
    """Set the registry's hold (``server_hold``) on a domain.

    The hold removes the domain from the DNS. The registrant cannot end the hold.
    """
    order = _order_of(draft.state, domain)
    draft.put(replace(order, flags=order.flags | {Flag.SERVER_HOLD}))
    return concerning(draft, "hold", order)


def release_hold(draft: Draft, domain: Name) -> RegistryEvent:
    """Remove the registry's hold (``server_hold``) from a domain.

    A hold that the registrant set remains.
    """
    order = _order_of(draft.state, domain)
    draft.put(replace(order, flags=order.flags - {Flag.SERVER_HOLD}))
    return concerning(draft, "release_hold", order)


def drop(draft: Draft, domain: Name) -> RegistryEvent:
    """Delete a domain on behalf of its registrant, at any registrar.

    The domain goes to redemption. Within the add grace period, the domain is released and its price is
    refunded.
    """
    order = _order_of(draft.state, domain)
    return concerning(draft, "drop", order, charged=-orders.delete(draft, order))


def release(draft: Draft, domain: Name) -> RegistryEvent:
    """Release a domain at once, so that anyone can register it.

    A pending transfer ends, and the account that requested the transfer is refunded.
    """
    order = _order_of(draft.state, domain)
    transfers.fail_pending(draft, domain)
    orders.release(draft, order)
    return concerning(draft, "release", order)


# Transfers


def request_transfer(draft: Draft, domain: Name, *, force: Switch = False) -> RegistryEvent:
    """Request the transfer of an account's domain, in the role of another registrar.

    The other registrar knows the authorization code.

    Args:
        force: Whether to ignore the transfer lock and the domain's age.
    """
    zone = zones.zone_of(draft.state, domain)
    order = _order_of(draft.state, domain)
    if order.account == OUTSIDE:
        raise Refused(refusals.HELD_OUTSIDE, name=to_unicode(domain))
    price = zones.transfer_price(zone, zones.premium_prices(zone, domain), 1)
    purchase = transfers.TransferRequest(name=domain, code=order.auth_code, cost=price, forced=force)
    transfers.request(draft, draft.state.accounts[OUTSIDE], purchase)
    return concerning(draft, "request_transfer", order)


def approve_transfer(draft: Draft, domain: Name) -> RegistryEvent:
    """Approve a pending transfer to an account of this world, as the losing registrar."""
    transfer = _incoming_transfer(draft.state, domain)
    transfers.complete(draft, transfer, TransferStatus.CLIENT_APPROVED)
    return concerning(draft, "approve_transfer", draft.state.orders[transfer.gaining_order])


def reject_transfer(draft: Draft, domain: Name) -> RegistryEvent:
    """Reject a pending transfer to an account of this world, as the losing registrar.

    The account gets a refund.
    """
    transfer = _incoming_transfer(draft.state, domain)
    order = draft.state.orders[transfer.gaining_order]
    back = ledger.total(draft, transfer.charges)
    transfers.fail(draft, transfer, TransferStatus.CLIENT_REJECTED)
    return concerning(draft, "reject_transfer", order, charged=-back)


def cancel_transfer(draft: Draft, domain: Name) -> RegistryEvent:
    """Cancel a pending transfer of an account's domain, as the gaining registrar."""
    transfer = pending_transfer(draft.state, domain)
    if transfer is None or transfer.gaining != OUTSIDE:
        raise Refused(refusals.NO_TRANSFER_OUT, name=to_unicode(domain))
    transfers.fail(draft, transfer, TransferStatus.CLIENT_CANCELLED)
    return concerning(draft, "cancel_transfer", draft.state.orders[transfer.losing_order])


def complete_transfer(draft: Draft, domain: Name) -> RegistryEvent:
    """Complete a pending transfer early, as the registry.

    The transfer can be to or from an account of this world.
    """
    zones.zone_of(draft.state, domain)
    transfer = pending_transfer(draft.state, domain)
    if transfer is None:
        raise Refused(refusals.NO_TRANSFER_PENDING, name=to_unicode(domain))
    order = transfers.local_order(draft.state, transfer)
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


def _order_of(state: State, name: str) -> Order:
    zones.zone_of(state, name)
    order = held_order(state, name)
    if order is None:
        raise Refused(refusals.NOT_HELD, name=to_unicode(name))
    return order


def _incoming_transfer(state: State, name: str) -> Transfer:
    zones.zone_of(state, name)
    transfer = pending_transfer(state, name)
    if transfer is None or transfer.gaining == OUTSIDE:
        raise Refused(refusals.NO_TRANSFER_IN, name=to_unicode(name))
    return transfer
