"""Edits: several changes to a name in one request, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.core import hosts, orders
from reseller_sandbox.core.lifecycle import SWITCHES, Action, require
from reseller_sandbox.core.model import Flag, Order
from reseller_sandbox.core.refusals import INVALID_NAMESERVER, Refused
from reseller_sandbox.core.state import Draft


class Edit(Struct, frozen=True, kw_only=True):
    """What is to change: flags to set or take off, handles by role, name servers to add and to take away."""

    flags: Mapping[Flag, bool] = field(default_factory=dict)
    contacts: Mapping[str, str] = field(default_factory=dict)
    add: Sequence[str] = ()
    remove: Sequence[str] = ()


def edit(draft: Draft, order: Order, wanted: Edit) -> Order:
    """Carry out ``wanted``; a new registrant costs the zone's owner-change price.

    Refuse, in this order: ``wrong_state``, ``locked``, ``held_by_registry``, ``transfer_pending``,
    ``invalid_nameserver``, ``contact_not_found``, ``insufficient_funds``.
    """
    require(draft, order, Action.SET_FLAGS)
    if wanted.add or wanted.remove:
        require(draft, order, Action.SET_NAMESERVERS)
    if wanted.contacts:
        orders.changeable_contacts(draft, order, wanted.contacts)
    if wanted.flags.get(Flag.HOLD) is False:
        orders.require_releasable(draft, order)
    for flag, wish in wanted.flags.items():
        if (flag in order.flags) is not wish:
            require(draft, order, SWITCHES[flag][wish])
    if wanted.add or wanted.remove:
        order = orders.set_nameservers(draft, order, _servers(draft, order, wanted))
    if wanted.contacts:
        order = orders.set_contacts(draft, order, wanted.contacts, {})
    on = {flag for flag, wish in wanted.flags.items() if wish}
    order = replace(order, flags=(order.flags - set(wanted.flags)) | on)
    draft.put(order)
    return order


def _servers(draft: Draft, order: Order, wanted: Edit) -> list[str]:
    """Return the order's name servers without those of ``wanted.remove``, then those of ``wanted.add``."""
    servers = list(order.nameservers)
    for text in wanted.remove:
        server = hosts.parse_nameserver(text)
        if server in servers:
            servers.remove(server)
        elif draft.assumed.repeated_nameservers == "refused":
            raise Refused(INVALID_NAMESERVER, server=text, problem="is no name server of the name")
    for text in wanted.add:
        server = hosts.parse_nameserver(text)
        if server not in servers:
            servers.append(server)
        elif draft.assumed.repeated_nameservers == "refused":
            raise Refused(INVALID_NAMESERVER, server=text, problem="is a name server of the name already")
    if not servers:
        raise Refused(INVALID_NAMESERVER, server=wanted.remove[-1], problem="is the last one: one must stay")
    return servers
