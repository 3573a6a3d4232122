"""Every rule by which the sandbox refuses a request: category, sentence and remedy.

The code of a rule is its name in lower case.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from reseller_sandbox.refusals.refusal import *

# Access: credentials of accounts, and access to the control operations.
CREDENTIALS_MISSING = unauthenticated("The request lacks {missing}{instead}.", "send {missing}")
UNKNOWN_KEY = unauthenticated(
    "No account has the API key {key!r}: {reason}.", "use the key of one of the world's accounts"
)
SIGNATURE_MISMATCH = unauthenticated(
    "The signature is not the one expected. {explanation}",
    "sign the API key, the URL and the body, in this order, with the account's secret",
)
TOKEN_MISSING = unauthenticated("The request carries no {header} header{instead}.", "send {header}")
UNKNOWN_TOKEN = unauthenticated(
    "No account has the token {token!r}: {reason}.", "use the token of one of the world's accounts"
)

CROSS_SITE = forbidden(
    "A page of {origin} sent the request. The control interface accepts only its own pages and pages of a "
    "{setting}.",
    "send the request from outside a page, or add the page's origin as a {setting}",
)
FOREIGN_HOST = forbidden(
    "Host {host!r} is not allowed. Use the server's address or localhost, or start the server with "
    "{settings}.",
    "send the request to the server's address or to localhost, or start the server with {settings}",
)
CONTROL_TOKEN_MISSING = unauthenticated(
    "The request has no control token. Send the token as {header}.", "send the control token as {header}"
)
CONTROL_TOKEN_WRONG = forbidden(
    "{header} is not the control token.", "send the token that the server was started with as {header}"
)


SET_BACK = conflict(
    "The clock shows {now} and cannot go back to {to}. Rewind to an earlier request instead, or reset the "
    "world.",
    "rewind to an earlier request, or reset the world",
)
NOTHING_DUE = conflict(
    "The clock does not move: {reason}.", "name an instant, a duration, or an event that is going to occur"
)

UNKNOWN_REQUEST = not_found(
    "The journal has no request {request!r}; {held}.", "name a request in the journal; {held}"
)
REQUESTS_DROPPED = conflict(
    "The {question} is unknown: the journal keeps the latest {limit} requests (--journal) and has dropped "
    "{dropped}, of which some may match. Of dropped requests, it has only totals by {counted}.",
    "raise the setting journal, use only conditions on {counted}, or add since with a request in the journal",
)
UNKNOWN_SNAPSHOT = not_found("There is no snapshot {name!r}; {known}.", "name an existing snapshot; {known}")
UNKNOWN_BRANCH = not_found("There is no branch {name!r}; {known}.", "name an existing branch; {known}")
UNKNOWN_POINT = invalid(
    "{point!r} is not a point of this world. Use start, now, before:REQUEST, after:REQUEST, "
    "snapshot:NAME or branch:NAME.",
    "use start, now, before:REQUEST, after:REQUEST, snapshot:NAME or branch:NAME",
)
TOO_MANY_WORLDS = limit(
    "There are {count} worlds, and the maximum is {limit}. Delete one, or raise {setting}.",
    "delete a world, or raise {setting}",
)
TOO_MANY_SNAPSHOTS = limit(
    "There are {count} snapshots, and the maximum is {limit}. Delete one, or raise {setting}.",
    "delete a snapshot, or raise {setting}",
)
WORLD_EXISTS = conflict(
    "The world {world!r} already exists.", "choose another name, or delete {world!r} first"
)
DEFAULT_WORLD = conflict("The default world cannot be deleted; it can be reset.", "reset it")
INVALID_ENTRY = invalid(
    "The entry is invalid: {problems}.",
    "correct the entry; reseller-sandbox fixture example prints every key",
)
INVALID_FIXTURE = invalid("The fixture is invalid: {problems}.", "correct the fixture: {problems}")
INVALID_RECORDING = invalid(
    "The recording is invalid: {problems}.", "send the unchanged bytes of a recording in Base64"
)

UNKNOWN_FAULT = not_found("There is no fault {fault!r}; {known}.", "name an existing fault; {known}")
FAULT_EXISTS = conflict(
    "The fault {fault!r} already exists. Remove it first, or choose another name.",
    "remove {fault!r} first, or choose another name",
)
UNKNOWN_ANSWER = not_found(
    "There is no canned answer {answer!r}; {known}.", "name an existing answer; {known}"
)
ANSWER_EXISTS = conflict(
    "The canned answer {answer!r} already exists. Remove it first, or choose another name.",
    "remove {answer!r} first, or choose another name",
)
TOO_MANY_FAULTS = limit(
    "There would be {count} faults, and the maximum is {limit}. Remove some, or raise {setting}.",
    "remove some faults, or raise {setting}",
)

UNKNOWN_DOCUMENT = not_found(
    "There is no document {document!r}. The documents are {known}.", "request one of {known}"
)

UNKNOWN_PAGE = not_found(
    "The page does not exist: {problem}.", "request a page that the manual's first page lists"
)

# Third parties.
UNKNOWN_RECORD = not_found("This world has no {kind} {key!r}.", "name an existing {kind}; list all first")
UNKNOWN_ACCOUNT = not_found("There is no account {account!r}; {known}.", "name an existing account; {known}")
UNKNOWN_ZONE = not_found("There is no zone {zone!r}; {known}.", "name an existing zone; {known}")
UNKNOWN_SCHEDULED_ACTION = not_found(
    "There is no scheduled action {scheduled}.", "name an existing scheduled action; list all first"
)
NOT_HELD = not_found("{name} is not registered at any registrar.", "register {name} first")
HELD_OUTSIDE = conflict("{name} is already at another registrar.", "use a name of an account of the world")
NO_TRANSFER_IN = conflict(
    "{name} has no pending transfer to an account here.", "request a transfer to an account here first"
)
NO_TRANSFER_PENDING = conflict("{name} has no pending transfer.", "request a transfer of {name} first")
NO_REGISTRATION_PENDING = conflict(
    "{name} has no pending registration: it is at the stage {stage}.",
    "register a name while the assumption v2.order_processing is above 0",
)
NO_TRANSFER_OUT = conflict(
    "{name} has no pending transfer to another registrar.", "request a transfer to another registrar first"
)


# The registry: hosts, zones, orders, money, transfers and contacts.
INVALID_NAMESERVER = invalid(
    "{NAMESERVERS}: {server!r} {problem}.", "send other name servers: {server!r} {problem}"
)
INVALID_IP = invalid("{ADDRESSES}: {ip!r} {problem}.", "send another address: {ip!r} {problem}")
UNKNOWN_IP_TYPE = invalid(
    "{ADDRESSES}: the type {type!r} is neither v4 nor v6, as in type=>v4,ip=>192.0.2.1.", "use v4 or v6"
)
HOSTS_NOT_SUPPORTED = conflict(
    "The zone {zone} does not support glue records.", "use name servers outside the zone {zone}"
)
INVALID_HOSTNAME = invalid("{HOST}: {host!r} {problem}.", "use another host name: {host!r} {problem}")
HOST_EXISTS = conflict("The glue record {host} exists already.", "edit {host}, or delete it first")
HOST_NOT_FOUND = not_found("There is no glue record {host}.", "create {host} first")
HOST_IN_USE = conflict(
    "{host} is a name server of {users}.", "remove {host} from the name servers of {users} first"
)


INVALID_NAME = invalid("{name!r} is not a valid domain name: {problem}.", "use another name: {problem}")
ZONE_NOT_SUPPORTED = invalid(
    "{name} is not in a zone of this service: the service does not offer {zone}.",
    "use a name in a zone of this service",
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
    "{name} has the flag {flag}, which forbids {action}. Its registrar must clear the flag first ({key}).",
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
    "{name} is a premium name: {AGREED_PRICE} is required and must be {price}.",
    "send {AGREED_PRICE} {price}",
    correction=(Term.AGREED_PRICE, "price"),
)
PREMIUM_NOT_TAKEN = conflict(
    "{name} is a premium name, and a v2.0 request cannot agree to its price {price} (v2.premium_names).",
    "order {name} in v3, with {price} as {AGREED_PRICE}",
)
PRIVACY_NOT_OFFERED = conflict("The zone {zone} offers no whois protection.", "omit whois protection")
PRICE_MISMATCH = conflict(
    "{AGREED_PRICE} is {given}, but the price of {name} is {price}.",
    "send {AGREED_PRICE} {price}",
    correction=(Term.AGREED_PRICE, "price"),
)
PERIOD_TOO_LONG = invalid(
    "{YEARS} is {years}; the maximum for {name} is {limit}{reason}.",
    "send at most {limit} years",
    correction=(Term.YEARS, "limit"),
    reason="",
)
PERIOD_TOO_SHORT = invalid(
    "{YEARS} is {years}; the minimum for {name} is {limit}.",
    "send at least {limit} years",
    correction=(Term.YEARS, "limit"),
)
END_MISMATCH = conflict(
    "With {YEARS} {years}, {name} expires on {end}, not on {given}.",
    "send the date {end}, or no date",
    correction=(Term.END, "end"),
)
EXPIRY_MISMATCH = conflict(
    "{name} expires on {expires}, not on {given}.",
    "send the date {expires}",
    correction=(Term.EXPIRY, "expires"),
)

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
REGISTRANT_CHANGED = conflict(
    "{name} has had a new registrant since {since} and cannot be transferred before {ready}.",
    "repeat the request at {ready} or later",
)
WRONG_AUTH_CODE = forbidden(
    "{AUTH_CODE} is not the code of {name}{reason}.", "get the code from the losing registrar", reason=""
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


# Requests that do not reach an operation, and faults.
_UNREAD = "The server could not read the request: {problem}"

# The HTTP server raises these rules itself: it cannot read a request for the application.
MALFORMED_REQUEST = invalid(_UNREAD, "send a well-formed request")
INCOMPLETE_REQUEST = invalid(_UNREAD, "send a complete request")
URI_TOO_LONG = too_large(_UNREAD, "send a shorter path and query")
HEADERS_TOO_LARGE = too_large(_UNREAD, "send fewer or shorter headers")
TOO_MANY_CONNECTIONS = unavailable(_UNREAD, "close connections that are not used")
INVALID_HOST = invalid(
    "The request {problem}. It must name one host, optionally with a port.",
    "name the host of the service once",
)
MALFORMED_BODY = invalid("The body is invalid: {problem}.", "send one JSON object in UTF-8")
BODY_TOO_LARGE = too_large(
    "The body is larger than the limit of {limit} bytes ({setting}).",
    "send at most {limit} bytes, or raise {setting}",
)
UNSUPPORTED_ENCODING = wrong_format(
    "The Content-Encoding of the body cannot be read: {problem}.",
    "compress the body with gzip, or send it without Content-Encoding",
)
UNSUPPORTED_MEDIA_TYPE = wrong_format(
    "The content type {given} is not JSON; {setting} would accept it.", "send JSON with {expected}"
)
UNKNOWN_PATH = not_found("{method} {path} is not an operation: {nearest}.", "use another path: {nearest}")
METHOD_NOT_ALLOWED = wrong_method(
    "{method} is not allowed for {path}; use {allowed}{instead}.", "use {allowed}{instead}", instead=""
)
UNKNOWN_WORLD = not_found(
    "There is no world {world!r}{elsewhere}.",
    "use the name of an existing world, or create {world!r} first",
    elsewhere="",
)
VERSION_NOT_SERVED = not_implemented("The version {version} is not served; use {served}.", "use {served}")
INTERNAL_ERROR = internal(
    "The service failed while answering{where}.",
    "send the request again{where}",
    synonyms=("server_error", "500"),
    where="",
)

OVER_SPEND_LIMIT = conflict(
    "The request would raise the charges of the world to {charged}, above the spend limit of {limit} of its "
    "client. Nothing was changed.",
    "raise the spend limit of the client, or send no spend limit",
)

# Errors of a broken or overloaded service. Faults inject these errors, even if the contract lacks them.
RATE_LIMITED = limit(
    "More than {limit} requests in {window} seconds; try again in {left} seconds.",
    "try again in {left} seconds",
    synonyms=("too_many_requests", "throttled", "429"),
)
SERVICE_UNAVAILABLE = unavailable(
    "The service is not available; try again later.", "try again later", synonyms=("unavailable", "503")
)
MAINTENANCE = unavailable("The service is down for maintenance; try again later.", "try again later")

# Shape of the request.
MISSING_PARAMETER = invalid("{field} is missing.", "send {field}")
INVALID_PARAMETER = invalid("{problems}.", "correct the request: {problems}", field="", value="")
UNKNOWN_KEYS = invalid("The request has unknown keys: {keys}.", "remove or respell these keys: {keys}")
TOO_MANY_NAMES = invalid(
    "{field} holds {count} names; the maximum is {limit}.", "send at most {limit} names per request"
)


#: Maps the code of each rule to the rule, in the order of declaration.
RULES: Mapping[str, Rule] = MappingProxyType(
    {name.lower(): rule for name, rule in list(globals().items()) if isinstance(rule, Rule)}
)
for _code, _rule in RULES.items():
    _rule.code = _code

#: The synonyms of each code.
SYNONYMS = MappingProxyType({code: rule.synonyms for code, rule in RULES.items()})

#: The rules that the HTTP server raises itself, because it cannot read a request for the application.
UNREAD: Mapping[str, Rule] = {
    rule.code: rule
    for rule in (MALFORMED_REQUEST, INCOMPLETE_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, TOO_MANY_CONNECTIONS)
}
