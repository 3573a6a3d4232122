"""Every reason to refuse a request: one rule each, with the sentence that explains it.

An operation raises ``Refused`` with a rule and the facts its sentence
names. How a refusal looks on the wire, its HTTP status and its documented
message, is the business of the generation that answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A reason to refuse. ``sentence`` has a placeholder for each fact."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was refused, as a value that can be kept: unlike the exception it holds no frames."""

    rule: Rule
    facts: Mapping[str, object]

    @property
    def message(self) -> str:
        """The rule's sentence with the facts in place."""
        return self.rule.sentence.format(**self.facts)


class Refused(Exception):
    """A request was refused by ``rule``; ``facts`` say what of it and what would have been allowed."""

    def __init__(self, rule: Rule, **facts: object) -> None:
        super().__init__(rule.name)
        self.rule = rule
        self.facts = facts

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.message}"

    @property
    def message(self) -> str:
        """The rule's sentence with the facts in place."""
        return self.refusal.message

    @property
    def refusal(self) -> Refusal:
        """What there is to keep of it once it has been answered."""
        return Refusal(self.rule, self.facts)


# Transport: what is wrong before any operation is reached.
UNREADABLE_REQUEST = Rule("unreadable_request", "The server could not take the request up: {problem}")
MALFORMED_BODY = Rule("malformed_body", "The body is not usable: {problem}.")
BODY_TOO_LARGE = Rule("body_too_large", "The body is larger than the {limit} bytes taken here (--max-body).")
UNSUPPORTED_MEDIA_TYPE = Rule("unsupported_media_type", "The content type {given} is not JSON.")
UNKNOWN_PATH = Rule("unknown_path", "{method} {path} is no operation. The nearest are: {nearest}.")
METHOD_NOT_ALLOWED = Rule("method_not_allowed", "{method} does not go with {path}; use {allowed}.")
UNKNOWN_WORLD = Rule("unknown_world", "There is no world {world!r}.")
VERSION_NOT_SERVED = Rule("version_not_served", "The version {version} is not served; {served} is.")
INTERNAL_ERROR = Rule("internal_error", "The sandbox failed while answering; its log says where.")

# Faults: what a service that is out of order says, which a contract need not document.
RATE_LIMITED = Rule(
    "rate_limited", "More than {limit} requests in {window} seconds; come back in {left} seconds."
)
UNAVAILABLE = Rule("service_unavailable", "The service is not available; try again later.")
MAINTENANCE = Rule("maintenance", "The service is down for maintenance; try again later.")

# Control.
CROSS_SITE = Rule(
    "cross_site",
    "A page of {origin} sent this, and control answers no pages but its own and those of a --public-url.",
)
FOREIGN_HOST = Rule(
    "foreign_host",
    "The request was sent to {host!r}, a name that could be anybody's; use the server's address, or "
    "localhost, or start it with --public-url or --control-token.",
)
CONTROL_TOKEN_MISSING = Rule("control_token_missing", "Control wants its token here: send it as {header}.")
CONTROL_TOKEN_WRONG = Rule("control_token_wrong", "{header} is not the control token.")
SET_BACK = Rule(
    "set_back",
    "The clock shows {now} and does not go back to {to}: rewind to an earlier request instead "
    "(POST /_sandbox/rewind), or reset the world to begin again.",
)
NOTHING_DUE = Rule("nothing_due", "The clock stays where it is: {reason}.")

UNKNOWN_REQUEST = Rule("unknown_request", "The journal holds no request {request!r}; it holds {held}.")
UNKNOWN_SNAPSHOT = Rule("unknown_snapshot", "There is no snapshot {name!r}; there is {known}.")
UNKNOWN_BRANCH = Rule("unknown_branch", "There is no branch {name!r}; there is {known}.")
UNKNOWN_POINT = Rule(
    "unknown_point",
    "{point!r} is no point of this world: use start, now, before:REQUEST, after:REQUEST, snapshot:NAME or "
    "branch:NAME.",
)
TOO_MANY_WORLDS = Rule(
    "too_many_worlds", "There are {count} worlds, and {limit} is the most: delete one, or raise {setting}."
)
TOO_MANY_SNAPSHOTS = Rule(
    "too_many_snapshots",
    "There are {count} snapshots, and {limit} is the most: delete one, or raise {setting}.",
)
WORLD_EXISTS = Rule("world_exists", "There is a world {world!r} already.")
DEFAULT_WORLD = Rule("default_world", "The default world cannot be deleted; it can be reset.")
INVALID_FIXTURE = Rule("invalid_fixture", "The fixture is not usable: {problems}.")

UNKNOWN_FAULT = Rule("unknown_fault", "There is no fault {fault!r}; there are {known}.")
FAULT_EXISTS = Rule(
    "fault_exists", "There is a fault {fault!r} already; remove it first, or choose another name."
)
TOO_MANY_FAULTS = Rule(
    "too_many_faults",
    "That would be {count} faults, and {limit} is the most: remove some, or raise {setting}.",
)

UNKNOWN_DOCUMENT = Rule("unknown_document", "There is no document {document!r}; there are {known}.")

# The other side.
UNKNOWN_ACCOUNT = Rule("unknown_account", "There is no account {account!r}; there are {known}.")
UNKNOWN_ZONE = Rule("unknown_zone", "There is no zone {zone!r}; there are {known}.")
UNKNOWN_OPERATION = Rule(
    "unknown_operation", "No operation matches {operation!r}; the nearest are {nearest}."
)
UNKNOWN_PLAN = Rule("unknown_plan", "There is no plan {plan}.")
NOT_HELD = Rule("not_held", "Nobody holds {name}.")
HELD_OUTSIDE = Rule("held_outside", "{name} is with another registrar already.")
NO_TRANSFER_IN = Rule("no_transfer_in", "{name} has no pending transfer to an account here.")
NO_TRANSFER_PENDING = Rule("no_transfer_pending", "{name} has no pending transfer.")
NO_TRANSFER_OUT = Rule("no_transfer_out", "{name} has no pending transfer to another registrar.")

# Authentication.
CREDENTIALS_MISSING = Rule("credentials_missing", "The request carries no {missing}.")
UNKNOWN_KEY = Rule("unknown_key", "No account has the API key {key!r}.")
SIGNATURE_MISMATCH = Rule("signature_mismatch", "The signature is not the one expected. {explanation}")
TOKEN_MISSING = Rule("token_missing", "The request carries no X-Auth-Token header.")
UNKNOWN_TOKEN = Rule("unknown_token", "No account has this token.")

# Shape of the request.
MISSING_PARAMETER = Rule("missing_parameter", "{field} is missing.")
INVALID_PARAMETER = Rule("invalid_parameter", "{problems}.")
TOO_MANY_NAMES = Rule("too_many_names", "domainNames holds {count} names; at most {limit} are taken.")

# Names and zones.
INVALID_NAME = Rule("invalid_name", "{name!r} is not a name that can be registered: {problem}.")
ZONE_NOT_SUPPORTED = Rule("zone_not_supported", "No zone of this service holds {name}.")
ZONE_OUT_OF_SERVICE = Rule("zone_out_of_service", "The zone {zone} is out of service.")
DOMAIN_NOT_FOUND = Rule("domain_not_found", "{name} is not in this account.")
NAME_TAKEN = Rule("name_taken", "{name} is registered already.")
NAME_RESERVED = Rule("name_reserved", "{name} is kept back by its registry.")

# Order state.
WRONG_STATE = Rule(
    "wrong_state", "{name} is at the stage {state}, where {action} is not possible; {allowed}."
)
SWITCHED_ALREADY = Rule("switched_already", "{action} changes nothing for {name}: it is so already.")
TRANSFER_PENDING = Rule("transfer_pending", "{name} is being transferred, so {action} has to wait.")
NO_TRANSFER = Rule("no_transfer", "{name} has no pending transfer that this account could {action}.")
LOCKED = Rule("locked", "{name} has {flag} set, which forbids {action}; take it off first ({remedy}).")
HELD_BY_REGISTRY = Rule(
    "held_by_registry",
    "{name} stays suspended: its registry holds it (server_hold), and only the registry can end that.",
)

# Money and terms.
INSUFFICIENT_FUNDS = Rule(
    "insufficient_funds", "{amount} {currency} are needed and the balance is {balance} {currency}."
)
PREMIUM_COST_REQUIRED = Rule(
    "premium_cost_required", "{name} is a premium name: purchaseCost must be sent and be {price}."
)
PRICE_MISMATCH = Rule("price_mismatch", "purchaseCost is {given}, but the price of {name} is {price}.")
PERIOD_TOO_LONG = Rule("period_too_long", "years is {years}; {name} takes at most {limit}{reason}.")
PERIOD_TOO_SHORT = Rule("period_too_short", "years is {years}; {name} takes at least {limit}.")
EXPIRY_MISMATCH = Rule("expiry_mismatch", "{name} expires on {expires}, not on {given}.")

# Delegation.
INVALID_NAMESERVER = Rule("invalid_nameserver", "nameservers: {server!r} {problem}.")
INVALID_IP = Rule("invalid_ip", "{field}: {ip!r} {problem}.")
UNKNOWN_IP_TYPE = Rule("unknown_ip_type", "ip: the type {type!r} is neither v4 nor v6.")
HOSTS_NOT_SUPPORTED = Rule("hosts_not_supported", "The zone {zone} keeps no glue records.")
INVALID_HOSTNAME = Rule("invalid_hostname", "hostname: {host!r} {problem}.")
HOST_EXISTS = Rule("host_exists", "The glue record {host} exists already.")
HOST_NOT_FOUND = Rule("host_not_found", "There is no glue record {host}.")
HOST_IN_USE = Rule("host_in_use", "{host} is a name server of {users}.")

# People.
CONTACTS_REQUIRED = Rule("contacts_required", "domain.contacts lacks {missing}.")
INVALID_CONTACT = Rule("invalid_contact", "{field}: {value!r} {problem}.")
CONTACT_NOT_FOUND = Rule("contact_not_found", "{field}: there is no contact {handle!r} in this account.")
INVALID_HANDLE = Rule("invalid_handle", "{handle!r} cannot name a contact: {problem}.")
HANDLE_TAKEN = Rule("handle_taken", "The handle {handle} is in use already.")
CONTACT_LINKED = Rule("contact_linked", "The contact {handle} is linked: it is {link}.")
UNKNOWN_EXTRA = Rule("unknown_extra", "A contact has no parameter {field!r}; there are {known}.")
INVALID_EXTRA = Rule("invalid_extra", "{field}: the value does not match the pattern {pattern}.")
CUSTOMER_NOT_FOUND = Rule("customer_not_found", "There is no customer {customer} in this account.")
INVALID_CUSTOMER_ID = Rule("invalid_customer_id", "{given!r} is no customer id: it is a whole number.")
MAIL_TAKEN = Rule("mail_taken", "The customer {customer} has the mail {mail} already.")
CUSTOMER_HAS_ORDERS = Rule("customer_has_orders", "The customer {customer} has active orders: {names}.")
LICENSE_REQUIRED = Rule("license_required", "{zone} asks for a licence number: send {field}.")
INVALID_LICENSE = Rule("invalid_license", "{field}: {given!r} does not match the pattern {pattern}.")

# Transfers.
TRANSFERS_NOT_SUPPORTED = Rule("transfers_not_supported", "The zone {zone} takes no transfers.")
NOT_REGISTERED = Rule("not_registered", "{name} is not registered, so there is nothing to transfer.")
ALREADY_YOURS = Rule("already_yours", "{name} is in this account already.")
TOO_YOUNG = Rule("too_young", "{name} was registered on {created}; it can be transferred from {ready} on.")
WRONG_AUTH_CODE = Rule("wrong_auth_code", "authCode is not the code of {name}.")
INVALID_AUTH_CODE = Rule(
    "invalid_auth_code", "authCode must have {shortest} to {longest} printable ASCII characters."
)
