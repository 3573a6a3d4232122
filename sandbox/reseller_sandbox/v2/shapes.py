"""Parts that several v2.0 operations share: envelopes, contact fields and domain names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

from reseller_sandbox import refusals
from reseller_sandbox.registry import orders
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import CARD_FIELDS, ROLES, Order
from reseller_sandbox.registry.zones import parse_name, zone_of
from reseller_sandbox.v2.bodies import text
from reseller_sandbox.values.names import written
from reseller_sandbox.web.fields import Boolean, ContactString, Shape, Shaped, String
from reseller_sandbox.web.interface import Call

#: The rules for finding one of the account's domains, in the order of the checks.
FOUND = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED, refusals.DOMAIN_NOT_FOUND)

#: The rules that check a term.
PERIOD = (refusals.PERIOD_TOO_SHORT, refusals.PERIOD_TOO_LONG)

#: The path of a domain, with which most paths begin.
NAME_PATH = "/{version}/domain/{domain_name}"

#: The keys for the contacts of a domain, by role.
CONTACT_KEYS = {role: f"contact_{role}" for role in ROLES}


class Version(String):
    """Field for the version in a path, such as ``V2.0``."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the versions that the assumption ``v2.versions`` serves."""
        return {"enum": [form for version in assumed.versions for form in (version.upper(), version.lower())]}


class Placeholders(Shape):
    """Placeholders in the paths of many operations."""

    version = Version()
    customer_id = fields.Integer(metadata={"minimum": 1})


class Done(Shape):
    """The envelope of a successful response."""

    code = fields.Integer()
    status = Boolean()


class DoneWithMessage(Done):
    """The envelope of a successful response, with a message."""

    msg = String()


class Checked(Done):
    """Response of a check: whether a contact or a host can be created."""

    avail = Boolean()


def card_fields(**more: fields.Field[Any]) -> object:
    """Return a schema with the fields of contact details and ``more``, in alphabetical order."""
    details = {name: ContactString(any_phone=name in ("fax", "phone")) for name in CARD_FIELDS}
    return Shape.from_dict(dict(sorted({**details, **more}.items())))


def done(**more: object) -> dict[str, Any]:
    """Return the envelope of a successful response, with the keys ``more``."""
    return {"code": 200, "status": True, **more}


def own_order(call: Call) -> Order:
    """Return the account's order for the domain name in the path. Refuse an unsupported zone."""
    name = parse_name(call.arguments["domain_name"])
    zone_of(call.draft.state, name)
    return orders.own(call.draft.state, call.account, name)


def render_name(call: Call, name: str, spelling: str | None = None) -> str:
    """Return a domain name as responses write it. ``spelling`` is the name in the request."""
    return written(name, call.assumed.v2_name_form, spelling) if "xn--" in name else name


def reseller_customer(call: Call) -> int | None:
    """Return the request's customer id, or None if the account is not a reseller's."""
    customer_id: int | None = call.arguments.get("customer_id")
    if customer_id is None or call.account.reseller:
        return customer_id
    call.ignore("customer_id", "the account is not a reseller's", contradicted=True)
    return None


def requested_handles(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the contact handles of a request, by role."""
    return {role: arguments[key] for role, key in CONTACT_KEYS.items() if key in arguments}


def requested_servers(value: object) -> list[str]:
    """Return the entries of an array of name servers as text."""
    if not isinstance(value, list):
        raise ValidationError("must be an array of strings")
    return [text(entry) for entry in value]
