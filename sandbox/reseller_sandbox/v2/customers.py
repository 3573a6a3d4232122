"""Operations on customers, who are the clients of a reseller."""

from __future__ import annotations

from marshmallow import fields, post_load, validate

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import MISSING_PARAMETER, Refused
from reseller_sandbox.registry import customers
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import CARD_FIELDS, Customer
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import Number
from reseller_sandbox.v2.shapes import Done, DoneWithMessage, card_fields, done
from reseller_sandbox.web.fields import InnerObject, Shape, String, require_plain_text, wire_fields
from reseller_sandbox.web.interface import Call, refuses, route

_ALL = "/{version}/customer"
_ONE = "/{version}/customer/{customer_id}"
_FOUND = (r.INVALID_CUSTOMER_ID, r.CUSTOMER_NOT_FOUND)

_LANGUAGE = validate.Regexp(r"[A-Za-z]{2}\Z|\Z", error="must be a two-letter language code")
_POSITIVE = validate.Range(min=0, error="must not be negative")


_FIELDS = card_fields(
    lang=String(validate=_LANGUAGE),
    password=String(validate=require_plain_text),
    post_address=String(data_key="post_adress", validate=require_plain_text),
    zip=Number(validate=_POSITIVE),
)


class CustomerRequest(_FIELDS):  # type: ignore[misc,valid-type]
    """The data of a customer in a request."""

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the keys that the assumption ``v2.customer.required`` makes required."""
        match assumed.customer_required:
            case "mail_and_name":
                return ("mail", "name")
            case "postal":
                return ("address", "city", "country", "mail", "name", "phone", "zip")
            case _:
                return tuple(wire_fields(self))

    @post_load
    def write_zip_as_string(self, values: dict[str, object], **_: object) -> dict[str, object]:
        """Return ``values`` with the postal code as a string."""
        return {**values, "zip": str(values["zip"])} if "zip" in values else values


class CustomerChange(CustomerRequest):
    """Changes to a customer. Without an id, the mail address identifies the customer."""

    customer_id = Number()

    def required_keys(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return no keys. The operation checks for ``customer_id`` or ``mail`` itself."""
        return ()

    def naming_keys(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the key that the assumption ``v2.customer_edit.by`` chooses."""
        return (assumed.customer_edit_by,)


class CustomerId(Shape):
    """A customer's id."""

    customer_id = fields.Integer()


class Created(Done):
    """Response of customer create: the id of the new customer."""

    data = InnerObject(CustomerId)


class CustomerInfo(Shape):
    """The data of a customer in a response."""

    address = String()
    city = String()
    company = String()
    count_active_orders = fields.Integer()
    country = String()
    id = fields.Integer()
    mail = String()
    name = String()
    phone = String()
    region = String()
    zip = fields.Integer()


class CustomerFound(Shape):
    """Response of customer info. It is the only envelope without ``code``."""

    data = InnerObject(CustomerInfo)
    status = fields.Boolean()


@refuses(*errors.BODY, r.INVALID_CONTACT, r.MAIL_TAKEN)
@route("v2.customer.create", "POST", _ALL, body=CustomerRequest(), answer=Created())
def create(call: Call) -> dict[str, object]:
    """Add a customer. No other customer of the account may have the same mail address."""
    customer = customers.create(call.draft, call.account, call.arguments)
    return done(data={"customer_id": customer.customer_id})


@refuses(
    r.UNSUPPORTED_MEDIA_TYPE,
    r.MALFORMED_BODY,
    r.INVALID_PARAMETER,
    r.MISSING_PARAMETER,
    *_FOUND,
    r.INVALID_CONTACT,
    r.MAIL_TAKEN,
)
@route("v2.customer.edit", "PUT", _ALL, _ONE, body=CustomerChange(), answer=Done())
def edit(call: Call) -> dict[str, object]:
    """Change the customer with an id or a mail address. Omitted fields stay unchanged."""
    customers.edit(call.draft, call.account, _meant(call), call.arguments)
    return done()


def _meant(call: Call) -> Customer:
    state, number = call.draft.state, call.arguments.get("customer_id")
    if number is not None:
        return customers.own(state, call.account, customers.parse_id(str(number)))
    by_mail = call.assumed.customer_edit_by == "mail"
    if not by_mail or not call.arguments.get("mail"):
        raise Refused(MISSING_PARAMETER, field="mail" if by_mail else "customer_id")
    return customers.by_mail(state, call.account, call.arguments["mail"])


@refuses(*_FOUND)
@route("v2.customer.info", "GET", _ONE, answer=CustomerFound())
def info(call: Call) -> dict[str, object]:
    """Return a customer, with the number of active orders of this customer.

    A postal code that is not a number is shown as 0.
    """
    customer = _requested(call)
    code = customer.card.zip
    data = {
        **{name: getattr(customer.card, name) for name in CARD_FIELDS},
        "id": customer.customer_id,
        "count_active_orders": len(customers.active_orders(call.draft, customer)),
        "zip": int(code) if code.isascii() and code.isdigit() else 0,
    }
    return done(data=data)


@refuses(*_FOUND, r.CUSTOMER_HAS_ORDERS)
@route("v2.customer.delete", "DELETE", _ONE, answer=DoneWithMessage())
def delete(call: Call) -> dict[str, object]:
    """Delete a customer that has no active orders."""
    customers.delete(call.draft, _requested(call))
    return done(msg="The customer is deleted")


def _requested(call: Call) -> Customer:
    number = customers.parse_id(call.arguments["customer_id"])
    return customers.own(call.draft.state, call.account, number)
