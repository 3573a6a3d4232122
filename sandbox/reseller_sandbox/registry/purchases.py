"""Purchases: registration, renewal and restore of a domain, and their cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry import contacts, customers, hosts, ledger, zones
from reseller_sandbox.registry.contacts import ContactInput
from reseller_sandbox.registry.lifecycle import Action, enter, leaving, require
from reseller_sandbox.registry.model import (
    LONGEST_TERM,
    NO_FLAGS,
    Account,
    Flag,
    Order,
    Premium,
    Purpose,
    Renewal,
    Stage,
    Zone,
)
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.values import money, patterns
from reseller_sandbox.values.clock import days, local_date, years_later
from reseller_sandbox.values.names import shown, to_unicode

_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
CODE_LENGTH = 12

_TOO_FAR_AHEAD = f", because a term ends at most {LONGEST_TERM} years from now"

#: The value of ``cost`` for a client that accepts any price.
ANY_PRICE: Final = "whatever it costs"
Agreed = Decimal | Literal["whatever it costs"] | None


class Purchase(Struct, frozen=True, kw_only=True):
    """An account's request to register or transfer the domain ``name``.

    ``contacts`` maps roles to contact details or handles. ``wire_names`` maps roles and fields to their names
    in the request. ``cost`` is the price that the client agreed to. Without ``nameservers``, a transfer keeps
    the domain's name servers, and a registration uses those of the account.
    """

    name: str
    cost: Agreed = None
    contacts: Mapping[str, ContactInput] = field(default_factory=dict)
    wire_names: Mapping[str, str] = field(default_factory=dict)
    nameservers: Sequence[str] | None = None
    customer_id: int | None = None
    privacy: bool = False
    autorenew: bool = False
    transfer_lock: bool = False


class Cost(NamedTuple):
    """A cost: ``price`` for the domain, and ``protection`` for whois protection.

    The price that a client agrees to (``purchaseCost``) is ``price`` alone.
    """

    price: Decimal
    protection: Decimal

    @property
    def total(self) -> Decimal:
        """The amount to charge: the price of the domain and of whois protection."""
        return self.price + self.protection

    def charge(self, draft: Draft, order: Order, purpose: Purpose, years: int) -> tuple[int, ...]:
        """Charge this cost to the order's account. Return the ids of the ledger entries."""
        paid = ledger.charge(draft, order, self.price, purpose, years)
        return paid + ledger.charge(draft, order, self.protection, Purpose.PRIVACY, years)


class Placed(NamedTuple):
    """An order after an operation, and the amount that the account paid."""

    order: Order
    paid: Decimal


def auth_code(draft: Draft, zone: str, code: str | None = None) -> dict[str, object]:
    """Return the fields of an order for the authorization code ``code``, or for a new code.

    The state's seed determines all new codes. The zone's policy decides when the code expires.
    """
    period = draft.state.zones[zone].policy.auth_code_days
    return {
        "auth_code": code or auth_code_at(draft.base.seed, draft.next("auth_code")),
        "auth_code_expires": draft.now + days(period) if period else None,
    }


def new_order(draft: Draft, account: Account, purchase: Purchase, **more: Any) -> Order:
    """Return an order for ``purchase`` with a new id. The caller must add it to the draft.

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
        flags=frozenset({Flag.TRANSFER_PROHIBITED}) if purchase.transfer_lock else NO_FLAGS,
        **more,
    )


def auth_code_at(seed: str, number: int) -> str:
    """Return the authorization code with ``number`` (1, 2, …) in a state with ``seed``."""
    digest = hashlib.sha256(f"{seed}/auth_code/{number}".encode()).digest()
    rest, letters = int.from_bytes(digest) % len(_CODE_LETTERS) ** CODE_LENGTH, ""
    for _ in range(CODE_LENGTH):
        rest, at = divmod(rest, len(_CODE_LETTERS))
        letters += _CODE_LETTERS[at]
    return letters


def require_cost(
    draft: Draft, name: str, premium: bool, agreed: Agreed, price: Decimal, *, always: bool = False
) -> None:
    """Refuse if the client agreed to a price other than ``price``.

    ``price`` is for all years. For a premium name, the client must agree to a price if ``always`` is true or
    ``v3.purchase_cost`` is ``premium_everywhere``. For an ordinary name, an agreed price is checked only if
    ``v3.purchase_cost`` is ``whenever_given``.
    """
    if isinstance(agreed, str):  # ANY_PRICE
        if premium and draft.assumed.premium_names == "refused":
            raise Refused(refusals.PREMIUM_NOT_TAKEN, name=shown(name), price=money.write(price))
        return
    if agreed is None and premium and (always or draft.assumed.purchase_cost == "premium_everywhere"):
        raise Refused(refusals.PREMIUM_COST_REQUIRED, name=shown(name), price=money.write(price))
    if agreed is None or (not premium and draft.assumed.purchase_cost != "whenever_given"):
        return
    if agreed != price:
        raise Refused(
            refusals.PRICE_MISMATCH, given=money.write(agreed), name=shown(name), price=money.write(price)
        )


def zone_and_premium(state: State, order: Order) -> tuple[Zone, Premium | None]:
    """Return the zone of an order, and the premium prices of its domain or None."""
    zone = state.zones[order.zone]
    return zone, zones.premium_prices(zone, order.name)


def renewal_cost(draft: Draft, order: Order, years: int = 1) -> Cost:
    """Return the cost of a renewal of ``order`` by ``years`` at the current instant."""
    zone, special = zone_and_premium(draft.state, order)
    protected = order.privacy and zone.prices.privacy and draft.assumed.privacy_renewal == "charged"
    protection = zones.privacy_price(zone, years, draft.assumed, wanted=bool(protected))
    return Cost(zones.renewal_price(zone, special, years, draft.now), protection)


class Registration(Purchase, frozen=True, kw_only=True):
    """An account's request to register a domain.

    ``requirements`` holds the additional values that the registry requires. Their paths in the request begin
    with ``requirements_path``.
    """

    years: int = 1
    requirements: Mapping[str, str] = field(default_factory=dict)
    requirements_path: str = ""


class Availability(NamedTuple):
    """The availability and prices of ``name``, which is free unless taken or reserved."""

    name: str
    zone: Zone
    taken: bool
    reserved: bool
    premium: Premium | None
    purchase: Decimal
    renewal: Decimal


def availability(draft: Draft, name: str) -> Availability:
    """Return the availability and prices of ``name``, or refuse as ``zone_of`` does."""
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


def require_free(draft: Draft, account: Account, zone: Zone, name: str) -> None:
    """Refuse with ``name_taken`` or ``name_reserved`` unless ``account`` can register the domain ``name``."""
    if name in draft.state.holding_order or (account.client_id, name) in draft.state.own_order:
        raise Refused(refusals.NAME_TAKEN, name=shown(name))
    if _is_reserved(draft, zone, name):
        raise Refused(refusals.NAME_RESERVED, name=shown(name))


def register(draft: Draft, account: Account, purchase: Registration) -> Placed:
    """Register a domain for ``account`` and charge the price.

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
    if purchase.wire_names:
        required = contacts.roles_required(draft.assumed)
        contacts.check(draft, purchase.contacts, purchase.wire_names, required)
    handles = contacts.assign(draft, account, purchase.contacts)
    if purchase.customer_id is not None:
        customers.own(draft.state, account, purchase.customer_id)
    nameservers = account.nameservers if purchase.nameservers is None else purchase.nameservers
    servers = hosts.parse_nameservers(draft, account.client_id, nameservers, purchase.name, zone)
    license_number = _license(draft, zone, purchase) if zone.license else ""
    require_free(draft, account, zone, purchase.name)
    price = zones.registration_price(zone, premium, purchase.years, draft.now)
    require_cost(draft, purchase.name, premium is not None, purchase.cost, price, always=True)
    cost = Cost(price, zones.privacy_price(zone, purchase.years, draft.assumed, wanted=purchase.privacy))
    ledger.require_funds(account, cost.total)
    order = registration_order(
        draft, account, zone, purchase, contacts=handles, nameservers=servers, license=license_number
    )
    paid = cost.charge(draft, order, Purpose.REGISTRATION, purchase.years)
    return Placed(enter(draft, order, order.stage, registration=paid), cost.total)


def registration_order(
    draft: Draft, account: Account, zone: Zone, purchase: Registration, **more: object
) -> Order:
    """Return an order for a registration, with a new id. The caller must add it to the draft.

    ``more`` are additional fields of the order.
    """
    return new_order(
        draft,
        account,
        purchase,
        zone=zone.name,
        stage=Stage.REQUESTED if draft.assumed.order_processing else Stage.ACTIVE,
        created=draft.now,
        expires=years_later(draft.now, purchase.years),
        years=purchase.years,
        **auth_code(draft, zone.name),
        **more,
    )


def _license(draft: Draft, zone: Zone, purchase: Registration) -> str:
    """Return the licence number that the zone requires, or refuse."""
    field = purchase.requirements_path + draft.assumed.license
    number = purchase.requirements.get(draft.assumed.license, "")
    if not number:
        raise Refused(refusals.LICENSE_REQUIRED, zone=shown(zone.name), field=field)
    if not patterns.matches(zone.license, number):
        raise Refused(refusals.INVALID_LICENSE, field=field, given=number[:80], pattern=zone.license)
    return number


def renew(
    draft: Draft,
    order: Order,
    years: int,
    agreed: Agreed = None,
    expected: date | None = None,
    end: date | None = None,
    *,
    free: bool = False,
) -> Placed:
    """Renew a domain for ``years`` by request, and charge the price unless the renewal is ``free``.

    ``expected`` is the current end of the term as the client knows it, and ``end`` the new end that the
    client expects. Refuse as ``require`` does, then with ``zone_out_of_service``, ``expiry_mismatch``,
    ``period_too_short``, ``period_too_long``, ``end_mismatch``, ``premium_cost_required``,
    ``premium_not_taken``, ``price_mismatch``, ``insufficient_funds``.
    """
    move = require(draft, order, Action.RENEW)
    zone, special = zone_and_premium(draft.state, order)
    zones.require_in_service(zone)
    expires = local_date(order.expires, draft.assumed.time_zone) if expected or end else None
    if expected not in (None, expires):
        raise Refused(refusals.EXPIRY_MISMATCH, name=shown(order.name), expires=expires, given=expected)
    require_period(draft, order, years, zone.min_renewal_years)
    later = local_date(years_later(order.expires, years), draft.assumed.time_zone) if end else None
    if end != later:
        raise Refused(refusals.END_MISMATCH, name=shown(order.name), years=years, end=later, given=end)
    price = Cost(money.NOTHING, money.NOTHING) if free else renewal_cost(draft, order, years)
    if not free:
        require_cost(draft, order.name, special is not None, agreed, price.price)
    ledger.require_funds(draft.state.accounts[order.account], price.total)
    assert move.target is not None
    return _carried_out(draft, order, years, price, move.target)


def renew_itself(draft: Draft, order: Order, stage: Stage) -> Placed:
    """Renew a domain automatically for the shortest period of its zone, and move its order to ``stage``.

    The caller has checked with ``blocked_by`` that the renewal is possible.
    """
    years = draft.state.zones[order.zone].min_renewal_years
    return _carried_out(draft, order, years, renewal_cost(draft, order, years), stage, automatic=True)


def _carried_out(
    draft: Draft, order: Order, years: int, price: Cost, stage: Stage, *, automatic: bool = False
) -> Placed:
    paid = price.charge(draft, order, Purpose.RENEWAL, years)
    policy = draft.state.zones[order.zone].policy
    refundable = policy.autorenew_grace if automatic else policy.renew_grace
    last = Renewal(at=draft.now, before=order.expires, automatic=automatic, charges=paid)
    renewed = replace(
        order,
        expires=years_later(order.expires, years),
        renewals=order.renewals + paid if draft.now < order.created + days(policy.add_grace) else (),
        last_renewal=last if refundable else None,
    )
    return Placed(enter(draft, renewed, stage), ledger.total(draft, paid))


def take_back_renewal(draft: Draft, order: Order) -> Placed:
    """Take back the last renewal of ``order`` within its grace period: refund it, and restore the old term.

    Return the order, which the caller must add to the draft, and the refund.
    """
    last, back = order.last_renewal, money.NOTHING
    if last is not None:
        grace = "autorenew_grace" if last.automatic else "renew_grace"
        if draft.now < last.at + days(getattr(draft.state.zones[order.zone].policy, grace)):
            back = ledger.refund(draft, last.charges, grace=grace)
            order = replace(order, expires=last.before)
    return Placed(replace(order, last_renewal=None), back)


#: These words are in the reason if the balance is too low. By these words, the package ``advice`` finds the
#: events of failed renewals.
UNPAID = "are needed and the balance is"


def blocked_by(draft: Draft, order: Order) -> str:
    """Return the reason that prevents an automatic renewal, or an empty string."""
    state = draft.state
    account, zone = state.accounts[order.account], state.zones[order.zone]
    if Flag.RENEW_PROHIBITED in order.flags:
        return f"{Flag.RENEW_PROHIBITED} is set"
    if leaving(state, order):
        return "a transfer to another registrar is pending"
    if not zone.in_service:
        return f"the zone {to_unicode(order.zone)} is out of service"
    if years_later(order.expires, zone.min_renewal_years) > years_later(draft.now, LONGEST_TERM):
        return f"a term ends at most {LONGEST_TERM} years from now"
    needed = renewal_cost(draft, order, zone.min_renewal_years).total
    if not ledger.can_pay(account, needed):
        have, currency = money.write(account.balance), account.currency
        return f"{money.write(needed)} {currency} {UNPAID} {have} {currency}"
    return ""


def years_left(draft: Draft, order: Order) -> int:
    """Return the number of years that a renewal can add before the longest term is reached."""
    furthest = years_later(draft.now, LONGEST_TERM)
    return sum(years_later(order.expires, count) <= furthest for count in range(1, LONGEST_TERM + 1))


def require_period(draft: Draft, order: Order, years: int, least: int, always: int = 0) -> None:
    """Refuse a number of ``years`` that cannot be added to a domain's term.

    The refusals are ``period_too_short`` (below ``least``) and ``period_too_long``. Up to ``always`` years
    are allowed in any case, even beyond the longest term.
    """
    longest = draft.state.zones[order.zone].max_years
    limit = max(always, min(longest, years_left(draft, order)))
    zones.require_period(order.name, years, least, limit, _TOO_FAR_AHEAD if limit < longest else "")


def restore(draft: Draft, order: Order) -> Placed:
    """Restore a domain from redemption.

    The zone's policy ``restore_years`` decides whether the restore also adds the shortest renewal.
    """
    move = require(draft, order, Action.RESTORE)
    zone, special = zone_and_premium(draft.state, order)
    zones.require_in_service(zone)
    due = {"always": True, "never": False}.get(zone.policy.restore_years, order.expires <= draft.now)
    years = min(zone.min_renewal_years, years_left(draft, order)) if due else 0
    price = zones.restore_price(zone, special, years)
    ledger.charge(draft, order, price, Purpose.RESTORE, years)
    assert move.target is not None
    restored = enter(draft, replace(order, expires=years_later(order.expires, years)), move.target)
    return Placed(restored, price)
