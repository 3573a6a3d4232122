"""Contacts, customers, and what a registry asks of them."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

CONTACTS_REQUIRED = Rule(
    "contacts_required", Category.INVALID, "{missing} must be given.", "send {missing} as well"
)
INVALID_CONTACT = Rule(
    "invalid_contact", Category.INVALID, "{field}: {value!r} {problem}.", "send another {field}: it {problem}"
)
CONTACT_NOT_FOUND = Rule(
    "contact_not_found",
    Category.NOT_FOUND,
    "{field}: there is no contact {handle!r} in this account.",
    "create the contact {handle} first",
)
INVALID_HANDLE = Rule(
    "invalid_handle",
    Category.INVALID,
    "{handle!r} cannot name a contact: {problem}.",
    "use another handle: {problem}",
)
HANDLE_TAKEN = Rule(
    "handle_taken", Category.CONFLICT, "The handle {handle} is in use already.", "use another handle"
)
CONTACT_LINKED = Rule(
    "contact_linked",
    Category.CONFLICT,
    "The contact {handle} is linked: it is {link}.",
    "let nothing use {handle} first: it is {link}",
)
UNKNOWN_EXTRA = Rule(
    "unknown_extra",
    Category.INVALID,
    "A contact has no parameter {field!r}; there are {known}.",
    "leave {field} out; known are {known}",
)
INVALID_EXTRA = Rule(
    "invalid_extra",
    Category.INVALID,
    "{field}: the value does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
CUSTOMER_NOT_FOUND = Rule(
    "customer_not_found",
    Category.NOT_FOUND,
    "There is no customer {customer} in this account.",
    "create the customer first",
)
INVALID_CUSTOMER_ID = Rule(
    "invalid_customer_id",
    Category.INVALID,
    "{given!r} is no customer id: it is a whole number.",
    "send a whole number",
)
MAIL_TAKEN = Rule(
    "mail_taken",
    Category.CONFLICT,
    "The customer {customer} has the mail {mail} already.",
    "use another mail, or edit the customer {customer}",
)
CUSTOMER_HAS_ORDERS = Rule(
    "customer_has_orders",
    Category.CONFLICT,
    "The customer {customer} has active orders: {names}.",
    "let the orders of {names} end first",
)
LICENSE_REQUIRED = Rule(
    "license_required", Category.INVALID, "{zone} asks for a licence number: send {field}.", "send {field}"
)
INVALID_LICENSE = Rule(
    "invalid_license",
    Category.INVALID,
    "{field}: {given!r} does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
