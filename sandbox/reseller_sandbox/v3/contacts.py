"""The operation that sets the contacts of a domain."""

from __future__ import annotations

from marshmallow import ValidationError

from reseller_sandbox import refusals as r
from reseller_sandbox.registry import orders
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import ROLES
from reseller_sandbox.v3.shapes import (
    BODY,
    FOUND,
    WIRE_NAMES,
    ContactsRequest,
    Envelope,
    Message,
    V3Contacts,
    envelope,
    own_order,
    requested_contacts,
    wire_names_below,
)
from reseller_sandbox.web.fields import InnerObject, Shape, String
from reseller_sandbox.web.interface import Call, refuses, route


def _some(contacts: dict[str, object]) -> None:
    if not contacts:
        roles = ", ".join(WIRE_NAMES[role] for role in ROLES)
        raise ValidationError(f"must have at least one of {roles}")


class RolesRequest(Shape):
    """New contacts of a domain, by role. The contacts of omitted roles stay unchanged."""

    contacts = InnerObject(ContactsRequest, required=True, validate=_some, metadata={"minProperties": 1})


class ContactsAlone(Shape):
    """The contacts of a domain, without its other data."""

    contacts = InnerObject(V3Contacts)


class ContactsSet(Envelope):
    """Response of setContacts: the domain envelope, or the body that ``v3.set_contacts.answer`` chooses."""

    contacts = InnerObject(V3Contacts)
    domainName = String()
    message = String()

    def response_schema(self, assumed: Assumptions) -> Shape:
        """Return the schema of the body that ``v3.set_contacts.answer`` selects."""
        kinds = {"envelope": Envelope, "contacts": ContactsAlone, "message": Message}
        return kinds[assumed.set_contacts_answer]()


@refuses(*BODY, *FOUND, r.WRONG_STATE, r.LOCKED, r.INVALID_CONTACT, r.INSUFFICIENT_FUNDS)
@route(
    "v3.setContacts",
    "POST",
    "/v3/domains/setContacts/{domainName}",
    "/v3/setContacts/{domainName}",
    body=RolesRequest(),
    answer=ContactsSet(),
)
def set_contacts(call: Call) -> dict[str, object]:
    """Change the contacts of a domain. The zone may charge a fee for a new registrant."""
    spelling = call.arguments["domainName"]
    names = wire_names_below("contacts")
    contacts = requested_contacts(call, call.arguments["contacts"], names)
    order = orders.set_contacts(call.draft, own_order(call), contacts, names)
    envelope_of_order = envelope(call, order, spelling)
    match call.assumed.set_contacts_answer:
        case "contacts":
            return {"contacts": envelope_of_order["domain"]["contacts"]}
        case "message":
            name = envelope_of_order["domain"]["domainName"]
            return {"domainName": name, "message": f"The contacts of {name} are set."}
        case _:
            return envelope_of_order
