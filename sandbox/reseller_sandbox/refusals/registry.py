"""Refusals of the registry: hosts, zones, orders, money, transfers and contacts."""

from __future__ import annotations

from reseller_sandbox.refusals.rule import conflict, forbidden, invalid, not_found, payment, unavailable

INVALID_NAMESERVER = invalid(
    "{NAMESERVERS}: {server!r} {problem}.", "send other name servers: {server!r} {problem}"
)
INVALID_IP = invalid("{ADDRESSES}: {ip!r} {problem}.", "send another address: {ip!r} {problem}")
UNKNOWN_IP_TYPE = invalid("{ADDRESSES}: the type {type!r} is neither v4 nor v6.", "use v4 or v6")
HOSTS_NOT_SUPPORTED = conflict(
    "The zone {zone} does not support glue records.", "use name servers outside the zone {zone}"
)
INVALID_HOSTNAME = invalid("{HOST}: {host!r} {problem}.", "use another host name: {host!r} {problem}")
HOST_EXISTS = conflict("The glue record {host} exists already.", "edit {host}, or delete it first")
HOST_NOT_FOUND = not_found("There is no glue record {host}.", "create {host} first")
HOST_IN_USE = conflict(
    "{host} is a name server of {users}.", "remove {host} from the name servers of {users} first"
)


INVALID_NAME = invalid("{name!r} cannot be registered: {problem}.", "use another name: {problem}")
ZONE_NOT_SUPPORTED = invalid(
    "{name} is not in a zone of this service.", "use a name in a zone of this service"
)
ZONE_OUT_OF_SERVICE = unavailable(
    "The zone {zone} is out of service.", "use another zone, or wait until {zone} is in service again"
)
DOMAIN_NOT_FOUND = not_found(
    "{name} is not in this account.",
    "use a name of this account",
    synonyms=("not_found", "404"),
    elsewhere=False,
)
NAME_TAKEN = conflict("{name} is already registered.", "use another name", synonyms=("taken", "registered"))
NAME_RESERVED = conflict("{name} is reserved by its registry.", "use another name")

# Order state.
WRONG_STATE = conflict(
    "{name} is at the stage {state}, where {action} is not possible. Possible actions: {possible}.",
    "use a possible action: {possible}",
)
SWITCHED_ALREADY = conflict("{name} is already in the state that {action} sets.", "no action is necessary")
TRANSFER_PENDING = conflict(
    "{name} has a pending transfer, which forbids {action}.", "wait for the end of the transfer"
)
NO_TRANSFER = conflict(
    "{name} has no pending transfer that this account could {action}.", "request a transfer of {name} first"
)
LOCKED = conflict(
    "{name} has the flag {flag}, which forbids {action}. Clear the flag first ({key}).",
    "clear {flag} with {key} first",
)
HELD_BY_REGISTRY = conflict(
    "{name} stays suspended: only its registry can clear the flag server_hold.",
    "clear server_hold of {name} with the control operation simulate.release_hold",
)

# Money and terms.
INSUFFICIENT_FUNDS = payment(
    "{amount} {currency} are needed and the balance is {balance} {currency}.",
    "top up the balance to {amount} {currency} or more",
    synonyms=("no_money", "no_funds", "payment_required", "low_balance"),
)
PREMIUM_COST_REQUIRED = invalid(
    "{name} is a premium name: {AGREED_PRICE} is required and must be {price}.", "send {AGREED_PRICE} {price}"
)
PREMIUM_NOT_TAKEN = conflict(
    "{name} is a premium name, and a v2.0 request cannot agree to its price {price} (v2.premium_names).",
    "order {name} in v3, with {price} as {AGREED_PRICE}",
)
PRIVACY_NOT_OFFERED = conflict("The zone {zone} offers no whois protection.", "omit whois protection")
PRICE_MISMATCH = conflict(
    "{AGREED_PRICE} is {given}, but the price of {name} is {price}.", "send {AGREED_PRICE} {price}"
)
PERIOD_TOO_LONG = invalid(
    "{YEARS} is {years}; the maximum for {name} is {limit}{reason}.", "send at most {limit} years", reason=""
)
PERIOD_TOO_SHORT = invalid(
    "{YEARS} is {years}; the minimum for {name} is {limit}.", "send at least {limit} years"
)
END_MISMATCH = conflict(
    "With {YEARS} {years}, {name} expires on {end}, not on {given}.", "send the date {end}, or no date"
)
EXPIRY_MISMATCH = conflict("{name} expires on {expires}, not on {given}.", "send the date {expires}")

# Transfers.
TRANSFERS_NOT_SUPPORTED = conflict(
    "The zone {zone} does not support transfers.", "register a name in {zone} instead"
)
NOT_REGISTERED = not_found(
    "{name} is not registered, so there is nothing to transfer.", "register {name} instead"
)
ALREADY_YOURS = conflict("{name} is already in this account.", "no transfer is necessary")
TOO_YOUNG = conflict(
    "{name} {came} on {since} and cannot be transferred before {ready}.",
    "repeat the request at {ready} or later",
)
WRONG_AUTH_CODE = forbidden(
    "{AUTH_CODE} is not the code of {name}.", "get the code from the losing registrar"
)
INVALID_AUTH_CODE = invalid(
    "{AUTH_CODE} must have {shortest} to {longest} printable ASCII characters.",
    "send {shortest} to {longest} printable ASCII characters",
)


CONTACTS_REQUIRED = invalid("Missing contacts: {missing}.", "send {missing}")
INVALID_CONTACT = invalid("{field}: {value!r} {problem}.", "send another {field}: it {problem}")
CONTACT_NOT_FOUND = not_found(
    "{field}: there is no contact {handle!r} in this account.", "create the contact {handle} first"
)
INVALID_HANDLE = invalid("{handle!r} is not a valid handle: {problem}.", "use another handle: {problem}")
HANDLE_TAKEN = conflict("The handle {handle} is already in use.", "use another handle")
CONTACT_LINKED = conflict(
    "The contact {handle} is in use: it is {link}.", "end the use of {handle} first: it is {link}"
)
UNKNOWN_EXTRA = invalid("A contact has no parameter {field!r}; {known}.", "omit {field}; {known}")
INVALID_EXTRA = invalid(
    "{field}: the value does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
CUSTOMER_NOT_FOUND = not_found(
    "There is no customer {customer} in this account.", "create the customer first"
)
INVALID_CUSTOMER_ID = invalid("{given!r} is not a customer id, which is an integer.", "send an integer")
MAIL_TAKEN = conflict(
    "The customer {customer} already has the mail {mail}.",
    "use another mail, or edit the customer {customer}",
)
CUSTOMER_HAS_ORDERS = conflict("The customer {customer} has active orders: {names}.", "delete {names} first")
LICENSE_REQUIRED = invalid("{zone} requires a licence number. Send {field}.", "send {field}")
INVALID_LICENSE = invalid(
    "{field}: {given!r} does not match the pattern {pattern}.",
    "send a value for {field} that matches {pattern}",
)
