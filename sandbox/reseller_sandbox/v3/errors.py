"""Refusals in v3: ``error`` is the rule's code, ``message`` its sentence."""

from __future__ import annotations

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Rule, Term, Wording
from reseller_sandbox.registry.lifecycle import Action

WORDING = Wording(
    {
        Term.YEARS: "years",
        Term.AGREED_PRICE: "purchaseCost",
        Term.NAMESERVERS: "nameservers",
        Term.ADDRESSES: "ips",
        Term.HOST: "hostname",
        Term.AUTH_CODE: "authCode",
        Action.LOCK_TRANSFER: "lockTransfer",
        Action.UNLOCK_TRANSFER: "unlockTransfer",
        Action.LOCK_UPDATE: "lockUpdate",
        Action.UNLOCK_UPDATE: "unlockUpdate",
        Action.SET_FLAGS: "v2.0 domain edit",
        Action.RESTORE: "restore in v2.0",
        Action.DELETE: "delete in v2.0",
        Action.CHECK_HOST: "check for a glue record in v2.0",
    },
    lacks=frozenset({Action.SET_FLAGS, Action.RESTORE, Action.DELETE, Action.CHECK_HOST}),
)


#: The rules that any v3 operation can raise before its own checks, in order.
COMMON: tuple[Rule, ...] = (
    refusals.INVALID_HOST,
    refusals.BODY_TOO_LARGE,
    refusals.UNKNOWN_WORLD,
    refusals.CREDENTIALS_MISSING,
    refusals.UNKNOWN_KEY,
    refusals.SIGNATURE_MISMATCH,
)

#: The rules about the body of an operation, even an empty body, after ``COMMON``.
BODY: tuple[Rule, ...] = (
    refusals.UNSUPPORTED_MEDIA_TYPE,
    refusals.MALFORMED_BODY,
    refusals.INVALID_PARAMETER,
)
