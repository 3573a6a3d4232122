"""Names and zones, the state of an order, money and terms, and transfers."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import conflict, forbidden, invalid, not_found, payment, unavailable

INVALID_NAME = invalid(
    "invalid_name", "{name!r} is not a name that can be registered: {problem}.", "use another name: {problem}"
)
ZONE_NOT_SUPPORTED = invalid(
    "zone_not_supported", "No zone of this service holds {name}.", "use a name in a zone that the service has"
)
ZONE_OUT_OF_SERVICE = unavailable(
    "zone_out_of_service",
    "The zone {zone} is out of service.",
    "use another zone, or wait until {zone} is in service again",
)
DOMAIN_NOT_FOUND = not_found(
    "domain_not_found",
    "{name} is not in this account.",
    "use a name that this account holds",
    elsewhere=False,
)
NAME_TAKEN = conflict("name_taken", "{name} is registered already.", "use another name")
NAME_RESERVED = conflict("name_reserved", "{name} is kept back by its registry.", "use another name")

# Order state.
WRONG_STATE = conflict(
    "wrong_state",
    "{name} is at the stage {state}, where {action} is not possible; possible there: {possible}.",
    "do what is possible there: {possible}",
)
SWITCHED_ALREADY = conflict(
    "switched_already", "{action} changes nothing for {name}: it is so already.", "nothing needs to be done"
)
TRANSFER_PENDING = conflict(
    "transfer_pending",
    "{name} is being transferred, so {action} has to wait.",
    "wait until the transfer is over",
)
NO_TRANSFER = conflict(
    "no_transfer",
    "{name} has no pending transfer that this account could {action}.",
    "ask for a transfer of {name} first",
)
LOCKED = conflict(
    "locked",
    "{name} has {flag} set, which forbids {action}; take it off first ({key}).",
    "take {flag} off with {key} first",
)
HELD_BY_REGISTRY = conflict(
    "held_by_registry",
    "{name} stays suspended: its registry holds it (server_hold), and only the registry can end that.",
    "let the registry end its hold of {name}, here by the outside action release_hold",
)

# Money and terms.
INSUFFICIENT_FUNDS = payment(
    "insufficient_funds",
    "{amount} {currency} are needed and the balance is {balance} {currency}.",
    "top up the balance to {amount} {currency} or more",
)
PREMIUM_COST_REQUIRED = invalid(
    "premium_cost_required",
    "{name} is a premium name: {AGREED_PRICE} must be sent and be {price}.",
    "send {AGREED_PRICE} {price}",
)
PREMIUM_NOT_TAKEN = conflict(
    "premium_not_taken",
    "{name} is a premium name, and nothing here agrees to its price of {price} (v2.premium_names).",
    "order {name} in v3, with {price} as {AGREED_PRICE}",
)
PRIVACY_NOT_OFFERED = conflict(
    "privacy_not_offered", "The zone {zone} offers no whois protection.", "leave whois protection out"
)
PRICE_MISMATCH = conflict(
    "price_mismatch",
    "{AGREED_PRICE} is {given}, but the price of {name} is {price}.",
    "send {AGREED_PRICE} {price}",
)
PERIOD_TOO_LONG = invalid(
    "period_too_long",
    "{YEARS} is {years}; {name} takes at most {limit}{reason}.",
    "ask for at most {limit} years",
    reason="",
)
PERIOD_TOO_SHORT = invalid(
    "period_too_short", "{YEARS} is {years}; {name} takes at least {limit}.", "ask for at least {limit} years"
)
END_MISMATCH = conflict(
    "end_mismatch", "{YEARS} {years} takes {name} to {end}, not to {given}.", "send the date {end}, or none"
)
EXPIRY_MISMATCH = conflict(
    "expiry_mismatch", "{name} expires on {expires}, not on {given}.", "send the date {expires}"
)

# Transfers.
TRANSFERS_NOT_SUPPORTED = conflict(
    "transfers_not_supported",
    "The zone {zone} takes no transfers.",
    "register a name in {zone}; it cannot be transferred",
)
NOT_REGISTERED = not_found(
    "not_registered",
    "{name} is not registered, so there is nothing to transfer.",
    "nobody holds it: register it instead",
)
ALREADY_YOURS = conflict(
    "already_yours", "{name} is in this account already.", "nothing needs to be transferred"
)
TOO_YOUNG = conflict(
    "too_young",
    "{name} {came} on {since}; it can be transferred from {ready} on.",
    "ask again at {ready} or later",
)
WRONG_AUTH_CODE = forbidden(
    "wrong_auth_code", "{AUTH_CODE} is not the code of {name}.", "get the code from the name's present holder"
)
INVALID_AUTH_CODE = invalid(
    "invalid_auth_code",
    "{AUTH_CODE} must have {shortest} to {longest} printable ASCII characters.",
    "send {shortest} to {longest} printable ASCII characters",
)
