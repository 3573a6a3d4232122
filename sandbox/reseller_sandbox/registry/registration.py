"""Registration: the availability and price of a domain, and its order."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec import field
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry import contacts, customers, hosts, ledger, orders, zones
from reseller_sandbox.registry.lifecycle import enter
from reseller_sandbox.registry.model import ROLES, Account, Order, Premium, Purpose, RoleHandles, Stage, Zone
from reseller_sandbox.registry.orders import Cost, Placed, Purchase, require_cost
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values import patterns
from reseller_sandbox.values.clock import years_later
from reseller_sandbox.values.names import to_unicode


class Registration(Purchase, frozen=True, kw_only=True):
    """The request of an account to register a domain.

    ``requirements`` holds the additional values that the registry requires. Their paths in the request begin
    with ``requirements_path``.
    """

    requirements: Mapping[str, str] = field(default_factory=dict)
    requirements_path: str = ""


class Availability(NamedTuple):
    """The availability and prices of ``name``. It is free if not taken or reserved."""

    name: str
    zone: Zone
    taken: bool
    reserved: bool
    premium: Premium | None
    purchase: Decimal
    renewal: Decimal


def availability(draft: Draft, name: str) -> Availability:
    """Return the availability and price of ``name``. Refuse as ``zone_of`` does."""
    zone = zones.zone_of(draft.state, name)
    premium = zones.premium_prices(zone, name)
    return Availability(
        name=name,
        zone=zone,
        taken=name in draft.state.holding_order,
        reserved=_is_reserved(draft, zone, name),
        premium=premium,
        purchase=zones.registration_price(zone, premium, 1, draft.now),
        renewal=zones.renewal_price(zone, premium, 1, draft.now),
    )


def _is_reserved(draft: Draft, zone: Zone, name: str) -> bool:
    return zones.label_of(name, zone) in zone.reserved or name in draft.state.zones


def register(draft: Draft, account: Account, purchase: Registration) -> Placed:
    """Register a domain.

    Refuse, in this order: as ``zone_of`` does, ``zone_out_of_service``, ``period_too_short``,
    ``period_too_long``, ``privacy_not_offered``, ``contacts_required``, ``invalid_contact``,
    ``contact_not_found``, ``customer_not_found``, ``invalid_nameserver``, ``license_required``,
    ``invalid_license``, ``name_taken``, ``name_reserved``, ``premium_cost_required``, ``premium_not_taken``,
    ``price_mismatch``, ``insufficient_funds``.
    """
    zone = zones.zone_of(draft.state, purchase.name)
    premium = zones.premium_prices(zone, purchase.name)
    zones.require_in_service(zone)
    zones.require_period(purchase.name, purchase.years, zone.min_years, zone.max_years)
    if purchase.privacy and not zones.offers_privacy(zone, draft.assumed):
        purchase = replace(purchase, privacy=False)
    handles = _contacts(draft, account, purchase)
    if purchase.customer_id is not None:
        customers.own(draft.state, account, purchase.customer_id)
    nameservers = account.nameservers if purchase.nameservers is None else purchase.nameservers
    servers = hosts.parse_nameservers(draft, account.client_id, nameservers, purchase.name)
    license_number = _license(draft, zone, purchase)
    taken = purchase.name in draft.state.holding_order
    if taken or (account.client_id, purchase.name) in draft.state.own_order:
        raise Refused(refusals.NAME_TAKEN, name=to_unicode(purchase.name))
    if _is_reserved(draft, zone, purchase.name):
        raise Refused(refusals.NAME_RESERVED, name=to_unicode(purchase.name))
    price = zones.registration_price(zone, premium, purchase.years, draft.now)
    require_cost(draft, purchase.name, premium is not None, purchase.cost, price, always=True)
    cost = Cost(price, zones.privacy_price(zone, purchase.years, draft.assumed, wanted=purchase.privacy))
    ledger.require_funds(account, cost.total)
    order = new_order(
        draft, account, zone, purchase, contacts=handles, nameservers=servers, license=license_number
    )
    paid = cost.charge(draft, order, Purpose.REGISTRATION, purchase.years)
    return Placed(enter(draft, order, order.stage, registration=paid), cost.total)


def _contacts(draft: Draft, account: Account, purchase: Registration) -> RoleHandles:
    if purchase.wire_names:
        contacts.require_roles(draft, purchase.contacts, purchase.wire_names)
        contacts.check(purchase.contacts, purchase.wire_names)
    return contacts.assign(draft, account, purchase.contacts)


def new_order(
    draft: Draft,
    account: Account,
    zone: Zone,
    purchase: Registration,
    *,
    contacts: RoleHandles | None = None,
    **more: Any,
) -> Order:
    """Return a new order for ``purchase``, not written yet.

    Without ``contacts``, it has the account's contact in all roles. ``more`` are additional fields of the
    order.
    """
    return orders.new_order(
        draft,
        account,
        purchase,
        zone=zone.name,
        stage=Stage.REQUESTED if draft.assumed.order_processing else Stage.ACTIVE,
        created=draft.now,
        expires=years_later(draft.now, purchase.years),
        contacts=contacts or RoleHandles(**dict.fromkeys(ROLES, account.contact)),
        auth_code=orders.new_code(draft),
        years=purchase.years,
        **more,
    )


def _license(draft: Draft, zone: Zone, purchase: Registration) -> str:
    """Return the licence number, or an empty text if the zone requires none."""
    if not zone.license:
        return ""
    field = purchase.requirements_path + draft.assumed.license
    number = purchase.requirements.get(draft.assumed.license, "")
    if not number:
        raise Refused(refusals.LICENSE_REQUIRED, zone=to_unicode(zone.name), field=field)
    if not patterns.matches(zone.license, number):
        raise Refused(refusals.INVALID_LICENSE, field=field, given=number[:80], pattern=zone.license)
    return number
