"""The objects of v3 that several operations share: contacts, domains and their envelope."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from marshmallow import Schema, ValidationError, fields, post_load, pre_load, validate
from msgspec.structs import astuple

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused, Rule
from reseller_sandbox.registry import orders, zones
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contacts import ContactInput
from reseller_sandbox.registry.customers import is_missing
from reseller_sandbox.registry.model import CARD_FIELDS, HOLDS, ROLES, Card, Flag, Order, Stage, Zone
from reseller_sandbox.registry.purchases import renewal_cost
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.values.clock import local
from reseller_sandbox.values.names import written
from reseller_sandbox.values.text_checks import nearest
from reseller_sandbox.web.fields import (
    Array,
    Boolean,
    CachedObject,
    ContactString,
    InnerObject,
    Instant,
    LongAmount,
    Shape,
    Shaped,
    SpacedInstant,
    String,
    StringOrInteger,
)
from reseller_sandbox.web.interface import Call, Endpoint, route

#: The rules that check the body of a request, even an empty body.
BODY = (r.UNSUPPORTED_MEDIA_TYPE, r.MALFORMED_BODY, r.INVALID_PARAMETER)

#: The rules for finding one of the account's domains, in the order of the checks.
FOUND = (r.INVALID_NAME, r.DOMAIN_NOT_FOUND)

#: The rules that check a term, and the rules that check a price.
PERIOD = (r.PERIOD_TOO_SHORT, r.PERIOD_TOO_LONG)
PRICED = (r.PREMIUM_COST_REQUIRED, r.PRICE_MISMATCH, r.INSUFFICIENT_FUNDS)

STATUSES = ("active", "suspended", "pending")

#: The v3 names of contact roles and of the fields of contact details.
WIRE_NAMES = {
    **{role: f"{'reg' if role == 'registrant' else role}-contact" for role in ROLES},
    "name": "name",
    "company": "company-name",
    "address": "address1",
    "city": "city",
    "region": "state",
    "zip": "zipcode",
    "country": "country",
    "phone": "phone",
    "fax": "fax",
    "mail": "email",
}


#: The fields that a contact must have, by the values of ``v3.contacts.fields``.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "default": ("name", "address", "city", "country", "phone", "mail", "zip"),
    "all": CARD_FIELDS,
}


@cache
def wire_names_below(path: str) -> Mapping[str, str]:
    """Return the wire names, with ``path`` before the names of roles (``contacts.reg-contact``)."""
    return {**WIRE_NAMES, **{role: f"{path}.{WIRE_NAMES[role]}" for role in ROLES}}


def _text(attribute: str) -> dict[str, Any]:
    return {"attribute": attribute, "data_key": WIRE_NAMES[attribute]}


def _card(kind: type[String]) -> object:
    """Return a schema with the fields of contact details, which have the type ``kind``."""
    return Shape.from_dict({name: kind(**_text(name)) for name in WIRE_NAMES if name in CARD_FIELDS})


def _by_role(contact: type[Shape]) -> object:
    """Return a schema with a contact for each role."""
    return Shape.from_dict({role: InnerObject(contact, **_text(role)) for role in ROLES})


class V3Contact(_card(String)):  # type: ignore[misc]
    """Contact details."""


class V3ContactRequest(_card(ContactString)):  # type: ignore[misc]
    """Contact details in a request."""

    zip = StringOrInteger(**_text("zip"))

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that the assumption ``v3.contacts.fields`` makes required."""
        return tuple(WIRE_NAMES[field] for field in _NEEDED[assumed.contacts_fields])


class V3Contacts(_by_role(V3Contact)):  # type: ignore[misc]
    """The four contacts of a domain, by role."""


class Cards(NamedTuple):
    """The contact details of a domain's four contacts."""

    registrant: Card
    admin: Card
    tech: Card
    billing: Card


class ContactsRequest(_by_role(V3ContactRequest)):  # type: ignore[misc]
    """Contacts by role in a request. An unknown role is an error."""

    @pre_load
    def require_known_roles(self, contacts: object, **_: object) -> object:
        """Return ``contacts``. Raise an error with a suggestion if a key is not a role."""
        roles = [str(field.data_key) for field in self.fields.values()]
        unknown = [key for key in contacts if key not in roles] if isinstance(contacts, Mapping) else []
        if unknown:
            listed = f"; the roles are {', '.join(roles)}"
            raise ValidationError(
                {key[:60]: f"is not a contact role{nearest(key, roles) or listed}" for key in unknown}
            )
        return contacts


class Domain(Shape):
    """A domain in a response."""

    domainName = String()
    nameservers = Array(String())
    contacts = InnerObject(V3Contacts)
    privacyEnabled = Boolean()
    lockedEnabled = Boolean()
    autorenewEnabled = Boolean()
    createDate = Instant()
    expireDate = Instant()
    renewalCost = LongAmount()
    updateProhibited = Boolean()

    def optional_keys(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return the update lock, which is shown once it was used."""
        return ("updateProhibited",)

    def absent_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the update lock, unless ``v3.update_prohibited.shown`` is ``once_used``."""
        return () if assumed.update_prohibited_shown == "once_used" else ("updateProhibited",)


class DomainWithPremium(Domain):
    """A domain with its premium mark, as the lock operations show it."""

    premium = Boolean()


class DomainWithUpdateLock(DomainWithPremium):
    """A domain with its update lock, as lockUpdate and unlockUpdate show it."""

    def optional_keys(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return no key: the update lock is always shown."""
        return ()

    absent_keys = optional_keys


class DomainInFull(DomainWithPremium):
    """A domain as getDomain shows it, with a space in its dates."""

    createDate = SpacedInstant()
    expireDate = SpacedInstant()


class Identifier(fields.Raw):
    """An order id or client id. The assumption ``v3.ids`` chooses string or integer."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the type that ``v3.ids`` chooses."""
        return {"type": assumed.v3_ids}


def identifier(name: str) -> Identifier:
    """Return a field for an id whose wire name has a hyphen (``order-id``)."""
    return Identifier(attribute=name.replace("-", "_"), data_key=name)


class Envelope(Shape):
    """A domain, with the id and the status of its order."""

    domain = InnerObject(Domain)
    order_id = identifier("order-id")
    status = String(validate=validate.OneOf(STATUSES))


class EnvelopeWithPremium(Envelope):
    """The envelope in responses of lock, unlock, lockTransfer and unlockTransfer."""

    domain = InnerObject(DomainWithPremium)


class EnvelopeWithUpdateLock(Envelope):
    """The envelope in responses of lockUpdate and unlockUpdate."""

    domain = InnerObject(DomainWithUpdateLock)


class EnvelopeInFull(Envelope):
    """The envelope in responses of getDomain."""

    domain = CachedObject(DomainInFull)


class Message(Shape):
    """A domain name, and a message about the result."""

    domainName = String()
    message = String()


class DomainRequest(Shape):
    """A domain in a request."""

    domainName = String(required=True)
    nameservers = Array(String())
    contacts = InnerObject(ContactsRequest)
    privacyEnabled = Boolean()
    lockedEnabled = Boolean()
    autorenewEnabled = Boolean()


class AlternativeKeys(Shape):
    """A request with a required key that has two names (``alternatives``)."""

    @post_load
    def merge_alternatives(self, values: dict[str, object], **_: object) -> dict[str, object]:
        """Return the request with the value under the first of the two names. Raise if both are missing."""
        name, alias = self.alternatives
        value = values.pop(alias, None)
        if name not in values and value is None:
            raise ValidationError("is missing", name)
        if value is not None and values.get(name, value) != value:
            raise ValidationError(f"has two different values: as {name} and as {alias}", name)
        return {name: value, **values}


def requested_contacts(
    call: Call, contacts: Mapping[str, ContactInput] | None, names: Mapping[str, str]
) -> Mapping[str, ContactInput]:
    """Return the contacts of a request, by role. Refuse a contact without a required field."""
    if not contacts:
        return {}
    needed = _NEEDED[call.assumed.contacts_fields]
    missing = [
        f"{names[role]}.{names[field]} is missing"
        for role, fields in contacts.items()
        for field in needed
        if not isinstance(fields, str) and is_missing(fields.get(field), call.assumed)
    ]
    if missing:
        raise Refused(INVALID_PARAMETER, problems="; ".join(missing))
    return contacts


def requested_order(call: Call) -> dict[str, Any]:
    """Return the parameters that a registration and a transfer have in common."""
    domain, names = call.arguments["domain"], wire_names_below("domain.contacts")
    return {
        "contacts": requested_contacts(call, domain.get("contacts"), names),
        "wire_names": names,
        "name": parse_name(domain["domainName"]),
        **{key: value for key, value in call.arguments.items() if key == "years"},
        "cost": call.arguments.get("purchaseCost"),
        "privacy": domain.get("privacyEnabled", False),
    }


def status(call: Call, order: Order) -> str:
    """Return the v3 status of an order, derived from its stage and its holds."""
    if order.stage in (Stage.REQUESTED, Stage.PROCESSING, Stage.ARRIVING):
        return "pending"
    if order.stage is not Stage.ACTIVE:
        return call.assumed.expired_status
    return "active" if order.flags.isdisjoint(HOLDS) else "suspended"


def render_name(call: Call, name: str, spelling: str | None = None) -> str:
    """Return a domain name as responses write it. ``spelling`` is the name in the request."""
    return written(name, call.assumed.name_form, spelling) if "xn--" in name else name


def number(call: Call, value: int) -> str | int:
    """Return an id as a string or as an integer, as ``v3.ids`` chooses."""
    return value if call.assumed.v3_ids == "integer" else str(value)


class Summary(NamedTuple):
    """Entry in a list of domains, made from an order, the displayed name and the zone.

    ``time_zone`` is the time zone of its dates.
    """

    record: Order
    name: str
    zone: Zone
    time_zone: str

    def values(self) -> dict[str, Any]:
        """Return the values of the list entry, by wire name."""
        order, name, zone, time_zone = self
        return {
            "domainName": name,
            "privacyEnabled": order.privacy,
            "lockedEnabled": Flag.TRANSFER_PROHIBITED in order.flags,
            "autorenewEnabled": order.autorenew,
            "createDate": local(order.created, time_zone),
            "expireDate": local(order.expires, time_zone),
            "premium": zones.premium_prices(zone, order.name) is not None,
        }


class FullDomain(NamedTuple):
    """Data of a domain from which each response schema selects its fields.

    ``update_lock`` is None if the response does not show the update lock.
    """

    record: Order
    name: str
    zone: Zone
    servers: list[str]
    cards: Cards
    cost: Decimal
    update_lock: bool | None
    time_zone: str

    def values(self) -> dict[str, Any]:
        """Return the values of the domain, by wire name."""
        values = {
            **Summary(self.record, self.name, self.zone, self.time_zone).values(),
            "nameservers": self.servers,
            "contacts": self.cards,
            "renewalCost": self.cost,
        }
        return values if self.update_lock is None else {**values, "updateProhibited": self.update_lock}


def summaries(call: Call, orders: Sequence[Order]) -> list[Summary]:
    """Return the list entries of ``orders``."""
    every = call.draft.state.zones
    # Look up each zone once, because many domains are in the same zone.
    zones = {name: every[name] for name in {order.zone for order in orders}}
    time_zone = call.assumed.time_zone
    return [Summary(order, render_name(call, order.name), zones[order.zone], time_zone) for order in orders]


def envelope(
    call: Call, order: Order, spelling: str | None = None, *, in_full: bool = False
) -> dict[str, Any]:
    """Return a domain with its order. Set ``in_full`` for the schema ``EnvelopeInFull``.

    ``spelling`` is the name in the request.
    """
    state, locked = call.draft.state, Flag.UPDATE_PROHIBITED in order.flags
    is_shown = (locked or order.update_lock_used) and call.assumed.update_prohibited_shown == "once_used"
    domain = FullDomain(
        record=order,
        name=render_name(call, order.name, spelling),
        zone=state.zones[order.zone],
        servers=[render_name(call, server, spelling) for server in order.nameservers],
        cards=Cards(*[state.contacts[handle].card for handle in astuple(order.contacts)]),
        cost=renewal_cost(call.draft, order).price,
        update_lock=locked if is_shown else None,
        time_zone=call.assumed.time_zone if in_full else "UTC",
    )
    return {
        "domain": domain if in_full else domain.values(),
        "order_id": number(call, order.id),
        "client_id": number(call, order.account),
        "status": status(call, order),
    }


def own_order(call: Call) -> Order:
    """Return the account's order for the domain name in the path."""
    return orders.own(call.draft.state, call.account, parse_name(call.arguments["domainName"]))


def on_name(name: str, answer: Schema, *refuses: Rule, body: Schema | None = None) -> Callable[..., Endpoint]:
    """Return a decorator that declares a POST operation on the domain name in the path."""
    path = f"/v3/domains/{name}/{{domainName}}"
    return route(f"v3.{name}", "POST", path, answer=answer, body=body, refuses=(*BODY, *FOUND, *refuses))


def path_envelope(call: Call, order: Order) -> dict[str, Any]:
    """Return the envelope of ``order``, with the domain name as the path spells it."""
    return envelope(call, order, call.arguments["domainName"])
