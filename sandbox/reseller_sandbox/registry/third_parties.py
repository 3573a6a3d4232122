"""Actions of third parties: other registrars, registries and the staff of the service.

Each action is a function over a draft. The control interface, fixtures and scheduled actions derive their
parameters from its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_PARAMETER, UNKNOWN_ACCOUNT, UNKNOWN_ZONE, Category, Refused
from reseller_sandbox.registry import customers, ledger, orders, purchases, registrants, transfers, zones
from reseller_sandbox.registry.contacts import assign
from reseller_sandbox.registry.events import RegistryEvent, concerning
from reseller_sandbox.registry.hosts import NAMESERVERS
from reseller_sandbox.registry.lifecycle import enter, retry
from reseller_sandbox.registry.model import (
    LONGEST_TERM,
    OUTSIDE,
    ROLES,
    Account,
    Flag,
    LaterYears,
    Order,
    Premium,
    Promotion,
    Purpose,
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
    DATE,
    TEXT,
    WHEN,
    Amount,
    Change,
    Credentials,
    Date,
    Name,
    Switch,
    Term,
    Text,
    When,
    Zone,
    choice,
    date_at,
    instant,
    listed,
    table,
    whole,
)
from reseller_sandbox.values.money import NOTHING
from reseller_sandbox.values.names import shown, to_unicode
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
    later_years: LaterYears | None = None,
) -> RegistryEvent:
    """Change the prices of a zone. Omitted prices stay unchanged.

    Args:
        registration: The price of registration per year.
        renewal: The price of renewal per year.
        transfer: The price of a transfer.
        restore: The price of a restore.
        privacy: The price of whois protection per year.
        owner_change: The price of a change of the registrant.
        later_years: The price of each year after the first in a registration: registration or renewal.
    """
    prices = {
        "registration": registration,
        "renewal": renewal,
        "transfer": transfer,
        "restore": restore,
        "privacy": privacy,
        "owner_change": owner_change,
    }
    changed: dict[str, object] = {name: AMOUNT(price) for name, price in prices.items() if price is not None}
    if later_years is not None:
        changed["later_years"] = later_years
    if not changed:
        parameters = ", ".join((*prices, "later_years"))
        raise Refused(INVALID_PARAMETER, problems=f"set_prices requires at least one of {parameters}")
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
    promotion: object = None
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
        in_service: Whether the zone accepts registrations, renewals, restores and transfers.
    """
    return _changed(draft, "set_service", replace(_zone(draft.state, zone), in_service=in_service))


# Accounts


def credit(draft: Draft, account: Text, amount: Amount) -> RegistryEvent:
    """Add an amount to the balance of an account, as the staff. The amount stands in the ledger.

    Args:
        amount: The amount to add.
    """
    return _adjusted(draft, "credit", account, lambda _: AMOUNT(amount))


def debit(draft: Draft, account: Text, amount: Amount) -> RegistryEvent:
    """Take an amount from the balance of an account, as the staff. The balance can become negative.

    Args:
        amount: The amount to take.
    """
    return _adjusted(draft, "debit", account, lambda _: -AMOUNT(amount))


def set_balance(draft: Draft, account: Text, amount: Change) -> RegistryEvent:
    """Set the balance of an account, as the staff. The difference stands in the ledger.

    Args:
        amount: The new balance.
    """
    return _adjusted(draft, "set_balance", account, lambda balance: CHANGE(amount) - balance)


def _adjusted(draft: Draft, event: str, word: str, difference: Callable[[Decimal], Decimal]) -> RegistryEvent:
    account = find_account(draft.state, word)
    amount = difference(account.balance)
    if amount:
        ledger.adjust(draft, account, amount)
    return concerning(draft, event, account, charged=-amount)


def revoke_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> RegistryEvent:
    """Revoke an account's API key, its v2.0 token, or both.

    Args:
        which: Which credentials to revoke.
    """
    return _revoked(draft, "revoke_credentials", account, which, set.union)


def restore_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> RegistryEvent:
    """Restore an account's revoked credentials.

    Args:
        which: Which credentials to restore.
    """
    return _revoked(draft, "restore_credentials", account, which, set.difference)


def find_account(state: State, word: str) -> Account:
    """Return the account with the name or client id ``word``, or refuse with ``unknown_account``."""
    accounts = own_accounts(state)
    for account in accounts:
        if word in (account.name, str(account.client_id)):
            return account
    known = names_phrase((account.name for account in accounts), "accounts")
    raise Refused(UNKNOWN_ACCOUNT, account=word[:80], known=known)


def _revoked(
    draft: Draft, event: str, word: str, which: str, change: Callable[[set[str], set[str]], set[str]]
) -> RegistryEvent:
    account, chosen = find_account(draft.state, word), {"key", "token"} if which == "both" else {which}
    draft.put(replace(account, revoked=tuple(sorted(change(set(account.revoked), chosen)))))
    return concerning(draft, event, account)


def _zone(state: State, name: str) -> ZoneRecord:
    zone = state.zones.get(name)
    if zone is None:
        known = names_phrase(map(to_unicode, sorted(state.zones)), "zones")
        raise Refused(UNKNOWN_ZONE, zone=shown(name), known=known)
    return zone


def instant_ahead(draft: Draft, name: str, value: object) -> datetime:
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


# Names of the accounts


def change(
    draft: Draft,
    domain: Name,
    *,
    expires: Date | None = None,
    auth_code: Text | None = None,
    nameservers: Annotated[Sequence[str], NAMESERVERS] | None = None,
    flags: Annotated[Sequence[str], listed(choice(*Flag), distinct=True)] | None = None,
    autorenew: Switch | None = None,
    privacy: Switch | None = None,
    account: Text | None = None,
    contacts: Annotated[Mapping[str, str], table(choice(*ROLES), TEXT)] | None = None,
    customer: Annotated[int, whole(0, 10**15)] | None = None,
    charge: Amount | None = None,
    by: Annotated[str, choice("staff", "registry")] = "staff",
) -> RegistryEvent:
    """Change a registered domain, as the staff or the registry. Omitted values stay unchanged.

    No lock and no stage forbids the change. If the new expiry date is past, an active domain becomes overdue.
    If the new expiry date is ahead, an overdue domain becomes active.

    Args:
        expires: The expiry date: a date, or a duration from now with its sign, such as ``-3d`` or ``+P1Y``.
        auth_code: The authorization code.
        nameservers: All name servers of the domain. An empty list removes the domain from the DNS.
        flags: All status flags of the domain. An empty list clears every flag and lock.
        autorenew: Whether the domain is renewed automatically.
        privacy: Whether whois protection hides the contacts.
        account: The account that gets the domain, by name or client id. The default contact of the account
            replaces the contacts, and the domain has no customer. A later deletion refunds nothing.
        contacts: Handles of contacts by role. Omitted roles stay unchanged. A new registrant starts the
            zone's lock and makes a new code, as after a client's change, but costs nothing.
        customer: The id of the customer that the domain belongs to. 0 means no customer.
        charge: The amount to charge to the holder's account. Default: nothing.
        by: The third party that makes the change.
    """
    order = flagged = _order_of(draft.state, domain)
    changed: dict[str, object] = {} if expires is None else {"expires": _new_expiry(draft, order, expires)}
    if auth_code is not None:
        changed |= purchases.auth_code(draft, order.zone, auth_code)
    if nameservers is not None:
        changed["nameservers"] = tuple(nameservers)
    if flags is not None:
        flagged = orders.with_flags(order, {flag: flag in flags for flag in Flag})
        changed["flags"] = flagged.flags
    if autorenew is not None:
        changed["autorenew"] = autorenew
    if privacy is not None:
        if privacy and draft.state.zones[order.zone].prices.privacy is None:
            raise Refused(refusals.PRIVACY_NOT_OFFERED, zone=shown(order.zone))
        changed["privacy"] = privacy
    holder, past = draft.state.accounts[order.account], dict[str, object]()
    if expires is not None:
        past["last_renewal"] = None  # A deletion must not take back years of another term.
    if account is not None and (gaining := find_account(draft.state, account)) != holder:
        if pending_transfer(draft.state, domain) is not None:
            raise Refused(refusals.TRANSFER_PENDING, name=shown(domain), action="a change of its account")
        holder, contacts = gaining, dict.fromkeys(ROLES, gaining.contact) | dict(contacts or {})
        changed |= {"account": holder.client_id, "customer_id": None}
        past |= {"last_renewal": None, "registration": (), "renewals": ()}  # The former holder paid them.
    if contacts is not None:
        changed["contacts"] = handles = assign(draft, holder, contacts, order.contacts)
        cards = draft.state.contacts
        if registrants.is_new(draft, cards[order.contacts.registrant].card, cards[handles.registrant].card):
            changed = registrants.consequences(draft, order.zone) | changed
    if customer is not None:
        owner = customers.own(draft.state, holder, customer) if customer else None
        changed["customer_id"] = owner and owner.customer_id
    if not changed and (account, charge) == (None, None):
        raise Refused(INVALID_PARAMETER, problems="change requires at least one value to change")
    after = replace(flagged, **changed, **past)
    if expires is not None and order.stage in (Stage.ACTIVE, Stage.OVERDUE):
        after = enter(draft, after, Stage.ACTIVE)
    else:
        if autorenew is not None:
            policy = draft.state.zones[order.zone].policy
            after = replace(after, retry=retry(after, policy, draft.assumed, draft.now))
        draft.put(after)
    paid = () if charge is None else ledger.charge(draft, after, AMOUNT(charge), Purpose.ADJUSTMENT)
    event = concerning(
        draft, "change", replace(order, account=holder.client_id), charged=ledger.total(draft, paid)
    )
    return replace(event.changing(order, after, [*changed, "stage"]), actor=by)


def _new_expiry(draft: Draft, order: Order, date: object) -> datetime:
    """Return the expiry that ``date`` means. Refuse an expiry before the registration."""
    try:
        expires = date_at(DATE(date), draft.now)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"expires: {problem}") from None
    if expires < order.created:
        early = f"expires is {wire(expires)}, before the registration at {wire(order.created)}"
        raise Refused(INVALID_PARAMETER, problems=early)
    return expires


def renew(
    draft: Draft, domain: Name, *, years: Annotated[int, whole(1, LONGEST_TERM)] = 1, charge: Switch = True
) -> RegistryEvent:
    """Renew a registered domain, as the staff. The same rules as for a client's renewal apply.

    Args:
        years: The years to add.
        charge: Whether the holder's account pays the current price. Otherwise the renewal is free.
    """
    order = _order_of(draft.state, domain)
    agreed = purchases.renewal_cost(draft, order, years).price
    renewed, paid = purchases.renew(draft, order, years, agreed, free=not charge)
    return concerning(draft, "renew", order, charged=paid).changing(order, renewed, ("expires", "stage"))


def refuse_registration(
    draft: Draft, domain: Name, *, refund: Switch = True, reason: Text | None = None
) -> RegistryEvent:
    """Refuse a registration that is still requested or in processing, as the registry.

    The order ends, and anyone can register the domain.

    Args:
        refund: Whether the account gets its money back.
        reason: The reason, for the event.
    """
    order = _order_of(draft.state, domain)
    if order.stage not in (Stage.REQUESTED, Stage.PROCESSING):
        raise Refused(refusals.NO_REGISTRATION_PENDING, name=shown(domain), stage=str(order.stage))
    back = ledger.refund(draft, order.registration) if refund else NOTHING
    orders.release(draft, order)
    return concerning(draft, "refuse_registration", order, charged=-back, note=reason or "")


def expire_auth_code(draft: Draft, domain: Name) -> RegistryEvent:
    """Let the authorization code of a domain expire, as the registry.

    A transfer with this code is refused. A new code is valid again.
    """
    order = _order_of(draft.state, domain)
    earlier = order.auth_code_expires
    expires = draft.now if earlier is None else min(earlier, draft.now)
    after = draft.put(replace(order, auth_code_expires=expires))
    event = concerning(draft, "expire_auth_code", order)
    return event.changing(order, after, ("auth_code_expires",))


# Transfers


def request_transfer(draft: Draft, domain: Name, *, force: Switch = False) -> RegistryEvent:
    """Request the transfer of an account's domain, in the role of another registrar.

    The other registrar knows the authorization code.

    Args:
        force: Whether to ignore the transfer lock, the domain's age and a recent change of its registrant.
    """
    zone = zones.zone_of(draft.state, domain)
    order = _order_of(draft.state, domain)
    if order.account == OUTSIDE:
        raise Refused(refusals.HELD_OUTSIDE, name=shown(domain))
    price = zones.transfer_price(zone, zones.premium_prices(zone, domain), zone.min_transfer_years)
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
        raise Refused(refusals.NO_TRANSFER_OUT, name=shown(domain))
    transfers.fail(draft, transfer, TransferStatus.CLIENT_CANCELLED)
    return concerning(draft, "cancel_transfer", draft.state.orders[transfer.losing_order])


def complete_transfer(draft: Draft, domain: Name) -> RegistryEvent:
    """Complete a pending transfer early, as the registry.

    The transfer can be to or from an account of this world.
    """
    zones.zone_of(draft.state, domain)
    transfer = pending_transfer(draft.state, domain)
    if transfer is None:
        raise Refused(refusals.NO_TRANSFER_PENDING, name=shown(domain))
    order = transfers.local_order(draft.state, transfer)
    transfers.complete(draft, transfer, TransferStatus.SERVER_APPROVED)
    return concerning(draft, "complete_transfer", order)


_BY_ACTOR: Mapping[str, tuple[Action, ...]] = {
    "registrar": (register, request_transfer, approve_transfer, reject_transfer, cancel_transfer),
    "registrant": (drop,),
    "registry": (
        *(hold, release_hold, release, complete_transfer, refuse_registration, expire_auth_code),
        *(set_prices, set_promotion, set_premium, set_service),
    ),
    "staff": (change, renew, credit, debit, set_balance, revoke_credentials, restore_credentials),
}
ACTIONS: Mapping[str, Action] = {
    action.__name__: action for actions in _BY_ACTOR.values() for action in actions
}
_ACTORS = {action.__name__: actor for actor, actions in _BY_ACTOR.items() for action in actions}


def act(draft: Draft, action: str, arguments: Mapping[str, object]) -> RegistryEvent:
    """Carry out ``action`` with ``arguments``. Return its event, with the third party that acted."""
    event = ACTIONS[action](draft, **arguments)
    return event if event.actor else replace(event, actor=_ACTORS[action])


def _order_of(state: State, name: str) -> Order:
    zones.zone_of(state, name)
    order = held_order(state, name)
    if order is None:
        raise Refused(refusals.NOT_HELD, name=shown(name))
    return order


def _incoming_transfer(state: State, name: str) -> Transfer:
    zones.zone_of(state, name)
    transfer = pending_transfer(state, name)
    if transfer is None or transfer.gaining == OUTSIDE:
        raise Refused(refusals.NO_TRANSFER_IN, name=shown(name))
    return transfer
