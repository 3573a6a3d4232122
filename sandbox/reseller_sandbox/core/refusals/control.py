"""What steering the sandbox may refuse: its clock, worlds, history and faults, and the rest of the world."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

SET_BACK = Rule(
    "set_back",
    Category.CONFLICT,
    "The clock shows {now} and does not go back to {to}: rewind to an earlier request instead, or "
    "reset the world to begin again.",
    "rewind to an earlier request, or reset the world",
)
NOTHING_DUE = Rule(
    "nothing_due",
    Category.CONFLICT,
    "The clock stays where it is: {reason}.",
    "say how far it is to go, or wait for something that is going to happen",
)

UNKNOWN_REQUEST = Rule(
    "unknown_request",
    Category.NOT_FOUND,
    "The journal holds no request {request!r}; it holds {held}.",
    "name a request that the journal holds: {held}",
)
UNKNOWN_SNAPSHOT = Rule(
    "unknown_snapshot",
    Category.NOT_FOUND,
    "There is no snapshot {name!r}; there is {known}.",
    "name a snapshot that is there: {known}",
)
UNKNOWN_BRANCH = Rule(
    "unknown_branch",
    Category.NOT_FOUND,
    "There is no branch {name!r}; there is {known}.",
    "name a branch that is there: {known}",
)
UNKNOWN_POINT = Rule(
    "unknown_point",
    Category.INVALID,
    "{point!r} is no point of this world: use start, now, before:REQUEST, after:REQUEST, snapshot:NAME or "
    "branch:NAME.",
    "use start, now, before:REQUEST, after:REQUEST, snapshot:NAME or branch:NAME",
)
TOO_MANY_WORLDS = Rule(
    "too_many_worlds",
    Category.LIMIT,
    "There are {count} worlds, and {limit} is the most: delete one, or raise {setting}.",
    "delete a world, or raise {setting}",
)
TOO_MANY_SNAPSHOTS = Rule(
    "too_many_snapshots",
    Category.LIMIT,
    "There are {count} snapshots, and {limit} is the most: delete one, or raise {setting}.",
    "delete a snapshot, or raise {setting}",
)
WORLD_EXISTS = Rule(
    "world_exists",
    Category.CONFLICT,
    "There is a world {world!r} already.",
    "choose another name, or delete {world!r} first",
)
DEFAULT_WORLD = Rule(
    "default_world", Category.CONFLICT, "The default world cannot be deleted; it can be reset.", "reset it"
)
INVALID_ENTRY = Rule(
    "invalid_entry",
    Category.INVALID,
    "The entry is not usable: {problems}.",
    "mend the entry, of which reseller-sandbox fixture example prints every key",
)
INVALID_FIXTURE = Rule(
    "invalid_fixture",
    Category.INVALID,
    "The fixture is not usable: {problems}.",
    "mend the fixture: {problems}",
)

UNKNOWN_FAULT = Rule(
    "unknown_fault",
    Category.NOT_FOUND,
    "There is no fault {fault!r}; there are {known}.",
    "name a fault that is there: {known}",
)
FAULT_EXISTS = Rule(
    "fault_exists",
    Category.CONFLICT,
    "There is a fault {fault!r} already; remove it first, or choose another name.",
    "remove {fault!r} first, or choose another name",
)
TOO_MANY_FAULTS = Rule(
    "too_many_faults",
    Category.LIMIT,
    "That would be {count} faults, and {limit} is the most: remove some, or raise {setting}.",
    "remove some faults, or raise {setting}",
)

UNKNOWN_DOCUMENT = Rule(
    "unknown_document",
    Category.NOT_FOUND,
    "There is no document {document!r}; there are {known}.",
    "ask for one of {known}",
)

# The other side.
UNKNOWN_RECORD = Rule(
    "unknown_record",
    Category.NOT_FOUND,
    "This world has no {kind} {key!r}.",
    "name one that is there: list them first",
)
UNKNOWN_ACCOUNT = Rule(
    "unknown_account",
    Category.NOT_FOUND,
    "There is no account {account!r}; there are {known}.",
    "name an account that is there: {known}",
)
UNKNOWN_ZONE = Rule(
    "unknown_zone",
    Category.NOT_FOUND,
    "There is no zone {zone!r}; there are {known}.",
    "name a zone that is there: {known}",
)
UNKNOWN_OPERATION = Rule(
    "unknown_operation",
    Category.INVALID,
    "No operation matches {operation!r}; the nearest are {nearest}.",
    "use one of {nearest}",
)
UNKNOWN_PLAN = Rule(
    "unknown_plan", Category.NOT_FOUND, "There is no plan {plan}.", "name a plan that is listed"
)
NOT_HELD = Rule("not_held", Category.NOT_FOUND, "Nobody holds {name}.", "let somebody register {name} first")
HELD_OUTSIDE = Rule(
    "held_outside",
    Category.CONFLICT,
    "{name} is with another registrar already.",
    "use a name that an account here holds",
)
NO_TRANSFER_IN = Rule(
    "no_transfer_in",
    Category.CONFLICT,
    "{name} has no pending transfer to an account here.",
    "let an account here ask for {name} first",
)
NO_TRANSFER_PENDING = Rule(
    "no_transfer_pending",
    Category.CONFLICT,
    "{name} has no pending transfer.",
    "ask for a transfer of {name} first",
)
NO_TRANSFER_OUT = Rule(
    "no_transfer_out",
    Category.CONFLICT,
    "{name} has no pending transfer to another registrar.",
    "let another registrar ask for {name} first",
)
