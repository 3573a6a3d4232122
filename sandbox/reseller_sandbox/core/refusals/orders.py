"""Names and zones, the state of an order, money and terms, and transfers."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

INVALID_NAME = Rule(
    "invalid_name",
    Category.INVALID,
    "{name!r} is not a name that can be registered: {problem}.",
    "use another name: {problem}",
)
ZONE_NOT_SUPPORTED = Rule(
    "zone_not_supported",
    Category.INVALID,
    "No zone of this service holds {name}.",
    "use a name in a zone that the service has",
)
ZONE_OUT_OF_SERVICE = Rule(
    "zone_out_of_service",
    Category.UNAVAILABLE,
    "The zone {zone} is out of service.",
    "use another zone, or wait until {zone} is in service again",
)
DOMAIN_NOT_FOUND = Rule(
    "domain_not_found",
    Category.NOT_FOUND,
    "{name} is not in this account.",
    "use a name that this account holds",
    usual={"elsewhere": False},
)
NAME_TAKEN = Rule("name_taken", Category.CONFLICT, "{name} is registered already.", "use another name")
NAME_RESERVED = Rule(
    "name_reserved", Category.CONFLICT, "{name} is kept back by its registry.", "use another name"
)

# Order state.
WRONG_STATE = Rule(
    "wrong_state",
    Category.CONFLICT,
    "{name} is at the stage {state}, where {action} is not possible; possible there: {possible}.",
    "do what is possible there: {possible}",
)
SWITCHED_ALREADY = Rule(
    "switched_already",
    Category.CONFLICT,
    "{action} changes nothing for {name}: it is so already.",
    "nothing needs to be done",
)
TRANSFER_PENDING = Rule(
    "transfer_pending",
    Category.CONFLICT,
    "{name} is being transferred, so {action} has to wait.",
    "wait until the transfer is over",
)
NO_TRANSFER = Rule(
    "no_transfer",
    Category.CONFLICT,
    "{name} has no pending transfer that this account could {action}.",
    "ask for a transfer of {name} first",
)
LOCKED = Rule(
    "locked",
    Category.CONFLICT,
    "{name} has {flag} set, which forbids {action}; take it off first ({key}).",
    "take {flag} off with {key} first",
)
HELD_BY_REGISTRY = Rule(
    "held_by_registry",
    Category.CONFLICT,
    "{name} stays suspended: its registry holds it (server_hold), and only the registry can end that.",
    "let the registry end its hold of {name} : here by the outside action release_hold",
)

# Money and terms.
INSUFFICIENT_FUNDS = Rule(
    "insufficient_funds",
    Category.PAYMENT,
    "{amount} {currency} are needed and the balance is {balance} {currency}.",
    "top up the balance to {amount} {currency} or more",
)
PREMIUM_COST_REQUIRED = Rule(
    "premium_cost_required",
    Category.INVALID,
    "{name} is a premium name: {AGREED_PRICE} must be sent and be {price}.",
    "send {AGREED_PRICE} {price}",
)
PREMIUM_NOT_TAKEN = Rule(
    "premium_not_taken",
    Category.CONFLICT,
    "{name} is a premium name, and nothing here agrees to its price of {price} (v2.premium_names).",
    "order {name} in v3, with {price} as {AGREED_PRICE}",
)
PRIVACY_NOT_OFFERED = Rule(
    "privacy_not_offered",
    Category.CONFLICT,
    "The zone {zone} offers no whois protection.",
    "leave whois protection out",
)
PRICE_MISMATCH = Rule(
    "price_mismatch",
    Category.CONFLICT,
    "{AGREED_PRICE} is {given}, but the price of {name} is {price}.",
    "send {AGREED_PRICE} {price}",
)
PERIOD_TOO_LONG = Rule(
    "period_too_long",
    Category.INVALID,
    "{YEARS} is {years}; {name} takes at most {limit}{reason}.",
    "ask for at most {limit} years",
    usual={"reason": ""},
)
PERIOD_TOO_SHORT = Rule(
    "period_too_short",
    Category.INVALID,
    "{YEARS} is {years}; {name} takes at least {limit}.",
    "ask for at least {limit} years",
)
END_MISMATCH = Rule(
    "end_mismatch",
    Category.CONFLICT,
    "{YEARS} {years} takes {name} to {end}, not to {given}.",
    "send the date {end}, or none",
)
EXPIRY_MISMATCH = Rule(
    "expiry_mismatch",
    Category.CONFLICT,
    "{name} expires on {expires}, not on {given}.",
    "send the date {expires}",
)

# Transfers.
TRANSFERS_NOT_SUPPORTED = Rule(
    "transfers_not_supported",
    Category.CONFLICT,
    "The zone {zone} takes no transfers.",
    "register a name in {zone}; it cannot be transferred",
)
NOT_REGISTERED = Rule(
    "not_registered",
    Category.NOT_FOUND,
    "{name} is not registered, so there is nothing to transfer.",
    "nobody holds it: register it instead",
)
ALREADY_YOURS = Rule(
    "already_yours",
    Category.CONFLICT,
    "{name} is in this account already.",
    "nothing needs to be transferred",
)
TOO_YOUNG = Rule(
    "too_young",
    Category.CONFLICT,
    "{name} {came} on {since}; it can be transferred from {ready} on.",
    "ask again at {ready} or later",
)
WRONG_AUTH_CODE = Rule(
    "wrong_auth_code",
    Category.FORBIDDEN,
    "{AUTH_CODE} is not the code of {name}.",
    "get the code from the name's present holder",
)
INVALID_AUTH_CODE = Rule(
    "invalid_auth_code",
    Category.INVALID,
    "{AUTH_CODE} must have {shortest} to {longest} printable ASCII characters.",
    "send {shortest} to {longest} printable ASCII characters",
)
