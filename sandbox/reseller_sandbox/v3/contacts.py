"""A name's contacts."""

from __future__ import annotations

from typing import Any

from reseller_sandbox.core import orders, refusals
from reseller_sandbox.v3 import errors
from reseller_sandbox.v3.domains import FOUND, own_order
from reseller_sandbox.v3.shapes import Domain, Envelope, V3Contacts, cards, envelope, named_below
from reseller_sandbox.web.fields import Shape, Text, Within
from reseller_sandbox.web.generation import Call, Endpoint


class ContactsWanted(Shape):
    """Contacts by role; roles that are left out stay as they are."""

    contacts = Within(V3Contacts, required=True)


class ContactsSet(Envelope):
    """The domain envelope, or one of the other bodies that ``v3.set_contacts.answer`` names."""

    domain = Within(Domain)
    contacts = Within(V3Contacts)
    domainName = Text()
    message = Text()


def set_contacts(call: Call) -> dict[str, Any]:
    """Give a name other contacts; a new registrant costs what the zone asks for it."""
    asked = call.arguments["domainName"]
    order = orders.set_contacts(
        call.draft, own_order(call), cards(call.arguments["contacts"]), named_below("contacts")
    )
    whole = envelope(call, order, asked)
    match call.assumed.set_contacts_answer:
        case "contacts":
            return {"contacts": whole["domain"]["contacts"]}
        case "message":
            name = whole["domain"]["domainName"]
            return {"domainName": name, "message": f"The contacts of {name} are set."}
        case _:
            return whole


ENDPOINTS = (
    Endpoint(
        id="v3.setContacts",
        method="POST",
        paths=("/v3/domains/setContacts/{domainName}", "/v3/setContacts/{domainName}"),
        handle=set_contacts,
        body=ContactsWanted(),
        answer=ContactsSet(),
        refuses=(
            *errors.BODY,
            *FOUND,
            refusals.WRONG_STATE,
            refusals.LOCKED,
            refusals.INVALID_CONTACT,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
)
