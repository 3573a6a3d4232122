"""Contacts, customers, and what a registry asks of them."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import conflict, invalid, not_found

CONTACTS_REQUIRED = invalid("contacts_required", "{missing} must be given.", "send {missing} as well")
INVALID_CONTACT = invalid(
    "invalid_contact", "{field}: {value!r} {problem}.", "send another {field}: it {problem}"
)
CONTACT_NOT_FOUND = not_found(
    "contact_not_found",
    "{field}: there is no contact {handle!r} in this account.",
    "create the contact {handle} first",
)
INVALID_HANDLE = invalid(
    "invalid_handle", "{handle!r} cannot name a contact: {problem}.", "use another handle: {problem}"
)
HANDLE_TAKEN = conflict("handle_taken", "The handle {handle} is in use already.", "use another handle")
CONTACT_LINKED = conflict(
    "contact_linked",
    "The contact {handle} is linked: it is {link}.",
    "let nothing use {handle} first: it is {link}",
)
UNKNOWN_EXTRA = invalid(
    "unknown_extra", "A contact has no parameter {field!r}; {known}.", "leave {field} out; {known}"
)
INVALID_EXTRA = invalid(
    "invalid_extra",
    "{field}: the value does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
CUSTOMER_NOT_FOUND = not_found(
    "customer_not_found", "There is no customer {customer} in this account.", "create the customer first"
)
INVALID_CUSTOMER_ID = invalid(
    "invalid_customer_id", "{given!r} is no customer id: it is a whole number.", "send a whole number"
)
MAIL_TAKEN = conflict(
    "mail_taken",
    "The customer {customer} has the mail {mail} already.",
    "use another mail, or edit the customer {customer}",
)
CUSTOMER_HAS_ORDERS = conflict(
    "customer_has_orders",
    "The customer {customer} has active orders: {names}.",
    "let the orders of {names} end first",
)
LICENSE_REQUIRED = invalid(
    "license_required", "{zone} asks for a licence number: send {field}.", "send {field}"
)
INVALID_LICENSE = invalid(
    "invalid_license",
    "{field}: {given!r} does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
