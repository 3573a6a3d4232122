"""Orders: find, change, restore and delete domains, and check agreed prices."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_NAMESERVER, Refused
from reseller_sandbox.registry import contacts, hosts, ledger, zones
from reseller_sandbox.registry.contacts import ContactInput
from reseller_sandbox.registry.lifecycle import SWITCHES, Action, enter, require, require_unlocked, retry
from reseller_sandbox.registry.model import Account, Flag, Order, Premium, Purpose, Zone
from reseller_sandbox.registry.state import Draft, State, own_order
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import days, years_later
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import whole

_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
CODE_LENGTH = 12
CODE_LENGTHS = (4, 64)

#: Stands for an agreed price: the client accepts any price.
ANY_PRICE: Final = "whatever it costs"
Agreed = Decimal | Literal["whatever it costs"] | None


class Purchase(Struct, frozen=True, kw_only=True):
    """The request of an account to order ``name``, by registration or transfer.

    ``contacts`` maps roles to contact details or handles. ``wire_names`` maps roles and fields to their names
    in the request. ``cost`` is the price that the client agreed to. Without ``nameservers``, a transfer keeps
    the present ones, and a registration takes the account's own.
    """

    name: str
    years: int = 1
    cost: Agreed = None
    contacts: Mapping[str, ContactInput] = field(default_factory=dict)
    wire_names: Mapping[str, str] = field(default_factory=dict)
    nameservers: Sequence[str] | None = None
    customer_id: int | None = None
    privacy: bool = False
    autorenew: bool = False
    transfer_lock: bool = False


class Cost(NamedTuple):
    """The cost of a term: ``price`` for the domain, and ``protection`` for privacy.

    Clients agree to ``price`` only.
    """

    price: Decimal
    protection: Decimal

    @property
    def total(self) -> Decimal:
        """The amount to charge."""
        return self.price + self.protection

    def charge(self, draft: Draft, order: Order, purpose: Purpose, years: int) -> tuple[int, ...]:
        """Charge the order's account. Return the ids of the ledger entries."""
        paid = ledger.charge(draft, order, self.price, purpose, years)
        return paid + ledger.charge(draft, order, self.protection, Purpose.PRIVACY, years)


class Placed(NamedTuple):
    """An order after an operation, and the amount that the account paid."""

    order: Order
    paid: Decimal


def new_code(draft: Draft) -> str:
    """Return a fresh authorization code."""
    return auth_code_at(draft.base.seed, draft.next("auth_code"))


def new_order(draft: Draft, account: Account, purchase: Purchase, **more: Any) -> Order:
    """Return a new order for ``purchase``, not written yet.

    ``more`` are additional fields of the order.
    """
    return Order(
        id=draft.next("order"),
        account=account.client_id,
        name=purchase.name,
        since=draft.now,
        customer_id=purchase.customer_id,
        privacy=purchase.privacy,
        autorenew=purchase.autorenew,
        flags=frozenset({Flag.TRANSFER_PROHIBITED} if purchase.transfer_lock else ()),
        **more,
    )


def auth_code_at(seed: str, number: int) -> str:
    """Return authorization code number ``number`` (from 1) of a state with ``seed``."""
    digest = hashlib.sha256(f"{seed}/auth_code/{number}".encode()).digest()
    rest, letters = int.from_bytes(digest) % len(_CODE_LETTERS) ** CODE_LENGTH, ""
    for _ in range(CODE_LENGTH):
        rest, at = divmod(rest, len(_CODE_LETTERS))
        letters += _CODE_LETTERS[at]
    return letters


def require_cost(
    draft: Draft, name: str, premium: bool, agreed: Agreed, price: Decimal, *, always: bool = False
) -> None:
    """Refuse if the client agreed to a price other than that of all years.

    For a premium name, the client must agree to a price if ``always`` or the assumptions say so. For an
    ordinary name, an agreed price counts only if the assumptions say so.
    """
    if isinstance(agreed, str):  # ANY_PRICE
        if premium and draft.assumed.premium_names == "refused":
            raise Refused(refusals.PREMIUM_NOT_TAKEN, name=to_unicode(name), price=money.write(price))
        return
    if agreed is None and premium and (always or draft.assumed.purchase_cost == "premium_everywhere"):
        raise Refused(refusals.PREMIUM_COST_REQUIRED, name=to_unicode(name), price=money.write(price))
    if agreed is None or (not premium and draft.assumed.purchase_cost != "whenever_given"):
        return
    if agreed != price:
        raise Refused(
            refusals.PRICE_MISMATCH,
            given=money.write(agreed),
            name=to_unicode(name),
            price=money.write(price),
        )


def own(state: State, account: Account, name: str) -> Order:
    """Return the account's order for ``name``. Refuse with ``domain_not_found``.

    The refusal's fact ``elsewhere`` is true if another account holds the name.
    """
    order = own_order(state, account.client_id, name)
    if order is None:
        raise Refused(refusals.DOMAIN_NOT_FOUND, name=to_unicode(name), elsewhere=name in state.holding_order)
    return order


def own_by_id(state: State, account: Account, number: str) -> Order:
    """Return the account's order by its id in digits.

    Refuse with ``domain_not_found``.
    """
    order = state.orders.get(whole(number))
    if order is None or order.account != account.client_id:
        raise Refused(refusals.DOMAIN_NOT_FOUND, name=f"The order {number[:20]}")
    return order


def zone_and_premium(state: State, order: Order) -> tuple[Zone, Premium | None]:
    """Return the order's zone, and its premium prices or None."""
    zone = state.zones[order.zone]
    return zone, zones.premium_prices(zone, order.name)


def renewal_cost(draft: Draft, order: Order, years: int = 1) -> Cost:
    """Return the cost of renewing ``order`` now."""
    zone, special = zone_and_premium(draft.state, order)
    protected = order.privacy and zone.prices.privacy and draft.assumed.privacy_renewal == "charged"
    protection = zones.privacy_price(zone, years, draft.assumed, wanted=bool(protected))
    return Cost(zones.renewal_price(zone, special, years, draft.now), protection)


def restore(draft: Draft, order: Order) -> Placed:
    """Restore a deleted domain from redemption. Renew an expired one for a year."""
    move = require(draft, order, Action.RESTORE)
    zone, special = zone_and_premium(draft.state, order)
    zones.require_in_service(zone)
    years = 1 if order.expires <= draft.now else 0
    price = zones.restore_price(zone, special, years)
    ledger.charge(draft, order, price, Purpose.RESTORE, years)
    assert move.target is not None
    restored = enter(draft, replace(order, expires=years_later(order.expires, years)), move.target)
    return Placed(restored, price)


def delete(draft: Draft, order: Order) -> Decimal:
    """Delete a domain and return the refund.

    Within the add grace period, the domain is released at once and refunded. Otherwise, it goes to
    redemption. Refuse with ``host_in_use`` while another domain is delegated to a host below this one. The
    order's stage can also forbid the action.
    """
    move = require(draft, order, Action.DELETE)
    for host in hosts.of_domain(draft.state, order.name):
        hosts.require_unused(draft.state, host, besides=order)
    zone = draft.state.zones[order.zone]
    if draft.now < order.created + days(zone.policy.add_grace):
        paid = order.registration
        if order.renewals and draft.assumed.early_delete_refunds == "all":
            paid += order.renewals
        back = ledger.refund(draft, paid)
        release(draft, order)
        return back
    assert move.target is not None
    enter(draft, order, move.target)
    return money.NOTHING


def release(draft: Draft, order: Order) -> None:
    """Remove the order of a domain, its hosts and its latest transfer."""
    for host in hosts.of_domain(draft.state, order.name):
        draft.remove(host)
    transfer = draft.state.transfers.get(order.name)
    if transfer is not None:
        draft.remove(transfer)
    draft.remove(order)


def set_nameservers(draft: Draft, order: Order, servers: Sequence[str]) -> Order:
    """Replace the name servers of a domain with one or more others."""
    require(draft, order, Action.SET_NAMESERVERS)
    if not servers:
        raise Refused(refusals.INVALID_NAMESERVER, server=[], problem="is empty; at least one is required")
    parsed = hosts.parse_nameservers(draft, order.account, servers, order.name, order.nameservers)
    return draft.put(replace(order, nameservers=parsed))


def set_contacts(
    draft: Draft, order: Order, by_role: Mapping[str, ContactInput], wire_names: Mapping[str, str]
) -> Order:
    """Change the contacts of a domain. Roles that are not in ``by_role`` stay.

    A new registrant costs the zone's owner-change price. Refuse with ``locked``, ``invalid_contact``,
    ``contact_not_found`` and ``insufficient_funds``.
    """
    account = draft.state.accounts[order.account]
    changed = changeable_contacts(draft, order, by_role)
    contacts.check(by_role, wire_names)
    handles = contacts.assign(draft, account, changed, order.contacts)
    if "registrant" in changed:
        price = draft.state.zones[order.zone].prices.owner_change
        ledger.charge(draft, order, price, Purpose.OWNER_CHANGE)
    return draft.put(replace(order, contacts=handles))


def changeable_contacts(
    draft: Draft, order: Order, by_role: Mapping[str, ContactInput]
) -> dict[str, ContactInput]:
    """Return the contacts in ``by_role`` that differ from the order's contacts.

    Refuse if the order cannot get these contacts.
    """
    require(draft, order, Action.SET_CONTACTS, locks=False)
    changed = {role: contact for role, contact in by_role.items() if not _same(draft, order, role, contact)}
    require_unlocked(draft, order, Action.SET_CONTACTS, registrant="registrant" in changed)
    return changed


def _same(draft: Draft, order: Order, role: str, contact: ContactInput) -> bool:
    handle: str = getattr(order.contacts, role)
    if isinstance(contact, str):
        return contact == handle
    return contacts.completed(draft, contact, handle) == draft.state.contacts[handle].card


def set_flag(draft: Draft, order: Order, action: Action, flag: Flag, on: bool) -> Order:
    """Set or clear a flag.

    If the flag already has that value, the assumptions can refuse the action.
    """
    require(draft, order, action)
    if action is Action.RELEASE_HOLD:
        require_releasable(draft, order)
    if (flag in order.flags) is on:
        return _unchanged(draft, order, action)
    return draft.put(replace(order, flags=order.flags | {flag} if on else order.flags - {flag}))


def require_releasable(draft: Draft, order: Order) -> None:
    """Refuse with ``held_by_registry`` while the registry holds the domain, too.

    The registrant then cannot end its own hold.
    """
    if Flag.SERVER_HOLD in order.flags and draft.assumed.registry_hold == "refused":
        raise Refused(refusals.HELD_BY_REGISTRY, name=to_unicode(order.name))


def set_autorenew(draft: Draft, order: Order, on: bool) -> Order:
    """Switch auto-renewal on or off."""
    require(draft, order, Action.SET_AUTORENEW)
    if order.autorenew is on:
        return _unchanged(draft, order, Action.SET_AUTORENEW)
    switched = replace(order, autorenew=on)
    return draft.put(replace(switched, retry=retry(switched, draft.assumed, draft.now)))


def set_auth_code(draft: Draft, order: Order, code: str) -> Order:
    """Set the authorization code of a domain. Refuse with ``invalid_auth_code``."""
    require(draft, order, Action.SET_AUTH_CODE)
    shortest, longest = CODE_LENGTHS
    if not shortest <= len(code) <= longest or not code.isascii() or not code.isprintable():
        raise Refused(refusals.INVALID_AUTH_CODE, shortest=shortest, longest=longest)
    return draft.put(replace(order, auth_code=code))


def _unchanged(draft: Draft, order: Order, action: Action) -> Order:
    if draft.assumed.repeated_switch == "refused":
        raise Refused(refusals.SWITCHED_ALREADY, action=action, name=to_unicode(order.name))
    return order


class Edit(Struct, frozen=True, kw_only=True):
    """Changes of an order: flags, contacts by role, name servers to add and remove."""

    flags: Mapping[Flag, bool] = field(default_factory=dict)
    contacts: Mapping[str, str] = field(default_factory=dict)
    add: Sequence[str] = ()
    remove: Sequence[str] = ()


def edit(draft: Draft, order: Order, changes: Edit) -> Order:
    """Apply ``changes``. A new registrant costs the zone's owner-change price.

    Refuse, in this order: ``wrong_state``, ``locked``, ``held_by_registry``, ``transfer_pending``,
    ``invalid_nameserver``, ``contact_not_found``, ``insufficient_funds``.
    """
    require(draft, order, Action.SET_FLAGS)
    if changes.add or changes.remove:
        require(draft, order, Action.SET_NAMESERVERS)
    if changes.contacts:
        changeable_contacts(draft, order, changes.contacts)
    if changes.flags.get(Flag.HOLD) is False:
        require_releasable(draft, order)
    for flag, value in changes.flags.items():
        if (flag in order.flags) is not value:
            require(draft, order, SWITCHES[flag][value])
    if changes.add or changes.remove:
        order = set_nameservers(draft, order, _servers(draft, order, changes))
    if changes.contacts:
        order = set_contacts(draft, order, changes.contacts, {})
    on = {flag for flag, value in changes.flags.items() if value}
    return draft.put(replace(order, flags=(order.flags - set(changes.flags)) | on))


def _servers(draft: Draft, order: Order, changes: Edit) -> list[str]:
    """Return the order's name servers without the removed ones, then the added ones."""
    servers = list(order.nameservers)
    for text in changes.remove:
        server = hosts.parse_nameserver(text)
        if server in servers:
            servers.remove(server)
        elif draft.assumed.repeated_nameservers == "refused":
            raise Refused(INVALID_NAMESERVER, server=text, problem="is not a name server of the domain")
    for text in changes.add:
        server = hosts.parse_nameserver(text)
        if server not in servers:
            servers.append(server)
        elif draft.assumed.repeated_nameservers == "refused":
            raise Refused(INVALID_NAMESERVER, server=text, problem="is already a name server of the domain")
    if not servers:
        raise Refused(
            INVALID_NAMESERVER,
            server=changes.remove[-1],
            problem="is the last name server; at least one is required",
        )
    return servers
