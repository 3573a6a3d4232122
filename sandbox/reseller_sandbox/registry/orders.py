"""Orders: find, change and delete the domains of an account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import INVALID_NAMESERVER, Refused
from reseller_sandbox.registry import contacts, hosts, ledger, purchases, registrants
from reseller_sandbox.registry.contacts import ContactInput
from reseller_sandbox.registry.lifecycle import SWITCHES, Action, enter, require, require_unlocked, retry
from reseller_sandbox.registry.model import Account, Flag, Order
from reseller_sandbox.registry.state import Draft, State, own_order
from reseller_sandbox.values.clock import days
from reseller_sandbox.values.names import shown
from reseller_sandbox.values.text_checks import whole

CODE_LENGTHS = (4, 64)


def own(state: State, account: Account, name: str) -> Order:
    """Return the account's order for the domain ``name``, or refuse with ``domain_not_found``.

    The refusal's fact ``elsewhere`` is true if another account holds the name.
    """
    order = own_order(state, account.client_id, name)
    if order is None:
        raise Refused(refusals.DOMAIN_NOT_FOUND, name=shown(name), elsewhere=name in state.holding_order)
    return order


def own_by_id(state: State, account: Account, number: str) -> Order:
    """Return the account's order by id, or refuse with ``domain_not_found``.

    ``number`` holds digits.
    """
    order = state.orders.get(whole(number))
    if order is None or order.account != account.client_id:
        raise Refused(refusals.DOMAIN_NOT_FOUND, name=f"The order {number[:20]}")
    return order


def delete(draft: Draft, order: Order) -> Decimal:
    """Delete a domain. Return the refund, or 0 after every grace period.

    Within the add grace period, the domain is released at once and refunded. Otherwise, it goes to
    redemption. Within the grace period of its last renewal, that renewal is refunded and its years are taken
    back. Refuse with ``host_in_use`` while another domain is delegated to a host below this one. The
    order's stage can also forbid the action.
    """
    move = require(draft, order, Action.DELETE)
    for host in hosts.of_domain(draft.state, order.name):
        hosts.require_unused(draft.state, host, besides=order)
    if draft.now < order.created + days(draft.state.zones[order.zone].policy.add_grace):
        paid = order.registration
        if order.renewals and draft.assumed.early_delete_refunds == "all":
            paid += order.renewals
        back = ledger.refund(draft, paid, grace="add_grace")
        release(draft, order)
        return back
    order, back = purchases.take_back_renewal(draft, order)
    assert move.target is not None
    enter(draft, order, move.target)
    return back


def release(draft: Draft, order: Order) -> None:
    """Remove a domain from the registry: its order, its hosts and its latest transfer."""
    for host in hosts.of_domain(draft.state, order.name):
        draft.remove(host)
    transfer = draft.state.transfers.get(order.name)
    if transfer is not None:
        draft.remove(transfer)
    draft.remove(order)


def set_nameservers(draft: Draft, order: Order, servers: Sequence[str]) -> Order:
    """Replace the name servers of a domain. ``servers`` must name at least one server."""
    require(draft, order, Action.SET_NAMESERVERS)
    if not servers:
        raise Refused(refusals.INVALID_NAMESERVER, server=[], problem="is empty; at least one is required")
    zone = draft.state.zones[order.zone]
    parsed = hosts.parse_nameservers(draft, order.account, servers, order.name, zone, order.nameservers)
    return draft.put(replace(order, nameservers=parsed))


def set_contacts(
    draft: Draft, order: Order, by_role: Mapping[str, ContactInput], wire_names: Mapping[str, str]
) -> Order:
    """Change the contacts of a domain for the roles in ``by_role``.

    A new registrant costs the zone's owner-change price. Refuse with ``locked``, ``invalid_contact``,
    ``contact_not_found`` and ``insufficient_funds``.
    """
    account = draft.state.accounts[order.account]
    changed, is_new = changeable_contacts(draft, order, by_role)
    contacts.check(draft, by_role, wire_names)
    handles = contacts.assign(draft, account, changed, order.contacts)
    order = draft.put(replace(order, contacts=handles))
    if is_new:
        registrants.changed(draft, [order])
    return draft.state.orders[order.id]


def changeable_contacts(
    draft: Draft, order: Order, by_role: Mapping[str, ContactInput]
) -> tuple[dict[str, ContactInput], bool]:
    """Return the contacts in ``by_role`` that differ from the order's, and whether the registrant is new.

    Refuse if the order cannot get these contacts.
    """
    require(draft, order, Action.SET_CONTACTS, locks=False)
    changed = {role: contact for role, contact in by_role.items() if not _same(draft, order, role, contact)}
    is_new = "registrant" in changed and _is_new_registrant(draft, order, changed["registrant"])
    require_unlocked(draft, order, Action.SET_CONTACTS, registrant=is_new)
    return changed, is_new


def _is_new_registrant(draft: Draft, order: Order, contact: ContactInput) -> bool:
    present = order.contacts.registrant
    before = draft.state.contacts[present].card
    if not isinstance(contact, str):
        return registrants.is_new(draft, before, contacts.completed(draft, contact, present))
    other = draft.state.contacts.get(contact)
    return other is None or registrants.is_new(draft, before, other.card)


def _same(draft: Draft, order: Order, role: str, contact: ContactInput) -> bool:
    handle: str = getattr(order.contacts, role)
    if isinstance(contact, str):
        return contact == handle
    return contacts.completed(draft, contact, handle) == draft.state.contacts[handle].card


def set_flag(draft: Draft, order: Order, flag: Flag, on: bool) -> Order:
    """Set or clear a ``flag`` of a domain. The life cycle must permit the action now.

    If the flag already has that value, the assumption ``v3.switches.repeated`` can refuse the action.
    """
    action = SWITCHES[flag][on]
    require(draft, order, action)
    if action is Action.RELEASE_HOLD:
        require_releasable(draft, order)
    if (flag in order.flags) is on:
        return _unchanged(draft, order, action)
    return draft.put(with_flags(order, {flag: on}))


def with_flags(order: Order, changes: Mapping[Flag, bool]) -> Order:
    """Return ``order`` with flags set or cleared."""
    flags = order.flags.difference(changes) | {flag for flag, value in changes.items() if value}
    used = order.update_lock_used or Flag.UPDATE_PROHIBITED in flags ^ order.flags
    return replace(order, flags=flags, update_lock_used=used)


def require_releasable(draft: Draft, order: Order) -> None:
    """Refuse with ``held_by_registry`` if the domain also has the flag ``server_hold``.

    Unless ``locks.registry_hold`` is ``accepted``, the registrant then cannot end its own hold.
    """
    if Flag.SERVER_HOLD in order.flags and draft.assumed.registry_hold == "refused":
        raise Refused(refusals.HELD_BY_REGISTRY, name=shown(order.name))


def set_autorenew(draft: Draft, order: Order, on: bool) -> Order:
    """Switch the automatic renewal of a domain on or off."""
    require(draft, order, Action.SET_AUTORENEW)
    if order.autorenew is on:
        return _unchanged(draft, order, Action.SET_AUTORENEW)
    switched = replace(order, autorenew=on)
    policy = draft.state.zones[order.zone].policy
    return draft.put(replace(switched, retry=retry(switched, policy, draft.assumed, draft.now)))


def set_auth_code(draft: Draft, order: Order, code: str) -> Order:
    """Set the authorization code of a domain. Refuse with ``invalid_auth_code``."""
    require(draft, order, Action.SET_AUTH_CODE)
    shortest, longest = CODE_LENGTHS
    if not shortest <= len(code) <= longest or not code.isascii() or not code.isprintable():
        raise Refused(refusals.INVALID_AUTH_CODE, shortest=shortest, longest=longest)
    return draft.put(replace(order, **purchases.auth_code(draft, order.zone, code)))


def _unchanged(draft: Draft, order: Order, action: Action) -> Order:
    if draft.assumed.repeated_switch == "refused":
        raise Refused(refusals.SWITCHED_ALREADY, action=action, name=shown(order.name))
    return order


class Edit(Struct, frozen=True, kw_only=True):
    """Changes to an order: flags, contacts by role, and name servers to add and remove."""

    flags: Mapping[Flag, bool] = field(default_factory=dict)
    contacts: Mapping[str, str] = field(default_factory=dict)
    add: Sequence[str] = ()
    remove: Sequence[str] = ()


def edit(draft: Draft, order: Order, changes: Edit) -> Order:
    """Apply ``changes`` to an order. A new registrant costs the zone's owner-change price.

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
    return draft.put(with_flags(order, changes.flags))


def _servers(draft: Draft, order: Order, changes: Edit) -> list[str]:
    """Return the name servers that the order has after ``changes``."""
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
