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


def register(draft: Draft, account: Account, wanted: Registration) -> Placed:
    """Register a domain.

    Refuse, in this order: as ``zone_of`` does, ``zone_out_of_service``, ``period_too_short``,
    ``period_too_long``, ``privacy_not_offered``, ``contacts_required``, ``invalid_contact``,
    ``contact_not_found``, ``customer_not_found``, ``invalid_nameserver``, ``license_required``,
    ``invalid_license``, ``name_taken``, ``name_reserved``, ``premium_cost_required``, ``premium_not_taken``,
    ``price_mismatch``, ``insufficient_funds``.
    """
    zone = zones.zone_of(draft.state, wanted.name)
    premium = zones.premium_prices(zone, wanted.name)
    zones.require_in_service(zone)
    zones.require_period(wanted.name, wanted.years, zone.min_years, zone.max_years)
    if wanted.privacy and not zones.offers_privacy(zone, draft.assumed):
        wanted = replace(wanted, privacy=False)
    handles = _contacts(draft, account, wanted)
    if wanted.customer_id is not None:
        customers.own(draft.state, account, wanted.customer_id)
    asked = account.nameservers if wanted.nameservers is None else wanted.nameservers
    servers = hosts.parse_nameservers(draft, account.client_id, asked, wanted.name)
    license_number = _license(draft, zone, wanted)
    held = wanted.name in draft.state.holding_order
    if held or (account.client_id, wanted.name) in draft.state.own_order:
        raise Refused(refusals.NAME_TAKEN, name=to_unicode(wanted.name))
    if _is_reserved(draft, zone, wanted.name):
        raise Refused(refusals.NAME_RESERVED, name=to_unicode(wanted.name))
    price = zones.registration_price(zone, premium, wanted.years, draft.now)
    require_cost(draft, wanted.name, premium is not None, wanted.cost, price, always=True)
    cost = Cost(price, zones.privacy_price(zone, wanted.years, draft.assumed, wanted=wanted.privacy))
    ledger.require_funds(account, cost.total)
    order = new_order(
        draft, account, zone, wanted, contacts=handles, nameservers=servers, license=license_number
    )
    paid = cost.charge(draft, order, Purpose.REGISTRATION, wanted.years)
    return Placed(enter(draft, order, order.stage, registration=paid), cost.total)


def _contacts(draft: Draft, account: Account, wanted: Registration) -> RoleHandles:
    if wanted.wire_names:
        contacts.require_roles(draft, wanted.contacts, wanted.wire_names)
        contacts.check(wanted.contacts, wanted.wire_names)
    return contacts.assign(draft, account, wanted.contacts)


def new_order(
    draft: Draft,
    account: Account,
    zone: Zone,
    wanted: Registration,
    *,
    contacts: RoleHandles | None = None,
    **more: Any,
) -> Order:
    """Return a new order for ``wanted``, not written yet.

    Without ``contacts``, it has the account's contact in all roles. ``more`` are additional fields of the
    order.
    """
    return orders.new_order(
        draft,
        account,
        wanted,
        zone=zone.name,
        stage=Stage.REQUESTED if draft.assumed.order_processing else Stage.ACTIVE,
        created=draft.now,
        expires=years_later(draft.now, wanted.years),
        contacts=contacts or RoleHandles(**dict.fromkeys(ROLES, account.contact)),
        auth_code=orders.new_code(draft),
        years=wanted.years,
        **more,
    )


def _license(draft: Draft, zone: Zone, wanted: Registration) -> str:
    """Return the licence number, or an empty text if the zone requires none."""
    if not zone.license:
        return ""
    field = wanted.requirements_path + draft.assumed.license
    given = wanted.requirements.get(draft.assumed.license, "")
    if not given:
        raise Refused(refusals.LICENSE_REQUIRED, zone=to_unicode(zone.name), field=field)
    if not patterns.matches(zone.license, given):
        raise Refused(refusals.INVALID_LICENSE, field=field, given=given[:80], pattern=zone.license)
    return given
