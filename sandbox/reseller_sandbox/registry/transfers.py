"""Transfers of a domain from one registrar to another.

The gaining registrar requests the transfer with the code, and the losing one can approve or reject it.
Without a decision, the transfer completes after the zone's transfer period.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from html import unescape

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused, Term
from reseller_sandbox.registry import customers, hosts, ledger, orders, purchases, zones
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contacts import assign, check
from reseller_sandbox.registry.lifecycle import Action, completion, enter, require
from reseller_sandbox.registry.model import (
    LONGEST_TERM,
    OUTSIDE,
    Account,
    Flag,
    Order,
    Purpose,
    Stage,
    Transfer,
    TransferStatus,
    Zone,
)
from reseller_sandbox.registry.state import Draft, State, held_order, pending_transfer
from reseller_sandbox.values.clock import days, wire, years_later
from reseller_sandbox.values.names import shown
from reseller_sandbox.values.text_checks import percent_decoded

#: Changes that software makes to a code on its way to the service: each with a function that takes it back.
_RESTORED: Mapping[str, Callable[[str], str]] = {
    "without the white space at its ends": str.strip,
    "after its HTML entities are decoded": unescape,
    "after its percent-encoding is decoded": percent_decoded,
    "with + in place of blanks": lambda code: code.replace(" ", "+"),
    "without its escaping backslashes": lambda code: re.sub(r"\\(.)", r"\1", code),
}


class TransferRequest(purchases.Purchase, frozen=True, kw_only=True):
    """An account's request to transfer a domain that another account or registrar holds.

    The default of ``years`` is the zone's shortest transfer term. If ``forced`` is true, the transfer lock,
    the domain's age, a recent change of its registrant and the expiry of its code are ignored.
    """

    code: str
    years: int | None = None
    forced: bool = False


def request(draft: Draft, account: Account, purchase: TransferRequest) -> purchases.Placed:
    """Request a transfer from another account or registrar, and charge the price at once.

    Refuse, in this order: as ``zone_of`` does, ``transfers_not_supported``, ``zone_out_of_service``,
    ``privacy_not_offered``, ``invalid_contact``, ``invalid_nameserver``, ``customer_not_found``,
    ``not_registered``, ``already_yours``, ``wrong_state``, ``transfer_pending``, ``locked``, ``too_young``,
    ``registrant_changed``, ``wrong_auth_code``, ``period_too_short``, ``period_too_long``,
    ``premium_cost_required``, ``premium_not_taken``, ``price_mismatch``, ``insufficient_funds``.
    """
    zone = zones.zone_of(draft.state, purchase.name)
    if not zone.transfers:
        raise Refused(refusals.TRANSFERS_NOT_SUPPORTED, zone=shown(zone.name))
    zones.require_in_service(zone)
    if purchase.privacy and not zones.offers_privacy(zone, draft.assumed):
        purchase = replace(purchase, privacy=False)
    check(draft, purchase.contacts, purchase.wire_names)
    servers: tuple[str, ...] = ()
    if purchase.nameservers:
        servers = hosts.parse_nameservers(draft, account.client_id, purchase.nameservers, purchase.name, zone)
    if purchase.customer_id is not None:
        customers.own(draft.state, account, purchase.customer_id)
    losing = _require_transferable(draft, account, zone, purchase)
    if not hmac.compare_digest(losing.auth_code.encode(), purchase.code.encode("utf-8", "surrogatepass")):
        way = next(
            (way for way, restore in _RESTORED.items() if restore(purchase.code) == losing.auth_code), ""
        )
        reason = f": it is the code {way}" if way else ""
        raise Refused(refusals.WRONG_AUTH_CODE, name=shown(purchase.name), reason=reason)
    expired = losing.auth_code_expires
    if expired is not None and expired <= draft.now and not purchase.forced:
        reason = f": that code expired on {wire(expired)}"
        raise Refused(refusals.WRONG_AUTH_CODE, name=shown(purchase.name), reason=reason)
    years = _years(draft, zone, losing, purchase.years)
    special = zones.premium_prices(zone, purchase.name)
    price = zones.transfer_price(zone, special, years)
    purchases.require_cost(draft, purchase.name, special is not None, purchase.cost, price)
    added = zones.added_years(zone, years)
    protection = zones.privacy_price(zone, added or 1, draft.assumed, wanted=purchase.privacy)
    cost = purchases.Cost(price, protection)
    ledger.require_funds(account, cost.total)
    order = purchases.new_order(
        draft,
        account,
        purchase,
        zone=losing.zone,
        stage=Stage.ARRIVING,
        created=losing.created,
        expires=losing.expires,
        contacts=assign(draft, account, purchase.contacts),
        nameservers=servers,
        years=years,
    )
    order = enter(draft, order, Stage.ARRIVING)
    transfer = Transfer(
        name=purchase.name,
        gaining=account.client_id,
        losing=losing.account,
        gaining_order=order.id,
        losing_order=losing.id,
        requested=draft.now,
        completes=completion(draft.now, zone.policy),
        charges=cost.charge(draft, order, Purpose.TRANSFER, added),
    )
    draft.put(transfer)
    return purchases.Placed(order, cost.total)


def _years(draft: Draft, zone: Zone, losing: Order, wanted: int | None) -> int:
    """Return the years of a transfer, or refuse the number of years that the client wants."""
    least = zone.min_transfer_years
    asked = least if wanted is None else wanted
    if zone.transfer_term == "extends":
        purchases.require_period(draft, losing, asked, least, always=least)
    else:
        zones.require_period(losing.name, asked, least, max(least, zone.max_years))
    return least if draft.assumed.transfer_years == "one" else asked


def _require_transferable(draft: Draft, account: Account, zone: Zone, purchase: TransferRequest) -> Order:
    name = purchase.name
    losing = held_order(draft.state, name)
    if losing is None:
        raise Refused(refusals.NOT_REGISTERED, name=shown(name))
    if losing.account == account.client_id:
        raise Refused(refusals.ALREADY_YOURS, name=shown(name))
    require(draft, losing, Action.TRANSFER_OUT, locks=not purchase.forced, term=Term.TRANSFER_REQUEST)
    since = transfer_lock_start(losing, draft.assumed)
    ready = since + days(zone.policy.transfer_lock)
    if draft.now < ready and not purchase.forced:
        came = "was registered" if since == losing.created else "came by a transfer"
        raise Refused(refusals.TOO_YOUNG, name=shown(name), came=came, since=wire(since), ready=wire(ready))
    if losing.registrant_changed is not None and not purchase.forced:
        ready = losing.registrant_changed + days(zone.policy.registrant_change_lock)
        if draft.now < ready:
            raise Refused(
                refusals.REGISTRANT_CHANGED,
                name=shown(name),
                since=wire(losing.registrant_changed),
                ready=wire(ready),
            )
    return losing


def transfer_lock_start(order: Order, assumed: Assumptions) -> datetime:
    """Return the start of the period in which a domain cannot be transferred."""
    if order.arrived is None or assumed.transfer_lock_from == "creation":
        return order.created
    return order.arrived


def latest(draft: Draft, account: Account, name: str) -> Transfer:
    """Return the latest transfer of a domain, if ``account`` was a party to it.

    Otherwise, refuse with ``no_transfer`` if the account holds the domain, or with ``domain_not_found``.
    """
    transfer = draft.state.transfers.get(name)
    if transfer is not None and account.client_id in (transfer.gaining, transfer.losing):
        return transfer
    orders.own(draft.state, account, name)
    raise Refused(refusals.NO_TRANSFER, name=shown(name), action="see")


def approve(draft: Draft, account: Account, name: str) -> Transfer:
    """Approve a transfer as the domain's holder, so that the transfer completes at once."""
    transfer = _pending(draft, account, name, "losing_order", Action.APPROVE_TRANSFER)
    return complete(draft, transfer, TransferStatus.CLIENT_APPROVED)


def reject(draft: Draft, account: Account, name: str) -> Transfer:
    """Reject a transfer as the domain's holder, and refund the gaining account."""
    transfer = _pending(draft, account, name, "losing_order", Action.REJECT_TRANSFER)
    return fail(draft, transfer, TransferStatus.CLIENT_REJECTED)


def cancel(draft: Draft, account: Account, name: str) -> Transfer:
    """Cancel a transfer as the gaining account, which gets a refund."""
    transfer = _pending(draft, account, name, "gaining_order", Action.CANCEL_TRANSFER)
    return fail(draft, transfer, TransferStatus.CLIENT_CANCELLED)


def _pending(draft: Draft, account: Account, name: str, side: str, action: Action) -> Transfer:
    """Return the domain's pending transfer. Its order ``side`` must be the account's order.

    ``side`` is ``gaining_order`` or ``losing_order``. Refuse if there is no such transfer, or if the order's
    stage forbids ``action``.
    """
    order = orders.own(draft.state, account, name)
    transfer = pending_transfer(draft.state, name)
    if transfer is None or getattr(transfer, side) != order.id:
        raise Refused(refusals.NO_TRANSFER, name=shown(name), action=action.key.removesuffix("_transfer"))
    require(draft, order, action)
    return transfer


def complete(
    draft: Draft, transfer: Transfer, status: TransferStatus, stage: Stage = Stage.ACTIVE
) -> Transfer:
    """Complete a transfer: the gaining order gets the domain, its new term and a new code.

    Hosts, name servers (unless the request has others) and the registry's hold stay with the domain. The
    flags, privacy and customer of the former holder do not. A recent automatic renewal is taken back, because
    the transfer sets the term.
    """
    losing = draft.state.orders[transfer.losing_order]
    gaining = draft.state.orders[transfer.gaining_order]
    draft.remove(losing)
    sets_term = draft.state.zones[losing.zone].transfer_term != "unchanged"
    if sets_term and losing.last_renewal is not None and losing.last_renewal.automatic:
        losing = purchases.take_back_renewal(draft, losing).order
    moved = replace(
        gaining,
        created=losing.created,
        expires=_end_of_term(draft, losing, gaining.years),
        arrived=draft.now,
        nameservers=gaining.nameservers or losing.nameservers,
        **purchases.auth_code(draft, losing.zone),
        flags=gaining.flags | (losing.flags & {Flag.SERVER_HOLD}),
    )
    enter(draft, moved, stage)
    return draft.put(replace(transfer, status=status))


def _end_of_term(draft: Draft, losing: Order, years: int) -> datetime:
    """Return the expiry date after a transfer for ``years``, which the zone's ``transfer_term`` decides."""
    match draft.state.zones[losing.zone].transfer_term:
        case "unchanged":
            return losing.expires
        case "restarts":
            return years_later(draft.now, years)
    furthest = years_later(draft.now, LONGEST_TERM)
    return max(min(years_later(losing.expires, years), furthest), losing.expires)


def fail(draft: Draft, transfer: Transfer, status: TransferStatus) -> Transfer:
    """End a transfer without effect: remove and refund the gaining order."""
    draft.remove(draft.state.orders[transfer.gaining_order])
    ledger.refund(draft, transfer.charges)
    return draft.put(replace(transfer, status=status))


def fail_pending(draft: Draft, name: str) -> Transfer | None:
    """End the pending transfer, if there is one, of a domain that is released or deleted.

    Return the ended transfer, or None.
    """
    transfer = pending_transfer(draft.state, name)
    return transfer and fail(draft, transfer, TransferStatus.SERVER_CANCELLED)


def local_order(state: State, transfer: Transfer) -> Order:
    """Return the gaining order, or the losing order if another registrar gets the domain."""
    gained = transfer.gaining != OUTSIDE
    return state.orders[transfer.gaining_order if gained else transfer.losing_order]
