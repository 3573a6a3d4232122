"""Domains: check, register, read, delete, edit, renew and restore them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, ClassVar

from marshmallow import INCLUDE, ValidationError, fields, post_load, validate

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import MISSING_PARAMETER, Refused
from reseller_sandbox.registry import orders, purchases
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import ROLES, Flag, Order, Purpose, Stage
from reseller_sandbox.registry.zones import parse_name, require_in_service
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import AddAndDelete, Number, text
from reseller_sandbox.v2.shapes import (
    CONTACT_KEYS,
    FOUND,
    NAME_PATH,
    PERIOD,
    Done,
    done,
    own_order,
    render_name,
    requested_handles,
    requested_servers,
    reseller_customer,
)
from reseller_sandbox.values.clock import local_date, parse_date
from reseller_sandbox.values.text_checks import shortened
from reseller_sandbox.web.fields import Array, InnerObject, Shape, Shaped, SpacedInstant, String, Years
from reseller_sandbox.web.interface import Call, refuses, route
from reseller_sandbox.worlds import World

# Availability


class Either(fields.Raw):
    """Field for a boolean. The assumption ``v2.domain_check.avail`` can turn it into a string."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the type that ``v2.domain_check.avail`` chooses."""
        as_word = assumed.domain_check_avail == "string"
        return {"type": "string", "enum": ["true", "false"]} if as_word else {"type": "boolean"}


class NameChecked(Done):
    """Response of domain check: whether the domain can be registered."""

    avail = Either()


@refuses(r.INVALID_NAME, r.ZONE_NOT_SUPPORTED, r.ZONE_OUT_OF_SERVICE)
@route("v2.domain.check", "GET", f"{NAME_PATH}/check", answer=NameChecked())
def check(call: Call) -> dict[str, object]:
    """Return whether a domain can be registered.

    Reserved domains are unavailable. Premium domains are unavailable if the assumptions refuse them.
    """
    availability = purchases.availability(call.draft, parse_name(call.arguments["domain_name"]))
    require_in_service(availability.zone)
    free = not (availability.taken or availability.reserved)
    if free and availability.premium is not None:
        free = call.assumed.premium_names == "charged"
    as_word = call.assumed.domain_check_avail == "string"
    return done(avail=str(free).lower() if as_word else free)


# Registration


_SERVERS: Shaped = {"type": "array", "items": {"type": "string"}, "minItems": 1}


class Delegation(fields.Field[list[str]]):
    """The name servers of a new domain: an array, or an object with the array under ``array``."""

    shape: ClassVar[Shaped] = {
        "oneOf": [{"type": "object", "properties": {"array": _SERVERS}, "required": ["array"]}, _SERVERS]
    }

    def _deserialize(self, value: object, attr: Any, data: object, **kwargs: object) -> list[str]:  # noqa: ARG002
        servers = requested_servers(value.get("array") if isinstance(value, Mapping) else value)
        if not servers:
            raise Refused(MISSING_PARAMETER, field="ns")
        return servers


class RegistrationRequest(Shape):
    """Request to register a domain. ``v2.license`` names the key for the licence."""

    class Meta:
        unknown = INCLUDE

    contact_admin = String(required=True)
    contact_billing = String(required=True)
    contact_registrant = String(required=True)
    contact_tech = String(required=True)
    customer_id = Number()
    ns = Delegation(required=True)
    period = Number(required=True, metadata=Years.shape)

    def additional_keys(self, world: World) -> Collection[str]:
        """Return the key for the licence."""
        return (world.assumptions.license,)

    @post_load
    def split_requirements(self, values: Mapping[str, object], **_: object) -> dict[str, object]:
        """Move all unknown keys of ``values`` to ``requirements``, the parameters of the registry."""
        arguments = {name: value for name, value in values.items() if name in self.fields}
        requirements = {name: text(value) for name, value in values.items() if name not in self.fields}
        return {**arguments, "requirements": requirements}


@refuses(
    *errors.BODY,
    r.INVALID_NAME,
    r.ZONE_NOT_SUPPORTED,
    r.ZONE_OUT_OF_SERVICE,
    *PERIOD,
    r.CONTACT_NOT_FOUND,
    r.CUSTOMER_NOT_FOUND,
    r.INVALID_NAMESERVER,
    r.LICENSE_REQUIRED,
    r.INVALID_LICENSE,
    r.NAME_TAKEN,
    r.NAME_RESERVED,
    r.PREMIUM_NOT_TAKEN,
    r.INSUFFICIENT_FUNDS,
)
@route(
    "v2.domain.register",
    "POST",
    NAME_PATH,
    body=RegistrationRequest(),
    answer=Done(),
    orders=Purpose.REGISTRATION,
)
def register(call: Call) -> dict[str, object]:
    """Register a domain. The price is charged to the balance."""
    placed = purchases.register(
        call.draft,
        call.account,
        purchases.Registration(
            name=parse_name(call.arguments["domain_name"]),
            years=call.arguments["period"],
            contacts=requested_handles(call.arguments),
            nameservers=call.arguments["ns"],
            customer_id=reseller_customer(call),
            requirements=call.arguments["requirements"],
            cost=purchases.ANY_PRICE,
        ),
    )
    requirements = call.arguments["requirements"]
    if requirements and not placed.order.license and call.assumed.license in requirements:
        reason = f"the zone {placed.order.zone} requires no licence"
        call.ignore(call.assumed.license, reason, contradicted=False)
    return done()


# Reading

_STATUS = {
    Stage.REQUESTED: "0",
    Stage.PROCESSING: "1",
    Stage.ACTIVE: "2",
    Stage.OVERDUE: "3",
    Stage.REDEMPTION: "6",
    Stage.PENDING_DELETE: "6",
}


class Domain(Shape):
    """The data of a domain in a response."""

    contact_admin = String()
    contact_billing = String()
    contact_registrant = String()
    contact_tech = String()
    date_created = SpacedInstant()
    date_end = SpacedInstant()
    ns = Array(String())
    status: fields.Field[Any] = String(validate=validate.OneOf(sorted(set(_STATUS.values()))))


class DomainEnvelope(Done):
    """Response of domain info: a domain inside an envelope."""

    data = InnerObject(Domain)


class DomainFound(Domain):
    """Response of domain info: a domain, with or without an envelope (``v2.domain_info.shape``)."""

    status = fields.Raw()
    code = fields.Integer()
    data = InnerObject(Domain)

    def response_schema(self, assumed: Assumptions) -> Shape:
        """Return the schema that the assumption ``v2.domain_info.shape`` chooses."""
        return Domain() if assumed.domain_info_shape == "bare" else DomainEnvelope()


@refuses(*FOUND)
@route("v2.domain.info", "GET", NAME_PATH, answer=DomainFound())
def info(call: Call) -> dict[str, object]:
    """Return a domain with its contacts, dates, name servers and status."""
    order = own_order(call)
    spelling = call.arguments["domain_name"]
    handles = {CONTACT_KEYS[role]: getattr(order.contacts, role) for role in ROLES}
    domain = {
        **handles,
        "date_created": call.local(order.created),
        "date_end": call.local(order.expires),
        "ns": [render_name(call, server, spelling) for server in order.nameservers],
        "status": status(call, order),
    }
    return domain if call.assumed.domain_info_shape == "bare" else done(data=domain)


def status(call: Call, order: Order) -> str:
    """Return the v2.0 status of an order, a digit in a string."""
    if order.stage is Stage.ARRIVING:
        return _STATUS[Stage.PROCESSING if call.assumed.arriving_status == "processing" else Stage.REQUESTED]
    return _STATUS[order.stage]


@refuses(*FOUND, r.WRONG_STATE, r.TRANSFER_PENDING, r.LOCKED, r.HOST_IN_USE)
@route("v2.domain.delete", "DELETE", NAME_PATH, answer=Done())
def delete(call: Call) -> dict[str, object]:
    """Delete a domain.

    In the add grace period after the registration, the domain is deleted immediately, and the account gets
    back what it paid for the domain. After this period, the domain enters redemption.
    """
    orders.delete(call.draft, own_order(call))
    return done()


# Edits


_BIT = validate.OneOf((0, 1), error="must be 0 or 1")


class Changes(Shape):
    """Changes to a domain. A request needs at least one change."""

    client_delete_prohibited = Number(validate=_BIT)
    client_hold = Number(validate=_BIT)
    client_renew_prohibited = Number(validate=_BIT)
    client_transfer_prohibited = Number(validate=_BIT)
    client_update_prohibited = Number(validate=_BIT)
    contact_admin = String()
    contact_billing = String()
    contact_registrant = String()
    contact_tech = String()
    ns = AddAndDelete(requested_servers, {"type": "array", "items": {"type": "string"}})

    @post_load
    def require_change(self, values: dict[str, object], **_: object) -> dict[str, object]:
        """Return ``values``. Refuse a body without any change."""
        if all(value == {} for value in values.values()):
            raise Refused(MISSING_PARAMETER, field="client_*, contact_* or ns")
        return values


@refuses(
    *errors.BODY,
    *FOUND,
    r.WRONG_STATE,
    r.LOCKED,
    r.HELD_BY_REGISTRY,
    r.TRANSFER_PENDING,
    r.INVALID_NAMESERVER,
    r.CONTACT_NOT_FOUND,
    r.INSUFFICIENT_FUNDS,
)
@route("v2.domain.edit", "PUT", NAME_PATH, body=Changes(), answer=Done())
def edit(call: Call) -> dict[str, object]:
    """Change the statuses, contacts and name servers of a domain. The sandbox makes all changes or none.

    The zone may charge a fee for a new registrant. The status ``client_update_prohibited``
    forbids the same changes as in v3.
    """
    servers = call.arguments.get("ns", {})
    changes = orders.Edit(
        flags={flag: bool(call.arguments[flag]) for flag in Flag if flag in call.arguments},
        contacts=requested_handles(call.arguments),
        add=servers.get("add", ()),
        remove=servers.get("del", ()),
    )
    orders.edit(call.draft, own_order(call), changes)
    return done()


# Renewals, and restores from redemption


class RenewalRequest(Shape):
    """Request to renew a domain. ``domain`` is optional and repeats the name in the path."""

    current_expiry_date = String(required=True)
    date_end = fields.Raw(metadata={"type": "string"})
    domain = fields.Raw(metadata={"type": "string"})
    period = Number(required=True, metadata=Years.shape)

    @post_load
    def parse_expiry(self, values: dict[str, Any], **_: object) -> dict[str, object]:
        """Return ``values`` with the present expiry as a date and time, with a zone only if it has one."""
        try:
            return {**values, "current_expiry_date": parse_date(values["current_expiry_date"])}
        except ValueError:
            raise ValidationError({"current_expiry_date": ["must be a date"]}) from None


class Renewal(Shape):
    """A renewed domain and its new expiry."""

    date_end = SpacedInstant()
    domain = String()


class Renewed(Done):
    """Response of domain renew: the domain and its new expiry."""

    data = InnerObject(Renewal)


@refuses(
    *errors.BODY,
    *FOUND,
    r.WRONG_STATE,
    r.TRANSFER_PENDING,
    r.LOCKED,
    r.ZONE_OUT_OF_SERVICE,
    r.EXPIRY_MISMATCH,
    *PERIOD,
    r.END_MISMATCH,
    r.PREMIUM_NOT_TAKEN,
    r.INSUFFICIENT_FUNDS,
)
@route(
    "v2.domain.renew",
    "PUT",
    f"{NAME_PATH}/renew",
    body=RenewalRequest(),
    answer=Renewed(),
    orders=Purpose.RENEWAL,
    guard="current_expiry_date",
)
def renew(call: Call) -> dict[str, object]:
    """Renew a domain for a number of years. The request must contain the current expiry date.

    The request can also contain the new expiry date, which must then be correct.
    """
    end, order = _expected_end(call), own_order(call)
    try:
        placed = purchases.renew(
            call.draft,
            order,
            call.arguments["period"],
            purchases.ANY_PRICE,
            expected=local_date(call.arguments["current_expiry_date"], call.assumed.time_zone),
            end=end,
        )
    except Refused as refused:
        if refused.rule is r.PERIOD_TOO_LONG:
            facts = {**refused.facts, "maximum": _maximum(call, order, refused)}
            raise Refused(refused.rule, **facts) from None
        raise
    name = render_name(call, placed.order.name, call.arguments["domain_name"])
    return done(data={"date_end": call.local(placed.order.expires), "domain": name})


def _expected_end(call: Call) -> date | None:
    date_end = call.arguments.get("date_end")
    if date_end in (None, ""):
        return None
    if call.assumed.renew_date_end == "ignored":
        call.ignore("date_end", "v2.renew.date_end=ignored", contradicted=False)
        return None
    try:
        return local_date(parse_date(date_end if isinstance(date_end, str) else ""), call.assumed.time_zone)
    except ValueError:
        raise Refused(
            r.INVALID_PARAMETER,
            problems=f"date_end must be a date, not {shortened(date_end)}",
            field="date_end",
            value=text(date_end),
        ) from None


def _maximum(call: Call, order: Order, refused: Refused) -> object:
    """Return the maximum period for the error message. The requested period is always longer."""
    most = call.draft.state.zones[order.zone].max_years
    if call.assumed.renew_maximum == "zone" and call.arguments["period"] > most:
        return most
    return refused.facts["limit"]


@refuses(r.INVALID_PARAMETER, *FOUND, r.WRONG_STATE, r.ZONE_OUT_OF_SERVICE, r.INSUFFICIENT_FUNDS)
@route("v2.domain.restore", "PUT", f"{NAME_PATH}/restore", answer=Done(), orders=Purpose.RESTORE)
def restore(call: Call) -> dict[str, object]:
    """Restore a domain from redemption. The price is charged to the balance."""
    purchases.restore(call.draft, own_order(call))
    return done()
