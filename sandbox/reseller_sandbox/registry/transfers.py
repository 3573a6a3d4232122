"""Transfers of a domain from one registrar to another.

The gaining registrar requests the transfer with the code, and the losing one can approve or reject it.
Without a decision, the transfer completes after the zone's transfer period.
"""

from __future__ import annotations

import hmac
from datetime import datetime

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused
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
from reseller_sandbox.values.names import to_unicode


class TransferRequest(purchases.Purchase, frozen=True, kw_only=True):
    """An account's request to transfer a domain that another account or registrar holds.

    If ``forced`` is true, the transfer lock and the domain's age are ignored.
    """

    code: str
    forced: bool = False


def request(draft: Draft, account: Account, purchase: TransferRequest) -> purchases.Placed:
    """Request a transfer from another account or registrar, and charge the price at once.

    Refuse, in this order: as ``zone_of`` does, ``transfers_not_supported``, ``zone_out_of_service``,
    ``privacy_not_offered``, ``invalid_contact``, ``invalid_nameserver``, ``customer_not_found``,
    ``not_registered``, ``already_yours``, ``wrong_state``, ``transfer_pending``, ``locked``, ``too_young``,
    ``wrong_auth_code``, ``period_too_short``, ``period_too_long``, ``premium_cost_required``,
    ``premium_not_taken``, ``price_mismatch``, ``insufficient_funds``.
    """
    zone = zones.zone_of(draft.state, purchase.name)
    if not zone.transfers:
        raise Refused(refusals.TRANSFERS_NOT_SUPPORTED, zone=to_unicode(zone.name))
    zones.require_in_service(zone)
    if purchase.privacy and not zones.offers_privacy(zone, draft.assumed):
        purchase = replace(purchase, privacy=False)
    check(purchase.contacts, purchase.wire_names)
    servers = hosts.parse_nameservers(draft, account.client_id, purchase.nameservers or (), purchase.name)
    if purchase.customer_id is not None:
        customers.own(draft.state, account, purchase.customer_id)
    losing = _require_transferable(draft, account, zone, purchase)
    if not hmac.compare_digest(losing.auth_code.encode(), purchase.code.encode("utf-8", "surrogatepass")):
        raise Refused(refusals.WRONG_AUTH_CODE, name=to_unicode(purchase.name))
    purchases.require_period(draft, losing, purchase.years, always=1)
    years = 1 if draft.assumed.transfer_years == "one" else purchase.years
    special = zones.premium_prices(zone, purchase.name)
    price = zones.transfer_price(zone, special, years)
    purchases.require_cost(draft, purchase.name, special is not None, purchase.cost, price)
    cost = purchases.Cost(price, zones.privacy_price(zone, years, draft.assumed, wanted=purchase.privacy))
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
        status=TransferStatus.PENDING,
        gaining=account.client_id,
        losing=losing.account,
        gaining_order=order.id,
        losing_order=losing.id,
        requested=draft.now,
        completes=completion(draft.now, zone.policy),
        charges=cost.charge(draft, order, Purpose.TRANSFER, years),
    )
    draft.put(transfer)
    return purchases.Placed(order, cost.total)


def _require_transferable(draft: Draft, account: Account, zone: Zone, purchase: TransferRequest) -> Order:
    name = purchase.name
    losing = held_order(draft.state, name)
    if losing is None:
        raise Refused(refusals.NOT_REGISTERED, name=to_unicode(name))
    if losing.account == account.client_id:
        raise Refused(refusals.ALREADY_YOURS, name=to_unicode(name))
    require(draft, losing, Action.TRANSFER_OUT, locks=not purchase.forced)
    since = transfer_lock_start(losing, draft.assumed)
    ready = since + days(zone.policy.transfer_lock)
    if draft.now < ready and not purchase.forced:
        came = "was registered" if since == losing.created else "came by a transfer"
        raise Refused(
            refusals.TOO_YOUNG, name=to_unicode(name), came=came, since=wire(since), ready=wire(ready)
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
    raise Refused(refusals.NO_TRANSFER, name=to_unicode(name), action="see")


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
        raise Refused(
            refusals.NO_TRANSFER, name=to_unicode(name), action=action.key.removesuffix("_transfer")
        )
    require(draft, order, action)
    return transfer


def complete(
    draft: Draft, transfer: Transfer, status: TransferStatus, stage: Stage = Stage.ACTIVE
) -> Transfer:
    """Complete a transfer: the gaining order gets the domain, the paid years and a new code.

    Hosts, name servers (unless the request has others) and the registry's hold stay with the domain. The
    flags, privacy and customer of the former holder do not.
    """
    losing = draft.state.orders[transfer.losing_order]
    gaining = draft.state.orders[transfer.gaining_order]
    draft.remove(losing)
    furthest = years_later(draft.now, LONGEST_TERM)
    expires = max(min(years_later(losing.expires, gaining.years), furthest), losing.expires)
    moved = replace(
        gaining,
        created=losing.created,
        expires=expires,
        arrived=draft.now,
        nameservers=gaining.nameservers or losing.nameservers,
        auth_code=purchases.new_code(draft),
        flags=gaining.flags | (losing.flags & {Flag.SERVER_HOLD}),
    )
    enter(draft, moved, stage)
    return draft.put(replace(transfer, status=status))


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
