"""Refusals of access: API accounts, and callers that control the sandbox."""

from __future__ import annotations

from reseller_sandbox.refusals.rule import conflict, forbidden, invalid, limit, not_found, unauthenticated

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
    "A page of {origin} sent the request. Control accepts only its own pages and those of a {setting}.",
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
NO_TRANSFER_OUT = conflict(
    "{name} has no pending transfer to another registrar.", "request a transfer to another registrar first"
)
