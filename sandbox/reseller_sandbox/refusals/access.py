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
    "A page of {origin} sent this, and control answers no pages but its own and those of a {setting}.",
    "send it from elsewhere than a page, or name the page's origin as a {setting}",
)
FOREIGN_HOST = forbidden(
    "The request was sent to {host!r}, a name that could be anybody's; use the server's address, or "
    "localhost, or start it with {settings}.",
    "send it to the server's address or to localhost, or start the server with {settings}",
)
CONTROL_TOKEN_MISSING = unauthenticated(
    "Control wants its token here: send it as {header}.", "send the control token as {header}"
)
CONTROL_TOKEN_WRONG = forbidden(
    "{header} is not the control token.", "send the token that the server was started with as {header}"
)


SET_BACK = conflict(
    "The clock shows {now} and does not go back to {to}: rewind to an earlier request instead, or "
    "reset the world to begin again.",
    "rewind to an earlier request, or reset the world",
)
NOTHING_DUE = conflict(
    "The clock stays where it is: {reason}.",
    "say how far it is to go, or wait for something that is going to happen",
)

UNKNOWN_REQUEST = not_found(
    "The journal holds no request {request!r}; {held}.", "name a request that the journal holds; {held}"
)
UNKNOWN_SNAPSHOT = not_found(
    "There is no snapshot {name!r}; {known}.", "name a snapshot that is there; {known}"
)
UNKNOWN_BRANCH = not_found("There is no branch {name!r}; {known}.", "name a branch that is there; {known}")
UNKNOWN_POINT = invalid(
    "{point!r} is no point of this world: use start, now, before:REQUEST, after:REQUEST, "
    "snapshot:NAME or branch:NAME.",
    "use start, now, before:REQUEST, after:REQUEST, snapshot:NAME or branch:NAME",
)
TOO_MANY_WORLDS = limit(
    "There are {count} worlds, and {limit} is the most: delete one, or raise {setting}.",
    "delete a world, or raise {setting}",
)
TOO_MANY_SNAPSHOTS = limit(
    "There are {count} snapshots, and {limit} is the most: delete one, or raise {setting}.",
    "delete a snapshot, or raise {setting}",
)
WORLD_EXISTS = conflict(
    "There is a world {world!r} already.", "choose another name, or delete {world!r} first"
)
DEFAULT_WORLD = conflict("The default world cannot be deleted; it can be reset.", "reset it")
INVALID_ENTRY = invalid(
    "The entry is not usable: {problems}.",
    "mend the entry, of which reseller-sandbox fixture example prints every key",
)
INVALID_FIXTURE = invalid("The fixture is not usable: {problems}.", "mend the fixture: {problems}")
INVALID_RECORDING = invalid(
    "The recording is not usable: {problems}.",
    "give the bytes of a recording as they were written, in Base64",
)

UNKNOWN_FAULT = not_found("There is no fault {fault!r}; {known}.", "name a fault that is there; {known}")
FAULT_EXISTS = conflict(
    "There is a fault {fault!r} already; remove it first, or choose another name.",
    "remove {fault!r} first, or choose another name",
)
TOO_MANY_FAULTS = limit(
    "That would be {count} faults, and {limit} is the most: remove some, or raise {setting}.",
    "remove some faults, or raise {setting}",
)

UNKNOWN_DOCUMENT = not_found(
    "There is no document {document!r}; there are {known}.", "ask for one of {known}"
)

UNKNOWN_PAGE = not_found(
    "There is no such page: {problem}.", "ask for one that the manual's first page lists"
)

# Third parties.
UNKNOWN_RECORD = not_found("This world has no {kind} {key!r}.", "name one that is there: list them first")
UNKNOWN_ACCOUNT = not_found(
    "There is no account {account!r}; {known}.", "name an account that is there; {known}"
)
UNKNOWN_ZONE = not_found("There is no zone {zone!r}; {known}.", "name a zone that is there; {known}")
UNKNOWN_SCHEDULED_ACTION = not_found(
    "There is no scheduled action {scheduled}.", "name a scheduled action that is listed"
)
NOT_HELD = not_found("Nobody holds {name}.", "let somebody register {name} first")
HELD_OUTSIDE = conflict("{name} is with another registrar already.", "use a name that an account here holds")
NO_TRANSFER_IN = conflict(
    "{name} has no pending transfer to an account here.", "let an account here ask for {name} first"
)
NO_TRANSFER_PENDING = conflict("{name} has no pending transfer.", "ask for a transfer of {name} first")
NO_TRANSFER_OUT = conflict(
    "{name} has no pending transfer to another registrar.", "let another registrar ask for {name} first"
)
