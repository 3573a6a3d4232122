"""Operations on contacts. The client chooses the handle of a contact."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from marshmallow import INCLUDE, post_load

from reseller_sandbox import refusals as r
from reseller_sandbox.registry import contacts, registrants
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import CARD_FIELDS, Card, Contact
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import Number
from reseller_sandbox.v2.shapes import Checked, Done, card_fields, done
from reseller_sandbox.web.fields import InnerObject, Shape, String, StringOrInteger
from reseller_sandbox.web.interface import Call, refuses, route
from reseller_sandbox.worlds import World

_CHECK = "/{version}/contact/{contact_id}/check"
_ONE = "/{version}/contact/{contact_id}"

#: Keys under which a body may repeat the contact's handle from the path.
_OWN_HANDLE = ("id", "contact_id")


class ContactChange(card_fields(zip=StringOrInteger())):  # type: ignore[misc]
    """Contact details in a request. Unknown keys are extra parameters of the registry."""

    class Meta:
        unknown = INCLUDE

    def additional_keys(self, world: World) -> Collection[str]:
        """Return the keys of the extra parameters that the registry knows."""
        return tuple(dict(world.state.contact_params))

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that the assumption ``v2.contact.required`` makes required."""
        spared = ("company", "fax", "region") if assumed.contact_required == "postal" else ()
        return tuple(name for name in self.fields if name in CARD_FIELDS and name not in spared)

    @post_load
    def split_extra(self, values: Mapping[str, object], **_: object) -> dict[str, object]:
        """Split ``values`` into contact details, extra parameters and the customer's id."""
        card = {name: values[name] for name in CARD_FIELDS if name in values}
        extra = {name: value for name, value in values.items() if name not in self.fields}
        return {"card": card, "extra": extra, "customer_id": values.get("customer_id")}


class ContactRequest(ContactChange):
    """A new contact: contact details, extra parameters and the id of its customer."""

    customer_id = Number()


class ContactShown(Shape.from_dict({name: String() for name in sorted(CARD_FIELDS)})):  # type: ignore[misc]
    """Contact details in a response."""


class ContactFound(Done):
    """Response of contact info: the details of the contact."""

    data = InnerObject(ContactShown)


@refuses(r.INVALID_HANDLE)
@route("v2.contact.check", "GET", _CHECK, answer=Checked())
def check(call: Call) -> dict[str, object]:
    """Return whether a contact can be created under a handle."""
    return done(avail=_handle(call) not in call.draft.state.contacts)


@refuses(
    *errors.BODY,
    r.INVALID_HANDLE,
    r.UNKNOWN_EXTRA,
    r.INVALID_EXTRA,
    r.INVALID_CONTACT,
    r.CUSTOMER_NOT_FOUND,
    r.HANDLE_TAKEN,
)
@route("v2.contact.create", "POST", _ONE, body=ContactRequest(), answer=Done())
def create(call: Call) -> dict[str, object]:
    """Create a contact under a handle that is unused in the whole registry."""
    extra = _extra(call)
    card = Card(**call.arguments["card"])
    contacts.add(call.draft, call.account, _handle(call), card, extra, call.arguments["customer_id"])
    return done()


@refuses(
    *errors.BODY,
    r.INVALID_HANDLE,
    r.CONTACT_NOT_FOUND,
    r.INVALID_EXTRA,
    r.INVALID_CONTACT,
    r.LOCKED,
    r.INSUFFICIENT_FUNDS,
)
@route("v2.contact.edit", "PUT", _ONE, body=ContactChange(), answer=Done())
def edit(call: Call) -> dict[str, object]:
    """Change a contact. Omitted optional fields stay unchanged.

    A new registrant of domains costs the owner-change price of each domain.
    """
    extra = _extra(call)
    registrants.edit_contact(call.draft, _own(call), call.arguments["card"], extra)
    return done()


@refuses(r.CONTACT_NOT_FOUND)
@route("v2.contact.info", "GET", _ONE, answer=ContactFound())
def info(call: Call) -> dict[str, object]:
    """Return the details of a contact."""
    return done(data=_own(call, malformed=True).card)


@refuses(r.CONTACT_NOT_FOUND, r.CONTACT_LINKED)
@route("v2.contact.delete", "DELETE", _ONE, answer=Done())
def delete(call: Call) -> dict[str, object]:
    """Delete a contact that no domain uses."""
    contacts.remove(call.draft, _own(call, malformed=True))
    return done()


def _extra(call: Call) -> dict[str, object]:
    """Return the extra parameters of a request, without keys that repeat the contact's handle."""
    repeated = set(_OWN_HANDLE) - dict(call.draft.state.contact_params).keys()
    return {key: value for key, value in call.arguments["extra"].items() if key not in repeated}


def _handle(call: Call) -> str:
    return contacts.parse_handle(call.arguments["contact_id"])


def _own(call: Call, *, malformed: bool = False) -> Contact:
    """Return the account's contact whose handle is in the path.

    With ``malformed``, a malformed handle is refused as an unknown contact.
    """
    handle = call.arguments["contact_id"] if malformed else _handle(call)
    return contacts.own(call.draft, call.account, handle)
