"""Names: to check, register, read, edit, delete, renew and restore them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar

from marshmallow import INCLUDE, ValidationError, fields, post_load

from sandbox.core import edits, orders, refusals
from sandbox.core.clock import parse_instant
from sandbox.core.model import ROLES, Flag, Order, Stage
from sandbox.core.refusals import MISSING_PARAMETER, Refused
from sandbox.core.zones import parse_name
from sandbox.v2 import errors
from sandbox.v2.bodies import Asked, Bit, Number, text
from sandbox.v2.shapes import FOUND, Done, done, own_order, reseller_customer, shown
from sandbox.web.fields import Listed, Shape, Shaped, SpacedInstant, Text, Within
from sandbox.web.generation import Call, Endpoint

#: The body's keys for the contacts of a name, by role.
_CONTACT_KEYS = {role: f"contact_{role}" for role in ROLES}


def _servers(value: Any) -> list[str]:
    """The entries of an array of name servers; what is no string is left for the registry to refuse."""
    if not isinstance(value, list):
        raise ValidationError("must be an array of strings")
    return [text(entry) for entry in value]


def _handles(arguments: Mapping[str, Any]) -> dict[str, str]:
    return {role: arguments[key] for role, key in _CONTACT_KEYS.items() if key in arguments}


# Availability

_STRING_OR_TRUTH: Shaped = {"oneOf": [{"type": "string", "enum": ["true", "false"]}, {"type": "boolean"}]}


class Either(fields.Raw):
    """A truth value, written as one or in a word."""

    shape: ClassVar[Shaped] = _STRING_OR_TRUTH


class Checked(Done):
    """Whether a name can be registered."""

    avail = Either()


def check(call: Call) -> dict[str, Any]:
    """Whether a name is free; one that its registry keeps back is not."""
    found = orders.availability(call.draft, parse_name(call.arguments["domain_name"]))
    free = not (found.taken or found.reserved)
    as_word = call.assumed.domain_check_avail == "string"
    return done(avail=str(free).lower() if as_word else free)


# Registration


class Delegation(fields.Field[list[str]]):
    """The name servers of a new name: an array, or an object with one under ``array``."""

    shape: ClassVar[Shaped] = {
        "oneOf": [
            {"type": "object", "properties": {"array": {"type": "array", "items": {"type": "string"}}}},
            {"type": "array", "items": {"type": "string"}},
        ]
    }

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> list[str]:  # noqa: ARG002
        servers = _servers(value.get("array") if isinstance(value, Mapping) else value)
        if not servers:
            raise Refused(MISSING_PARAMETER, field="ns")
        return servers


class NameWanted(Asked):
    """A registration. The licence stands under the key that ``v2.license`` names."""

    class Meta:
        unknown = INCLUDE

    contact_admin = Text(required=True)
    contact_billing = Text(required=True)
    contact_registrant = Text(required=True)
    contact_tech = Text(required=True)
    customer_id = Number()
    ns = Delegation(required=True)
    period = Number(required=True)

    @post_load
    def sorted_out(self, found: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        """What a registration knows, and the rest of the body for the registry's own requirements."""
        known = {name: value for name, value in found.items() if name in self.fields}
        rest = {name: text(value) for name, value in found.items() if name not in self.fields}
        return {**known, "requirements": rest}


def register(call: Call) -> dict[str, Any]:
    """Register a name; the price is taken from the balance."""
    orders.register(
        call.draft,
        call.account,
        orders.Registration(
            name=parse_name(call.arguments["domain_name"]),
            years=call.arguments["period"],
            contacts=_handles(call.arguments),
            nameservers=call.arguments["ns"],
            customer_id=reseller_customer(call),
            requirements=call.arguments["requirements"],
            cost=orders.WHATEVER,
        ),
    )
    return done()


# Reading


class Domain(Shape):
    """A name."""

    contact_admin = Text()
    contact_billing = Text()
    contact_registrant = Text()
    contact_tech = Text()
    date_created = SpacedInstant()
    date_end = SpacedInstant()
    ns = Listed(Text())
    status: fields.Field[Any] = Text()


class WordOrTruth(fields.Raw):
    """The status of an order, or of an envelope."""

    shape: ClassVar[Shaped] = {"oneOf": [{"type": "string"}, {"type": "boolean"}]}


class DomainFound(Domain):
    """A name by itself, or inside an envelope; ``v2.domain_info.shape`` chooses."""

    status = WordOrTruth()
    code = fields.Integer()
    data = Within(Domain)


def info(call: Call) -> dict[str, Any]:
    """A name with its contacts, dates, name servers and status."""
    order = own_order(call)
    asked = call.arguments["domain_name"]
    handles = {_CONTACT_KEYS[role]: getattr(order.contacts, role) for role in ROLES}
    domain = {
        **handles,
        "date_created": order.created,
        "date_end": order.expires,
        "ns": [shown(call, server, asked) for server in order.nameservers],
        "status": status(call, order),
    }
    return domain if call.assumed.domain_info_shape == "bare" else done(data=domain)


_STATUS = {
    Stage.REQUESTED: "0",
    Stage.PROCESSING: "1",
    Stage.ACTIVE: "2",
    Stage.OVERDUE: "3",
    Stage.REDEMPTION: "6",
    Stage.PENDING_DELETE: "6",
}


def status(call: Call, order: Order) -> str:
    """The v2.0 status of an order."""
    if order.stage is Stage.ARRIVING:
        return _STATUS[Stage.PROCESSING if call.assumed.arriving_status == "processing" else Stage.REQUESTED]
    return _STATUS[order.stage]


# Changing


class ServerChanges(fields.Field[dict[str, list[str]]]):
    """Name servers to add and to take away, each an array under ``add`` or ``del``."""

    shape: ClassVar[Shaped] = {
        "type": "object",
        "properties": {key: {"type": "array", "items": {"type": "string"}} for key in ("add", "del")},
    }

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> dict[str, list[str]]:  # noqa: ARG002
        if not isinstance(value, Mapping) or not value.keys() <= {"add", "del"}:
            raise ValidationError("must be an object with arrays under add and del")
        return {key: _servers(listed) for key, listed in value.items() if listed not in (None, [])}


class Changes(Asked):
    """What is to change of a name; at least something."""

    client_delete_prohibited = Bit()
    client_hold = Bit()
    client_renew_prohibited = Bit()
    client_transfer_prohibited = Bit()
    client_update_prohibited = Bit()
    contact_admin = Text()
    contact_billing = Text()
    contact_registrant = Text()
    contact_tech = Text()
    ns = ServerChanges()

    @post_load
    def something(self, found: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Refuse a body that changes nothing."""
        if all(value == {} for value in found.values()):
            raise Refused(MISSING_PARAMETER, field="client_*, contact_* or ns")
        return found


def edit(call: Call) -> dict[str, Any]:
    """Change a name's statuses, contacts and name servers, all of it or nothing.

    A new registrant costs what the zone asks for it. While updates are prohibited, one edit is taken:
    ``client_update_prohibited`` 0 and nothing beside it.
    """
    servers = call.arguments.get("ns", {})
    wanted = edits.Edit(
        flags={flag: bool(call.arguments[flag]) for flag in Flag if flag in call.arguments},
        contacts=_handles(call.arguments),
        add=servers.get("add", ()),
        remove=servers.get("del", ()),
    )
    edits.edit(call.draft, own_order(call), wanted)
    return done()


def delete(call: Call) -> dict[str, Any]:
    """Delete a name: into removal, or at once and refunded in its first days."""
    orders.delete(call.draft, own_order(call))
    return done()


# Renewal


class RenewalWanted(Asked):
    """A renewal. ``date_end`` and ``domain`` may be there and say nothing more."""

    current_expiry_date = Text(required=True)
    date_end = fields.Raw()
    domain = fields.Raw()
    period = Number(required=True)

    @post_load
    def dated(self, found: dict[str, Any], **_: Any) -> dict[str, Any]:
        """The expiry as a calendar date."""
        return {**found, "current_expiry_date": _calendar_date(found["current_expiry_date"])}


def _calendar_date(given: str) -> date:
    try:
        return parse_instant(given).date()
    except ValueError:
        raise ValidationError({"current_expiry_date": ["must be a date"]}) from None


class Renewal(Shape):
    """A name and its new end."""

    date_end = SpacedInstant()
    domain = Text()


class Renewed(Done):
    """A name that has just been renewed."""

    data = Within(Renewal)


def renew(call: Call) -> dict[str, Any]:
    """Add years to a name's term, if that ends on the day the caller takes it to."""
    placed = orders.renew(
        call.draft,
        own_order(call),
        call.arguments["period"],
        orders.WHATEVER,
        expected=call.arguments["current_expiry_date"],
    )
    name = shown(call, placed.order.name, call.arguments["domain_name"])
    return done(data={"date_end": placed.order.expires, "domain": name})


def restore(call: Call) -> dict[str, Any]:
    """Bring a name back from removal; the price is taken from the balance."""
    orders.restore(call.draft, own_order(call))
    return done()


_ONE = "/{version}/domain/{domain_name}"
_PERIOD = (refusals.PERIOD_TOO_SHORT, refusals.PERIOD_TOO_LONG)

ENDPOINTS = (
    Endpoint(
        id="v2.domain.check",
        method="GET",
        paths=(f"{_ONE}/check",),
        handle=check,
        answer=Checked(),
        refuses=(refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED),
    ),
    Endpoint(
        id="v2.domain.register",
        method="POST",
        paths=(_ONE,),
        handle=register,
        body=NameWanted(),
        answer=Done(),
        refuses=(
            *errors.BODY,
            refusals.INVALID_NAME,
            refusals.ZONE_NOT_SUPPORTED,
            refusals.ZONE_OUT_OF_SERVICE,
            *_PERIOD,
            refusals.CONTACT_NOT_FOUND,
            refusals.CUSTOMER_NOT_FOUND,
            refusals.INVALID_NAMESERVER,
            refusals.LICENSE_REQUIRED,
            refusals.INVALID_LICENSE,
            refusals.NAME_TAKEN,
            refusals.NAME_RESERVED,
            refusals.PREMIUM_COST_REQUIRED,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
    Endpoint(
        id="v2.domain.info", method="GET", paths=(_ONE,), handle=info, answer=DomainFound(), refuses=FOUND
    ),
    Endpoint(
        id="v2.domain.edit",
        method="PUT",
        paths=(_ONE,),
        handle=edit,
        body=Changes(),
        answer=Done(),
        refuses=(
            *errors.BODY,
            *FOUND,
            refusals.WRONG_STATE,
            refusals.LOCKED,
            refusals.TRANSFER_PENDING,
            refusals.INVALID_NAMESERVER,
            refusals.CONTACT_NOT_FOUND,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
    Endpoint(
        id="v2.domain.delete",
        method="DELETE",
        paths=(_ONE,),
        handle=delete,
        answer=Done(),
        refuses=(
            *FOUND,
            refusals.WRONG_STATE,
            refusals.TRANSFER_PENDING,
            refusals.LOCKED,
            refusals.HOST_IN_USE,
        ),
    ),
    Endpoint(
        id="v2.domain.renew",
        method="PUT",
        paths=(f"{_ONE}/renew",),
        handle=renew,
        body=RenewalWanted(),
        answer=Renewed(),
        refuses=(
            *errors.BODY,
            *FOUND,
            refusals.WRONG_STATE,
            refusals.TRANSFER_PENDING,
            refusals.LOCKED,
            refusals.ZONE_OUT_OF_SERVICE,
            refusals.EXPIRY_MISMATCH,
            *_PERIOD,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
    Endpoint(
        id="v2.domain.restore",
        method="PUT",
        paths=(f"{_ONE}/restore",),
        handle=restore,
        answer=Done(),
        refuses=(*FOUND, refusals.WRONG_STATE, refusals.ZONE_OUT_OF_SERVICE, refusals.INSUFFICIENT_FUNDS),
    ),
)
