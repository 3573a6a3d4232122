"""Refusals of the registry: hosts, zones, orders, money, transfers and contacts."""

from __future__ import annotations

from reseller_sandbox.refusals.rule import conflict, forbidden, invalid, not_found, payment, unavailable

INVALID_NAMESERVER = invalid(
    "{NAMESERVERS}: {server!r} {problem}.", "send other name servers: {server!r} {problem}"
)
INVALID_IP = invalid("{ADDRESSES}: {ip!r} {problem}.", "send another address: {ip!r} {problem}")
UNKNOWN_IP_TYPE = invalid("{ADDRESSES}: the type {type!r} is neither v4 nor v6.", "use v4 or v6")
HOSTS_NOT_SUPPORTED = conflict(
    "The zone {zone} keeps no glue records.", "use name servers outside the zone {zone}"
)
INVALID_HOSTNAME = invalid("{HOST}: {host!r} {problem}.", "use another host name: {host!r} {problem}")
HOST_EXISTS = conflict("The glue record {host} exists already.", "edit {host}, or delete it first")
HOST_NOT_FOUND = not_found("There is no glue record {host}.", "create {host} first")
HOST_IN_USE = conflict(
    "{host} is a name server of {users}.", "take {host} out of the name servers of {users} first"
)


INVALID_NAME = invalid(
    "{name!r} is not a name that can be registered: {problem}.", "use another name: {problem}"
)
ZONE_NOT_SUPPORTED = invalid(
    "No zone of this service holds {name}.", "use a name in a zone that the service has"
)
ZONE_OUT_OF_SERVICE = unavailable(
    "The zone {zone} is out of service.", "use another zone, or wait until {zone} is in service again"
)
DOMAIN_NOT_FOUND = not_found(
    "{name} is not in this account.", "use a name that this account holds", elsewhere=False
)
NAME_TAKEN = conflict("{name} is registered already.", "use another name")
NAME_RESERVED = conflict("{name} is kept back by its registry.", "use another name")

# Order state.
WRONG_STATE = conflict(
    "{name} is at the stage {state}, where {action} is not possible; possible there: {possible}.",
    "do what is possible there: {possible}",
)
SWITCHED_ALREADY = conflict(
    "{action} changes nothing for {name}: it is so already.", "nothing needs to be done"
)
TRANSFER_PENDING = conflict(
    "{name} is being transferred, so {action} has to wait.", "wait until the transfer is over"
)
NO_TRANSFER = conflict(
    "{name} has no pending transfer that this account could {action}.", "ask for a transfer of {name} first"
)
LOCKED = conflict(
    "{name} has {flag} set, which forbids {action}; take it off first ({key}).",
    "take {flag} off with {key} first",
)
HELD_BY_REGISTRY = conflict(
    "{name} stays suspended: its registry holds it (server_hold), and only the registry can end that.",
    "let the registry end its hold of {name}, here with the control operation simulate.release_hold",
)

# Money and terms.
INSUFFICIENT_FUNDS = payment(
    "{amount} {currency} are needed and the balance is {balance} {currency}.",
    "top up the balance to {amount} {currency} or more",
)
PREMIUM_COST_REQUIRED = invalid(
    "{name} is a premium name: {AGREED_PRICE} must be sent and be {price}.", "send {AGREED_PRICE} {price}"
)
PREMIUM_NOT_TAKEN = conflict(
    "{name} is a premium name, and nothing here agrees to its price of {price} (v2.premium_names).",
    "order {name} in v3, with {price} as {AGREED_PRICE}",
)
PRIVACY_NOT_OFFERED = conflict("The zone {zone} offers no whois protection.", "leave whois protection out")
PRICE_MISMATCH = conflict(
    "{AGREED_PRICE} is {given}, but the price of {name} is {price}.", "send {AGREED_PRICE} {price}"
)
PERIOD_TOO_LONG = invalid(
    "{YEARS} is {years}; {name} takes at most {limit}{reason}.", "ask for at most {limit} years", reason=""
)
PERIOD_TOO_SHORT = invalid(
    "{YEARS} is {years}; {name} takes at least {limit}.", "ask for at least {limit} years"
)
END_MISMATCH = conflict(
    "{YEARS} {years} takes {name} to {end}, not to {given}.", "send the date {end}, or none"
)
EXPIRY_MISMATCH = conflict("{name} expires on {expires}, not on {given}.", "send the date {expires}")

# Transfers.
TRANSFERS_NOT_SUPPORTED = conflict(
    "The zone {zone} takes no transfers.", "register a name in {zone}; it cannot be transferred"
)
NOT_REGISTERED = not_found(
    "{name} is not registered, so there is nothing to transfer.", "nobody holds it: register it instead"
)
ALREADY_YOURS = conflict("{name} is in this account already.", "nothing needs to be transferred")
TOO_YOUNG = conflict(
    "{name} {came} on {since}; it can be transferred from {ready} on.", "ask again at {ready} or later"
)
WRONG_AUTH_CODE = forbidden(
    "{AUTH_CODE} is not the code of {name}.", "get the code from the name's present holder"
)
INVALID_AUTH_CODE = invalid(
    "{AUTH_CODE} must have {shortest} to {longest} printable ASCII characters.",
    "send {shortest} to {longest} printable ASCII characters",
)


CONTACTS_REQUIRED = invalid("{missing} must be given.", "send {missing} as well")
INVALID_CONTACT = invalid("{field}: {value!r} {problem}.", "send another {field}: it {problem}")
CONTACT_NOT_FOUND = not_found(
    "{field}: there is no contact {handle!r} in this account.", "create the contact {handle} first"
)
INVALID_HANDLE = invalid("{handle!r} cannot name a contact: {problem}.", "use another handle: {problem}")
HANDLE_TAKEN = conflict("The handle {handle} is in use already.", "use another handle")
CONTACT_LINKED = conflict(
    "The contact {handle} is linked: it is {link}.", "let nothing use {handle} first: it is {link}"
)
UNKNOWN_EXTRA = invalid("A contact has no parameter {field!r}; {known}.", "leave {field} out; {known}")
INVALID_EXTRA = invalid(
    "{field}: the value does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
CUSTOMER_NOT_FOUND = not_found(
    "There is no customer {customer} in this account.", "create the customer first"
)
INVALID_CUSTOMER_ID = invalid("{given!r} is no customer id: it is a whole number.", "send a whole number")
MAIL_TAKEN = conflict(
    "The customer {customer} has the mail {mail} already.",
    "use another mail, or edit the customer {customer}",
)
CUSTOMER_HAS_ORDERS = conflict(
    "The customer {customer} has active orders: {names}.", "let the orders of {names} end first"
)
LICENSE_REQUIRED = invalid("{zone} asks for a licence number: send {field}.", "send {field}")
INVALID_LICENSE = invalid(
    "{field}: {given!r} does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
